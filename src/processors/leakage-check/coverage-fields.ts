import type { NamedAnalysis } from '../../agents/analysis-answer.js';
import type { FindingSource, Opinion, SolutionCheckResult } from '../../queues/solution-check.js';

/**
 * What a result says about how much of the script was checked, and by whom.
 * @param isPython Whether the script parses. What was found around a syntax error counts; that nothing was found does not.
 */
export function coverageFields(
  analysis: NamedAnalysis,
  {
    opinion,
    detectedBy,
    isPython,
  }: { readonly opinion: Opinion; readonly detectedBy: FindingSource; readonly isPython: boolean },
): Pick<SolutionCheckResult, 'coverage' | 'checkedBy' | 'notAnalyzed' | 'notFollowed'> {
  const { hasScore, notFollowed } = analysis;
  const isUnreadable = !isPython && !analysis.parsed && analysis.findings.length === 0;
  const coverage = isUnreadable ? 'none' : analysis.coverage;
  const checkedBy: FindingSource[] = [
    ...(detectedBy === 'agent' ? (['agent'] as const) : []),
    ...(coverage === 'none' || (detectedBy === 'agent' && opinion === 'agent')
      ? []
      : (['analysis'] as const)),
  ];
  const isNotAnalyzed = checkedBy.length === 0 && hasScore;
  return {
    coverage,
    checkedBy,
    ...(isNotAnalyzed ? { notAnalyzed: reasonOf(notFollowed) } : {}),
    ...(notFollowed.length === 0 ? {} : { notFollowed }),
  };
}

function reasonOf(notFollowed: NamedAnalysis['notFollowed']): string {
  const named = notFollowed.slice(0, 3).map(({ line, reason }) => `line ${line}: ${reason}`);
  return `static analysis could not follow the score of this script: ${named.join('; ')}`;
}
