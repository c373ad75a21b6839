import type { Leak } from '../../findings/find-leaks.js';
import type { LeakKind } from '../../kinds.js';
import type { Span } from '../../syntax/ast.js';
import { declined, edited, type RepairContext, type Rewrite, type TextEdit } from '../context.js';
import { divideByGroup } from './by-group.js';
import { divideInOrder } from './in-order.js';
import { leaveOutColumn } from './leave-out-column.js';
import { leaveOutOwnLabel, takePastValues } from './past-windows.js';

/** What mends one leak, or why nothing is certain to. */
export type Mending = { readonly edits: readonly TextEdit[] } | { readonly declined: string };

type Way = (context: RepairContext, leak: Leak) => Mending;
type Ways = Partial<Record<LeakKind, Way>>;

const WAYS: Ways = {
  'shuffled-time': divideInOrder,
  'group-overlap': divideByGroup,
  'future-values': takePastValues,
  'label-in-features': leaveOutLabel,
};

/** A window ends before its row, and any other feature that says what the label is goes. */
function leaveOutLabel(context: RepairContext, leak: Leak): Mending {
  const window = leaveOutOwnLabel(context, leak);
  return 'declined' in window ? leaveOutColumn(context, leak) : window;
}

/**
 * Leaks that change what is measured: the rows are divided in order or by group instead of at random, and windows end before
 * their row. Each is mended where only one way is left by what the script says: all others are declined. Leaks of other
 * kinds in the block stay.
 */
export function mendExperiment(context: RepairContext): Rewrite {
  return mended(context, WAYS);
}

/** The same where past values of the label make features: then the rows have to be divided in order, too. */
export function mendAndDivideInOrder(context: RepairContext): Rewrite {
  return mended(context, {
    'future-values': andInOrder(takePastValues),
    'label-in-features': andInOrder(leaveOutOwnLabel),
    'shuffled-time': divideInOrder,
  });
}

function andInOrder(way: Way): Way {
  return (context, leak) => {
    const [first, second] = [way(context, leak), divideInOrder(context, leak)];
    if ('declined' in first) return first;
    return 'declined' in second ? second : { edits: [...first.edits, ...second.edits] };
  };
}

function mended(context: RepairContext, ways: Ways): Rewrite {
  const edits = new Map<string, TextEdit>();
  const leaks: Leak[] = [];
  for (const leak of context.leaks) {
    const mending = ways[leak.kind]?.(context, leak) ?? { declined: 'the block holds another leak' };
    if ('declined' in mending) {
      // The others of the block may have a way of their own, but this is the one that is asked for.
      if (leaks.length === 0) return declined(mending.declined);
      continue;
    }
    leaks.push(leak);
    for (const edit of mending.edits) edits.set(`${edit.start}:${edit.end}:${edit.text}`, edit);
  }
  const all = [...edits.values()];
  const block = linesAround(context, all);
  return { text: edited(context.source, block, all), block, leaks };
}

/** The whole lines of all edits. */
function linesAround({ source }: RepairContext, edits: readonly TextEdit[]): Span {
  const first = Math.min(...edits.map(({ start }) => start));
  const last = Math.max(...edits.map(({ end }) => end));
  const end = source.indexOf('\n', last);
  return { start: source.lastIndexOf('\n', first - 1) + 1, end: end < 0 ? source.length : end };
}
