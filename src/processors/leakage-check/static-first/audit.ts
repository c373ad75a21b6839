import { digestOf } from '../../../queues/digest.js';
import type { SolutionCheckResult, StaticFirst } from '../../../queues/solution-check.js';

/** As `FLEET_AUDIT_SHARE` says if it is not set. */
export const DEFAULT_AUDIT_FRACTION = 0.02;

/** Hexadecimal digits of a digest that fit into a number without loss. */
const DIGITS = 12;

/** Whether a script is in the sample of this fraction: the same script always is, or never, however often it is submitted. */
export function isAudited(content: string, fraction: number): boolean {
  const position = Number.parseInt(digestOf(`audit ${content}`).slice(0, DIGITS), 16) / 16 ** DIGITS;
  return position < fraction;
}

/** Compares what the analysis alone and the agent alone say of a script. */
export function auditOf(
  byAnalysis: SolutionCheckResult,
  withAgent: SolutionCheckResult,
): NonNullable<StaticFirst['audit']> {
  const isLeaky = withAgent.findings.some(
    ({ source, leakageStatus }) => source === 'agent' && leakageStatus === 'Yes Data Leakage',
  );
  const analysis = byAnalysis.status === 'clean' ? 'clean' : 'leaky';
  const agent = isLeaky ? 'leaky' : 'clean';
  return { agrees: analysis === agent, analysis, agent };
}
