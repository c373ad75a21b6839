import { analyzeLeakage, type LeakageAnalysis, type LeakFinding } from '../leakage/analyze.js';
import { locateBlock } from '../solution/locate-block.js';
import type { AnnotatedLeakageAnswer } from './outputs.js';

/** A finding, and the block by which an answer names it: one that occurs once in the script, if there is such a block. */
export type NamedLeak = LeakFinding & { readonly uniqueBlock: string };

export interface NamedAnalysis extends LeakageAnalysis {
  readonly findings: NamedLeak[];
}

/** The analysis, with the block of each finding: looking for them takes long in a script that repeats itself. */
export async function analyzeAndName(source: string): Promise<NamedAnalysis> {
  const analysis = await analyzeLeakage(source);
  const findings = analysis.findings.map((leak) => ({ ...leak, uniqueBlock: uniqueBlock(leak, source) }));
  return { ...analysis, findings };
}

/** A finding of static analysis in the form of an agent's answer. */
export function analysisAnswer(finding: NamedLeak): AnnotatedLeakageAnswer {
  return {
    leakage_status: 'Yes Data Leakage',
    code_block: finding.uniqueBlock,
    kind: finding.kind,
    severity: finding.severity,
    reason: `${finding.explanation} ${finding.whatToDo}`,
  };
}

/**
 * The finding's block, widened upwards by lines until it occurs in the script only once. The number of lines is doubled,
 * then halved: in a script of the same lines over and over, trying each number takes minutes.
 */
function uniqueBlock({ start, end }: LeakFinding, code: string): string {
  const starts = [start];
  for (let from = start; from > 0; ) {
    // An offset below zero would count as zero, and a line break there be found again and again.
    from = from < 2 ? 0 : code.lastIndexOf('\n', from - 2) + 1;
    starts.push(from);
  }
  const isUnique = (lines: number) =>
    (locateBlock(code.slice(starts[lines], end), code)?.occurrences ?? 1) === 1;
  const most = starts.length - 1;
  let enough = 0;
  let few = -1;
  while (enough < most && !isUnique(enough)) {
    few = enough;
    enough = Math.min(most, enough * 2 + 1);
  }
  while (enough - few > 1) {
    const middle = (few + enough) >> 1;
    if (isUnique(middle)) enough = middle;
    else few = middle;
  }
  return code.slice(starts[enough], end);
}
