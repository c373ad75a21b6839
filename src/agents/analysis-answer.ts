import type { LeakageAnalysis, LeakFinding } from '../leakage/analyze.js';
import type { AnnotatedLeakageAnswer } from './outputs.js';

/** A finding, and the block by which an answer names it: one that occurs once in the script, if there is such a block. */
export type NamedLeak = LeakFinding & { readonly uniqueBlock: string };

export interface NamedAnalysis extends LeakageAnalysis {
  readonly findings: NamedLeak[];
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
