import type { DetailedAnalysis } from '../../analyze.js';
import type { Leak } from '../../findings/find-leaks.js';

/** A leak of a script in the same script with functions inlined; nothing where the two have other leaks. */
export function sameLeak(before: DetailedAnalysis, leak: Leak, after: DetailedAnalysis): Leak | undefined {
  const kinds = ({ leaks }: DetailedAnalysis): string =>
    [...new Set(leaks.map(({ kind }) => kind))].toSorted().join(' ');
  if (!after.parsed || kinds(before) !== kinds(after)) return undefined;
  const isOfKind = ({ kind }: Leak): boolean => kind === leak.kind;
  // Inlining keeps the order in which the lines of one function run.
  const ofFunction = before.leaks.filter(
    (one) => isOfKind(one) && one.statement.suite.owner === leak.statement.suite.owner,
  );
  const words = wordsOf(before, leak);
  const alike = after.leaks.filter((one) => isOfKind(one) && wordsOf(after, one) === words);
  const candidates = alike.length > 0 ? alike : after.leaks.filter(isOfKind);
  return candidates[Math.min(ofFunction.indexOf(leak), candidates.length - 1)];
}

/** What a leak computes, without the names of variables. */
function wordsOf({ module: { source } }: DetailedAnalysis, { node }: Leak): string {
  return source.slice(node.start, node.end).replaceAll(/(?<![.\w])\w+/g, '_');
}

/** The lines that differ between two texts: those of the first, and what they become. */
export function changedLines(before: string, after: string): { codeBlock: string; replacement: string } {
  const [old, now] = [before.split('\n'), after.split('\n')];
  const most = Math.min(old.length, now.length);
  let start = 0;
  while (start < most && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < most - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  const middle = (lines: readonly string[]): string => lines.slice(start, lines.length - end).join('\n');
  return { codeBlock: middle(old), replacement: middle(now) };
}
