import type { ScriptAnalyst } from '../../agents/script-analyst.js';
import type { LeakFinding } from '../../leakage/analyze.js';
import { SEVERITIES } from '../../queues/solution-check.js';

/** A part of a script. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const overlaps = (a: Span, b: Span) => a.start < b.end && b.start < a.end;
const holds = (block: Span, part: Span) => block.start <= part.start && part.end <= block.end;
const sizeOf = ({ start, end }: Span) => end - start;

/** A leak of the static analysis that one answer of a model means. */
export type MeantLeak = Pick<LeakFinding, 'kind' | 'severity' | 'explanation'> & {
  /** Texts of the leaking computations, without layout. */
  readonly texts: readonly string[];
  /** How many of its computations the answer means. */
  readonly count: number;
};

/** A text without layout: a computation that was moved or indented has the same one. */
const plain = (text: string) => text.replaceAll(/\s+/g, '');

/**
 * The leaks of static analysis that an answer of a model means. Blocks reach through the split, so those of several leaks
 * overlap: each leak belongs to the smallest block that holds its computation. A block without any computation means
 * the leaks that it overlaps.
 *
 * @param others The blocks of the other answers.
 */
export async function leaksMeant(
  script: string,
  block: Span,
  others: readonly Span[],
  analyst: ScriptAnalyst,
): Promise<MeantLeak[]> {
  const { findings } = await analyst.analyze(script);
  const isInside = findings.some(({ computations }) => computations.some((one) => holds(block, one)));
  const isClaimed = (computation: Span) =>
    others.some((other) => holds(other, computation) && sizeOf(other) < sizeOf(block));
  return findings.flatMap((finding) => {
    const own = finding.computations.filter(
      (one) => !isClaimed(one) && (isInside ? holds(block, one) : overlaps(finding, block)),
    );
    return meant(finding, own, script);
  });
}

function meant(finding: LeakFinding, computations: readonly Span[], script: string): MeantLeak[] {
  if (computations.length === 0) return [];
  const { kind, severity, explanation } = finding;
  const texts = computations.map(({ start, end }) => plain(script.slice(start, end)));
  return [{ kind, severity, explanation, texts, count: computations.length }];
}

/** The most severe of several leaks that one answer means. */
export function worstOf(leaks: readonly MeantLeak[]): MeantLeak | undefined {
  return leaks.toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity))[0];
}

/** Kind and severity for an answer of a model, which has neither; if it means several leaks, those of the most severe one. */
export function annotationOf(
  leaks: readonly MeantLeak[],
): Pick<LeakFinding, 'kind' | 'severity'> | undefined {
  const worst = worstOf(leaks);
  return worst && { kind: worst.kind, severity: worst.severity };
}

/** Where a leak is that an earlier correction moved: a finding with one of its computations. */
export async function movedLeak(
  script: string,
  leaks: readonly MeantLeak[],
  analyst: ScriptAnalyst,
): Promise<LeakFinding | undefined> {
  if (leaks.length === 0) return undefined;
  const { findings } = await analyst.analyze(script);
  return findings.find((finding) =>
    leaks.some(
      ({ kind, texts }) =>
        kind === finding.kind &&
        finding.computations.some(({ start, end }) => texts.includes(plain(script.slice(start, end)))),
    ),
  );
}

/**
 * Checks with static analysis that a leak which a correction was asked for is gone. A block may hold leaks of several
 * kinds, of which the model named one: it is enough that all computations of one kind are gone. What remains in the
 * end is checked in the whole script.
 *
 * @param isShared Whether other answers have this very block: then one computation is enough.
 * @param needsAll Whether leaks of all kinds have to be gone, because the correction was asked for all of them.
 * @returns a sentence about a remaining leak, or undefined.
 */
export async function remainingMeant(
  before: string,
  after: string,
  leaks: readonly MeantLeak[],
  isShared: boolean,
  analyst: ScriptAnalyst,
  needsAll = false,
): Promise<string | undefined> {
  const was = (await analyst.analyze(before)).findings;
  const is = (await analyst.analyze(after)).findings;
  let isOneGone = false;
  let left: string | undefined;
  for (const kind of new Set(leaks.map((leak) => leak.kind))) {
    const wanted = leaks.filter((leak) => leak.kind === kind).reduce((sum, { count }) => sum + count, 0);
    const gone = countOf(kind, was) - countOf(kind, is);
    if (gone >= (isShared ? 1 : wanted)) isOneGone = true;
    // A correction of some computations of a kind is not finished.
    else if (gone > 0) return remainingOf(kind, leaks, is, after);
    else left ??= remainingOf(kind, leaks, is, after);
  }
  return isOneGone && !needsAll ? undefined : left;
}

/** A sentence about a leak of a kind that remains: the one that was meant, if its text shows which one it is. */
function remainingOf(
  kind: LeakFinding['kind'],
  meant: readonly MeantLeak[],
  findings: readonly LeakFinding[],
  script: string,
): string | undefined {
  const texts = new Set(meant.flatMap((leak) => (leak.kind === kind ? leak.texts : [])));
  const ofKind = findings.filter((finding) => finding.kind === kind);
  const same = ofKind.find(({ computations }) =>
    computations.some(({ start, end }) => texts.has(plain(script.slice(start, end)))),
  );
  const remaining = same ?? ofKind[0];
  return remaining && `a leak of the same kind remains: ${remaining.explanation}`;
}

/**
 * Checks that a correction from any source makes nothing worse: it must not add a leak of any kind or severity, must not
 * remove the score, and must not prevent static analysis from seeing either.
 *
 * @returns a sentence about what got worse, or undefined.
 */
export async function whatGotWorse(
  before: string,
  after: string,
  analyst: ScriptAnalyst,
): Promise<string | undefined> {
  const was = await analyst.analyze(before);
  const is = await analyst.analyze(after);
  if (was.exhausted) return undefined;
  if (is.exhausted) return 'with the correction static analysis cannot follow the script to its end any more';
  const added = is.findings.find(({ kind }) => countOf(kind, is.findings) > countOf(kind, was.findings));
  if (added !== undefined) return `the correction adds another leak: ${added.explanation}`;
  if (was.scores > 0 && is.scores === 0)
    return 'with the correction the script scores no predictions any more; keep the score as it is computed';
  if (was.printedScores > 0 && is.printedScores === 0)
    return 'with the correction the script prints no score of its predictions any more; print the one that is computed';
  return undefined;
}

/** Kinds of which the corrected script has fewer leaks. */
export async function removedKinds(
  before: string,
  after: string,
  analyst: ScriptAnalyst,
): Promise<LeakFinding['kind'][]> {
  const was = (await analyst.analyze(before)).findings;
  const is = (await analyst.analyze(after)).findings;
  return [...new Set(was.map(({ kind }) => kind))].filter((kind) => countOf(kind, is) < countOf(kind, was));
}

/** How many computations leak in this way. */
function countOf(kind: LeakFinding['kind'], findings: readonly LeakFinding[]): number {
  return findings
    .filter((finding) => finding.kind === kind)
    .reduce((sum, { computations }) => sum + computations.length, 0);
}
