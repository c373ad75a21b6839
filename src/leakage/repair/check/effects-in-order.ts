import { cellStarts } from '../order/cells.js';
import { type EffectKind, OrderedEffects } from '../order/ordered-effects.js';
import { loopsAround, type ScriptChange, statementsInBlock, type Version } from './script-change.js';

const KINDS: Readonly<Record<EffectKind, string>> = {
  plot: 'lines that draw on a figure',
  output: 'printed lines',
  file: 'writes of files',
  random: 'random draws of one generator',
};

/**
 * Whether a rewrite changes the order or the number of effects that depend on those before them: pyplot has one current
 * figure, printed lines and files are read in their order, and a generator gives its next number to the next call.
 */
export function otherEffects({ before, after }: ScriptChange): string | undefined {
  const [was, is] = [effectsByKind(before), effectsByKind(after)];
  for (const [kind, what] of Object.entries(KINDS) as [EffectKind, string][]) {
    const [old, now] = [was.get(kind) ?? [], is.get(kind) ?? []];
    // A further draw for another part of the rows takes nothing from what was drawn before.
    if (kind !== 'random' && now.length > old.length)
      return kind === 'file'
        ? 'a file would be written twice'
        : 'a line that only shows something would be made twice';
    if (now.length < old.length || !isWithin(old, now)) return `${what} would come in another order`;
  }
  return undefined;
}

function effectsByKind(version: Version): Map<EffectKind, string[]> {
  const effects = new OrderedEffects(version.module);
  const starts = cellStarts(version.module.source);
  const found = new Map<EffectKind, string[]>();
  let cell = 0;
  // A cell shows its figures at its end, and the next one begins with none.
  let isOpen = false;
  for (const statement of statementsInBlock(version)) {
    while ((starts[cell] ?? Number.POSITIVE_INFINITY) < statement.start) {
      cell += 1;
      isOpen = false;
    }
    for (const { kind, label, beginsPlot, endsPlot } of effects.ofItself(statement)) {
      const labels = found.get(kind) ?? [];
      const opening = kind === 'plot' && !isOpen && !beginsPlot ? 'new ' : '';
      labels.push(`${opening}${loopsAround(statement).length} ${label}`);
      found.set(kind, labels);
      if (kind === 'plot') isOpen = !endsPlot;
    }
  }
  return found;
}

/** Whether all of these labels are in the others, in the same order. */
function isWithin(wanted: readonly string[], available: readonly string[]): boolean {
  let at = 0;
  for (const label of available) if (label === wanted[at]) at += 1;
  return at === wanted.length;
}
