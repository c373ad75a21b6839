import { type CodeProfile, profileOf } from './code-profile.js';
import { BUILTINS, DATA_LIBRARIES, DROPS, isForbidden, READS, STEPS } from './correction-rules.js';
import type { Span } from './fit-correction.js';
import { magicIn } from './magic-line.js';
import { replaceSpan } from './replace-block.js';

/** What a correction does besides correcting. */
export interface CorrectionScope {
  /** Why it must not be put in, in words that a second try can use; absent where it may. */
  readonly problem?: string;
  /** What whoever takes it should know. */
  readonly notes: readonly string[];
}

/** From this share of a script's statements on, a block is more than a leaky place, which is worth a word. */
const LARGE_SHARE = 0.4;
/** From this share on, its correction is a new script, unless most lines stay. */
const MOST_SHARE = 0.6;
/** Scripts of fewer statements are too small for that share to say anything. */
const MIN_STATEMENTS = 8;
/** A whole script of so many statements may not be replaced by another one. */
const MIN_WHOLE = 3;
/** How many of a large block's lines a correction has to leave as they are. */
const KEPT_SHARE = 0.5;
/** More new statements than this are worth a word. */
const MANY_NEW = 20;
const MAX_NAMED = 5;

/**
 * Compares a script before and after a correction: a correction has to remove a leak and nothing else. It is refused
 * where it newly imports other libraries than those that compute on data; runs code, reaches the system or the network,
 * writes files; prints no score any more; or replaces most of a script. Names are all that is looked at: who wants to hide what a
 * script does can, which is why large changes come with a note as well.
 */
export async function correctionScope(
  located: Span & { readonly text: string },
  block: string,
  content: string,
): Promise<CorrectionScope> {
  const [before, after] = await Promise.all([
    profileOf(content),
    profileOf(replaceSpan(content, located, block)),
  ]);
  const problem =
    commandProblem(located.text, block) ??
    importProblem(before, after) ??
    nameProblem(before, after) ??
    addressProblem(before, after) ??
    printProblem(before, after) ??
    sizeProblem(located, block, before);
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

function addressProblem(before: CodeProfile, after: CodeProfile): string | undefined {
  const added = [...after.addresses].some((address) => !before.addresses.has(address));
  return added ? 'the correction holds an address that the script does not have; leave it out' : undefined;
}

function printProblem(before: CodeProfile, after: CodeProfile): string | undefined {
  const noScore = before.scorePrints > 0 && after.scorePrints === 0;
  if (!noScore && (printsOf(before) === 0 || printsOf(after) > 0)) return undefined;
  return 'with the correction the script prints no score any more; keep the line that prints it';
}

function printsOf({ names }: CodeProfile): number {
  return names.get('print') ?? 0;
}

function sizeProblem(
  located: Span & { text: string },
  block: string,
  before: CodeProfile,
): string | undefined {
  const { inside, all } = extent(located, before);
  if (inside < all * MOST_SHARE || all < (inside === all ? MIN_WHOLE : MIN_STATEMENTS)) return undefined;
  const old = codeLines(located.text);
  const kept = keptLines(old, codeLines(block));
  if (kept >= old.length * KEPT_SHARE) return undefined;
  return `the correction rewrites ${inside} of the script's ${all} statements; change only the lines that leak, and leave the others as they are`;
}

function sizeNotes(located: Span, before: CodeProfile, after: CodeProfile): string[] {
  const { inside, all } = extent(located, before);
  const notes: string[] = [];
  if (inside === all) notes.push('the correction replaced the whole script');
  else if (all >= MIN_STATEMENTS && inside >= all * LARGE_SHARE) {
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
  const silent = printsOf(after) < printsOf(before) ? ['the correction prints less than the script did'] : [];
  const named = notes.flatMap(([what, names]) =>
    names.length === 0 ? [] : [`the correction ${what} ${listed(names)}`],
  );
  return [...silent, ...named];
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

function codeLines(text: string): string[] {
  return text
    .split(/\r\n|\r|\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/** How many of the lines are still there, each counted as often as it is. */
function keptLines(old: readonly string[], now: readonly string[]): number {
  const left = new Map<string, number>();
  for (const line of now) left.set(line, (left.get(line) ?? 0) + 1);
  return old.filter((line) => {
    const count = left.get(line) ?? 0;
    left.set(line, count - 1);
    return count > 0;
  }).length;
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMED).map((name) => name.replace(/^\./, '').slice(0, 60));
  return [...new Set(shown)].join(', ') + (names.length > MAX_NAMED ? ', …' : '');
}
