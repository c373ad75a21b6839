import type { ScriptAnalyst } from '../../agents/script-analyst.js';
import type { LeakFinding } from '../../leakage/index.js';
import { SEVERITIES } from '../../queues/solution-check.js';

interface Span {
  readonly start: number;
  readonly end: number;
}

const overlaps = (a: Span, b: Span) => a.start < b.end && b.start < a.end;

/**
 * Kind and severity of the leak that static analysis finds at a block, for answers of a model, which have neither; if there
 * are several, of the most severe one.
 */
export async function annotationAt(
  script: string,
  block: Span,
  analyst: ScriptAnalyst,
): Promise<Pick<LeakFinding, 'kind' | 'severity'> | undefined> {
  const [worst] = (await findingsAt(script, block, analyst)).sort(
    (a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity),
  );
  return worst && { kind: worst.kind, severity: worst.severity };
}

/**
 * Checks a correction from any source with static analysis. It only applies if the analysis found the leak before: then it
 * can decide whether a leak of the same kind remains in the corrected lines.
 *
 * @returns a sentence about the remaining leak, or undefined.
 */
export async function remainingLeakOfKind(
  before: string,
  leakyBlock: Span,
  after: string,
  correctedBlock: Span,
  analyst: ScriptAnalyst,
): Promise<string | undefined> {
  const known = await findingsAt(before, leakyBlock, analyst);
  if (known.length === 0) return undefined;
  const kinds = new Set(known.map(({ kind }) => kind));
  const remaining = (await findingsAt(after, correctedBlock, analyst)).find(({ kind }) => kinds.has(kind));
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

function countOf(kind: LeakFinding['kind'], findings: readonly LeakFinding[]): number {
  return findings.filter((finding) => finding.kind === kind).length;
}

async function findingsAt(script: string, span: Span, analyst: ScriptAnalyst): Promise<LeakFinding[]> {
  const { findings } = await analyst.analyze(script);
  return findings.filter((finding) => overlaps(finding, span));
}
