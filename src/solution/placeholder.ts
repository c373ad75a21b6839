import { diffArrays } from 'diff';
import { type PythonLine, pythonLines } from './logical-lines.js';
import { type PlaceholderStrength, placeholderStrength } from './placeholder-comment.js';

/** A comment's strength, or `statement` for one that is where a statement has to. */
type Strength = PlaceholderStrength | 'statement';

interface CodeLine {
  readonly kind: 'code';
  readonly text: string;
}
interface Placeholder {
  readonly kind: 'placeholder';
  /** The same for placeholders that say the same. */
  readonly text: string;
  readonly strength: Strength;
}
type Line = CodeLine | Placeholder;

/** A statement that does nothing: alone on its line, or as the whole body of the suite that the line opens. */
const NOTHING = /^(?:[^'"#]*:\s*)?(\.\.\.|…|pass|raise NotImplementedError(?:\([^()]*\))?)\s*;?$/;

function readCode(code: string, comment: string, context: PythonLine['context']): Line {
  const text = code.trim();
  const nothing = context === 'code' ? NOTHING.exec(text)?.[1] : undefined;
  if (nothing === undefined) return { kind: 'code', text };
  if (nothing !== 'pass') return { kind: 'placeholder', text, strength: 'statement' };
  // `pass` is an ordinary statement, unless it says that something is to come.
  const isToDo = /^#\s*(?:todo|fixme|placeholder)\b/i.test(comment) || placeholderStrength(comment) !== null;
  return isToDo
    ? { kind: 'placeholder', text: `${text} ${comment}`, strength: 'statement' }
    : { kind: 'code', text };
}

/** Code lines and placeholders of a block, in order; other comments and blank lines are left out. */
function readLines(block: string): Line[] {
  return pythonLines(block).flatMap((line): Line[] => {
    const split = line.comment === -1 ? line.end : line.comment;
    const code = block.slice(line.start, split);
    const comment = block.slice(split, line.end).trim();
    if (code.trim() !== '') return [readCode(code, comment, line.context)];
    const strength = comment === '' ? null : placeholderStrength(comment);
    if (strength === null) return [];
    return [{ kind: 'placeholder', text: comment.toLowerCase().replace(/\s+/g, ' '), strength }];
  });
}

/** A run of code that is the same in both blocks (`removed` and `added` are 0), or that was exchanged. */
interface Stretch {
  readonly removed: number;
  readonly added: number;
  readonly same: number;
}

/** More exchanged lines than this and the blocks count as different throughout. */
const MAX_EXCHANGED = 2000;

function stretches(oldCode: readonly string[], newCode: readonly string[]): Stretch[] {
  const changes = diffArrays([...oldCode], [...newCode], { maxEditLength: MAX_EXCHANGED });
  if (changes === undefined) return [{ removed: oldCode.length, added: newCode.length, same: 0 }];
  const result: Stretch[] = [];
  for (const { added, removed, count } of changes) {
    const last = result.at(-1);
    if (!added && !removed) result.push({ removed: 0, added: 0, same: count });
    else {
      const exchanged = { removed: removed ? count : 0, added: added ? count : 0, same: 0 };
      if (last === undefined || last.same > 0) result.push(exchanged);
      else {
        result[result.length - 1] = {
          removed: last.removed + exchanged.removed,
          added: last.added + exchanged.added,
          same: 0,
        };
      }
    }
  }
  return result;
}

/** The exchanged stretch that the gap in front of the new code line `gap` lies in or touches. */
function exchangedAt(gap: number, all: readonly Stretch[]): Stretch | null {
  let from = 0;
  for (const stretch of all) {
    const to = from + stretch.added + stretch.same;
    if (stretch.same === 0 && from <= gap && gap <= to) return stretch;
    from = to;
  }
  return null;
}

/** Whether code is missing where code follows a placeholder: its words may be the heading of that code. */
const MISSING: Readonly<Record<Strength, (removed: number, added: number) => boolean>> = {
  statement: (removed) => removed > 0,
  marked: (removed, added) => removed > 1 || removed > added,
  plain: (removed, added) => removed > added,
  likely: (removed, added) => removed > added + 1,
};

/**
 * True where a new block says "the rest is unchanged", `...`, `pass  # TODO` or the like in a place where
 * the old block had code. Placeholders that the old block had already, comments that describe the code beside
 * them, and `...` as an index are none. Where a placeholder is between code that is complete, nothing was
 * swapped for it.
 */
export function introducesPlaceholder(oldBlock: string, newBlock: string): boolean {
  const oldLines = readLines(oldBlock);
  const newLines = readLines(newBlock);
  const known = new Map<string, number>();
  for (const { kind, text } of oldLines) {
    if (kind === 'placeholder') known.set(text, (known.get(text) ?? 0) + 1);
  }
  const added: { readonly gap: number; readonly strength: Strength }[] = [];
  let gap = 0;
  for (const line of newLines) {
    if (line.kind === 'code') gap += 1;
    else {
      const left = known.get(line.text) ?? 0;
      known.set(line.text, left - 1);
      if (left <= 0) added.push({ gap, strength: line.strength });
    }
  }
  if (added.length === 0) return false;
  const code = (lines: readonly Line[]) =>
    lines.filter(({ kind }) => kind === 'code').map(({ text }) => text);
  const newCode = code(newLines);
  const all = stretches(code(oldLines), newCode);
  return added.some(({ gap: place, strength }) => {
    const exchanged = exchangedAt(place, all);
    if (exchanged === null) return false;
    const codeFollows = place < newCode.length;
    return codeFollows ? MISSING[strength](exchanged.removed, exchanged.added) : exchanged.removed > 0;
  });
}
