import { diffArrays } from 'diff';
import { type PythonLine, pythonLines } from './lines.js';

/**
 * How sure it is that a comment stands for code that was left out. `explicit`: its words say so, and signs of
 * omission (`...`, brackets) do. `plain`: its words do. `likely`: it may as well describe the code below it.
 */
type PlaceholderStrength = 'explicit' | 'plain' | 'likely';

const ELLIPSIS = /\.{3}|…/;
const CODE =
  '(?:code|script|block|function|method|class|logic|implementation|pipeline|file|program|solution|body|lines?|imports)';
const STATE =
  '(?:unchanged|unmodified|untouched|identical|omitted|elided|(?:the )?same(?: as (?:before|above|earlier)|(?! as (?:before|above|earlier)))|' +
  'as (?:is|it is|before|above)|not (?:changed|shown)|(?:goes |continues )?(?:here|below)|follows|for brevity)';
const VERB = '(?:is|are|stays?|remains?|was|were|to be|kept|left|exactly)';
const DETERMINER = '(?:all )?(?:the |your |my |this |our )?';
const KIND = '(?:original |existing |previous |remaining |above |unchanged |other |same )';
const STATES = `(?:(?: ${VERB})*(?: ${STATE})+)`;

/** What only dresses up a phrase: "keep the rest as is", "unchanged from the original script". */
const REQUEST = /^(?:please )?(?:(?:keep|leave|continue with|use|add|put|insert|include|paste|write) )?/;
const ORIGIN =
  / (?:from|in|of|as in) (?:the |your )?(?:original|above|previous)(?: (?:code|script|solution|version|block))?$/;

/** Whole comments in lower case, without punctuation and without the dress. */
const PHRASES: readonly { readonly pattern: RegExp; readonly strength: PlaceholderStrength }[] = [
  // "the rest of the pipeline is unchanged", "rest unchanged": whatever the rest is of
  { pattern: new RegExp(`^(?:the )?(?:rest|remainder)(?: of [\\w' ]{1,60}?)?${STATES}$`), strength: 'plain' },
  // "the rest", "rest of your code"
  {
    pattern: new RegExp(`^(?:the )?(?:rest|remainder)(?: of ${DETERMINER}${KIND}?${CODE})?$`),
    strength: 'plain',
  },
  // "existing code", "remaining preprocessing code stays the same"
  { pattern: new RegExp(`^${DETERMINER}${KIND}(?:\\w+ ){0,3}?${CODE}${STATES}?$`), strength: 'plain' },
  // "training code unchanged", "everything else remains the same"
  {
    pattern: new RegExp(`^(?:[\\w ]{1,40} )?(?:${CODE}|everything(?: else)?|all else)${STATES}$`),
    strength: 'plain',
  },
  // "todo: implement the rest"
  {
    pattern: /^(?:todo|fixme)\b.*\b(?:implement|rest|remaining|fill|complete|code|add|write|finish)\b/,
    strength: 'plain',
  },
  // "model training stays the same": anything that is said to stay
  { pattern: new RegExp(`^[\\w ]{1,40} (?:stays?|remains?|kept|left) ${STATE}$`), strength: 'likely' },
  // "same as before", "unchanged", "no changes"
  {
    pattern: new RegExp(
      `^(?:${STATE}(?: for brevity)?|no (?:other |further )?changes?(?: (?:here|needed|required|below))?|etc|and so on|fill in)$`,
    ),
    strength: 'likely',
  },
];

/** Checks the text of a comment by its words and signs alone; null for one that only describes something. */
function placeholderStrength(comment: string): PlaceholderStrength | null {
  // Longer than any placeholder; and the patterns need not be tried on it.
  if (comment.length > 100) return null;
  const text = comment.replace(/^[#\s]+/, '').trim();
  const words = text
    .toLowerCase()
    .replace(/^[^\p{L}]+|(?<![^\p{L}])[^\p{L}]+$/gu, '')
    .replace(/[^\p{L}\p{N}_']+/gu, ' ')
    .replace(REQUEST, '')
    .replace(ORIGIN, '');
  if (words === '') return ELLIPSIS.test(text) ? 'explicit' : null;
  const phrase = PHRASES.find(({ pattern }) => pattern.test(words));
  const isExplicit = ELLIPSIS.test(text) || /^[([{<].*[)\]}>]$/.test(text);
  if (phrase !== undefined) return isExplicit ? 'explicit' : phrase.strength;
  // "... load the data ..." leaves something out; "Loading the data..." does not.
  if (!/^(?:\.{3}|…)/.test(text)) return null;
  return /(?:\.{3}|…)$/.test(text) ? 'plain' : 'likely';
}

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
  explicit: (removed, added) => removed > 1 || removed > added,
  plain: (removed, added) => removed > added,
  likely: (removed, added) => removed > added + 1,
};

/**
 * True where a new block says "the rest is unchanged", `...`, `pass  # TODO` or the like at a position where
 * the old block had code. Placeholders that the old block had already, comments that describe the code beside
 * them, and `...` as an index are none. Where a placeholder is between code that is complete, nothing was
 * swapped for it. One at the start or the end may stand for all code that is missing, wherever it was.
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
  const total = (of: 'removed' | 'added') => all.reduce((sum, stretch) => sum + stretch[of], 0);
  const lost = total('removed') - total('added');
  return added.some(({ gap, strength }) => {
    const exchanged = exchangedAt(gap, all);
    const codeFollows = gap < newCode.length;
    if (exchanged === null) return (gap === 0 || !codeFollows) && lost > (strength === 'likely' ? 1 : 0);
    return codeFollows ? MISSING[strength](exchanged.removed, exchanged.added) : exchanged.removed > 0;
  });
}
