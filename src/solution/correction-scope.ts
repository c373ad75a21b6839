import { type CodeProfile, profileOf } from './code-profile.js';
import {
  BUILTINS,
  DATA_LIBRARIES,
  DROPS,
  isForbidden,
  LEADS_OUT,
  namesForbidden,
  READS,
  STEPS,
} from './correction-rules.js';
import type { Span } from './fit-correction.js';
import { magicIn } from './lines.js';
import { replaceSpan } from './locate-block.js';

/** What a correction does besides correcting. */
export interface CorrectionScope {
  /** Why it must not be put in, in words that a second try can use; absent where it may. */
  readonly problem?: string;
  /** Notes for the user of the correction. */
  readonly notes: readonly string[];
}

/** From this fraction of a script's statements on, a block is more than a leaky location, which is worth a note. */
const LARGE_FRACTION = 0.4;
/** Scripts of fewer statements are too small for that fraction to say anything. */
const MIN_STATEMENTS = 8;
/**
 * How many of a script's names and literals all corrections together have to leave. Corrections by hand of the labeled scripts leave
 * three fifths and more, also where they change each line.
 */
const MIN_REMAINING_FRACTION = 0.5;
/** Scripts of fewer names and literals are too small for that fraction to say anything. */
const MIN_WORDS = 20;
/** More new statements than this are worth a word. */
const MANY_NEW = 20;
const MAX_NAMED = 5;

/**
 * Compares a script before and after a correction: a correction has to remove a leak and nothing else. It is refused
 * where it newly imports other libraries than those that compute on data; runs code, reaches the system or the network,
 * writes files; prints no score any more; or, with the corrections before it, replaces most of a script. Names and texts are
 * all that is looked at: who wants to hide what a script does can, which is why large changes come with a note as well.
 *
 * @param original The script before any correction.
 */
export async function correctionScope(
  located: Span & { readonly text: string },
  block: string,
  content: string,
  original = content,
): Promise<CorrectionScope> {
  const before = await profileOf(content);
  const after = await profileOf(replaceSpan(content, located, block));
  const first = original === content ? before : await profileOf(original);
  const problem =
    commandProblem(located.text, block) ??
    characterProblem(content, block) ??
    importProblem(before, after) ??
    nameProblem(before, after) ??
    textProblem(before, after) ??
    printProblem(before, after) ??
    outsideProblem(located, block, before, after) ??
    sizeProblem(first, after);
  return {
    ...(problem === undefined ? {} : { problem }),
    notes: [...sizeNotes(located, before, after), ...changeNotes(before, after)],
  };
}

/** Commands of a notebook: what begins with `!` or `%` there. */
function commandProblem(old: string, block: string): string | undefined {
  const count = (text: string) => text.split(/\r\n|\r|\n/).filter((line) => magicIn(line) !== null).length;
  return count(block) > count(old)
    ? 'the correction runs a command of a notebook; use Python alone'
    : undefined;
}

/**
 * Characters that show a reader other code than Python reads: control characters except for white space, separators of lines
 * that are none in Python, and characters that change the direction of what follows.
 */
const MISLEADING = /[^\P{Cc}\t\n\f\r]|[\u2028-\u202e\u2066-\u2069]/gu;

function characterProblem(content: string, block: string): string | undefined {
  const isNew = block.match(MISLEADING)?.some((character) => !content.includes(character));
  return isNew === true
    ? 'the correction holds control characters or direction marks that the script does not have; leave them out'
    : undefined;
}

function importProblem(before: CodeProfile, after: CodeProfile): string | undefined {
  const added = [...after.imports].filter((name) => !before.imports.has(name) && !DATA_LIBRARIES.has(name));
  if (after.importsAll && !before.importsAll)
    return 'the correction imports all names of a module; name them';
  if (added.length === 0) return undefined;
  return `the correction imports ${listed(added)}, which the script does not use; do without`;
}

function nameProblem(before: CodeProfile, after: CodeProfile): string | undefined {
  const added = more(before, after).filter(
    (name) => isForbidden(name) || after.aliases.get(name)?.some(isForbidden),
  );
  if (added.length === 0) return undefined;
  return `the correction uses ${listed(added)} where the script did not; a correction runs no other code, reaches no system and writes no file`;
}

function textProblem(before: CodeProfile, after: CodeProfile): string | undefined {
  const isNew = (text: string) => !before.strings.has(text);
  if ([...after.addresses].some((address) => !before.addresses.has(address)))
    return 'the correction holds an address that the script does not have; leave it out';
  const named = [...after.strings].filter((text) => isNew(text) && namesForbidden(text));
  if (named.length > 0)
    return `the correction names ${listed(named)} in a text; a correction runs no other code, reaches no system and writes no file`;
  const reads = more(before, after).some((name) => READS.test(name));
  if (reads && [...after.strings].some((text) => isNew(text) && LEADS_OUT.test(text)))
    return 'the correction reads a file outside of the folder of the script; leave it out';
  if (after.unclearQueries > before.unclearQueries)
    return 'the correction evaluates a text with query that is not a plain condition; use an index instead';
  const replaced = [...after.assigned].filter((name) => STEPS.has(name) && !before.assigned.has(name));
  if (replaced.length > 0)
    return `the correction replaces ${listed(replaced)} with something else; leave methods as they are`;
  return undefined;
}

function printProblem(before: CodeProfile, after: CodeProfile): string | undefined {
  if (after.fixedPrints > before.fixedPrints)
    return 'the correction prints a number that is written into it; print only what the script printed';
  const noScore = before.scorePrints > 0 && after.scorePrints === 0;
  if (!noScore && (printsOf(before) === 0 || printsOf(after) > 0)) return undefined;
  return 'with the correction the script prints no score any more; keep the line that prints it';
}

function printsOf({ names }: CodeProfile): number {
  return names.get('print') ?? 0;
}

const GOES_ON = /\\[ \t]*(?:\r?\n)?$/;

/** A correction whose end takes in what follows it, as an open string or a line that goes on do, changes other lines. */
function outsideProblem(
  { start, end, text }: Span & { readonly text: string },
  block: string,
  before: CodeProfile,
  after: CodeProfile,
): string | undefined {
  const goesOn = GOES_ON.test(block) && !GOES_ON.test(text);
  const growth = block.length - (end - start);
  const around = (profile: CodeProfile, until: number, shift: number) =>
    profile.statements.filter((at) => at < start || at >= until).map((at) => (at < start ? at : at - shift));
  const was = around(before, end, 0);
  const is = around(after, end + growth, growth);
  if (!goesOn && was.length === is.length && was.every((at, index) => at === is[index])) return undefined;
  return 'the correction changes how lines outside of the block are read; end it where the block ends';
}

function sizeProblem(first: CodeProfile, after: CodeProfile): string | undefined {
  const all = countOf(first.words);
  const remaining = [...first.words].reduce(
    (sum, [word, count]) => sum + Math.min(count, after.words.get(word) ?? 0),
    0,
  );
  if (all < MIN_WORDS || remaining >= all * MIN_REMAINING_FRACTION) return undefined;
  return 'with the correction most of the script is another one; change only the lines that leak, and leave the others as they are';
}

function countOf(words: ReadonlyMap<string, number>): number {
  return [...words.values()].reduce((sum, count) => sum + count, 0);
}

function sizeNotes(located: Span, before: CodeProfile, after: CodeProfile): string[] {
  const { inside, all } = extent(located, before);
  const notes: string[] = [];
  if (inside === all) notes.push('the correction replaced the whole script');
  else if (all >= MIN_STATEMENTS && inside >= all * LARGE_FRACTION) {
    notes.push(`the correction replaced ${inside} of the script's ${all} statements`);
  }
  const grown = after.statements.length - before.statements.length;
  if (grown > MANY_NEW) notes.push(`the correction added ${grown} statements`);
  return notes;
}

function changeNotes(before: CodeProfile, after: CodeProfile): string[] {
  const added = more(before, after);
  const notes = [
    ['no longer calls', [...STEPS].filter((step) => before.names.has(step) && !after.names.has(step))],
    ['drops columns or rows with', added.filter((name) => DROPS.has(name))],
    ['reads files with', added.filter((name) => READS.test(name))],
    ['calls what the script does not define:', before.importsAll ? [] : undefinedCalls(before, after)],
  ] as const;
  const changed = before.scoring.filter((statement) => !after.scoring.includes(statement));
  const scores =
    changed.length === 0
      ? []
      : [`the correction changes how a score is computed or printed: ${listed(changed)}`];
  const printed = printsOf(after) - printsOf(before);
  const silent =
    printed === 0 ? [] : [`the correction prints ${printed < 0 ? 'less' : 'more'} than the script did`];
  const named = notes.flatMap(([what, names]) =>
    names.length === 0 ? [] : [`the correction ${what} ${listed(names)}`],
  );
  return [...silent, ...scores, ...named];
}

function undefinedCalls(before: CodeProfile, after: CodeProfile): string[] {
  const known = (name: string) => before.called.has(name) || after.mentioned.has(name) || BUILTINS.has(name);
  return [...after.called].filter((name) => !known(name));
}

/** Names that the script has more often than before. */
function more(before: CodeProfile, after: CodeProfile): string[] {
  return [...after.names].flatMap(([name, count]) => (count > (before.names.get(name) ?? 0) ? [name] : []));
}

function extent({ start, end }: Span, { statements }: CodeProfile): { inside: number; all: number } {
  return { inside: statements.filter((at) => at >= start && at < end).length, all: statements.length };
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMED).map((name) => name.replace(/^\./, '').slice(0, 60));
  return [...new Set(shown)].join(', ') + (names.length > MAX_NAMED ? ', …' : '');
}
