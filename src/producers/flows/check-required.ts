import { PayloadError } from '../../errors.js';
import { RequiredStatusesSchema } from '../../queues/solution-check.js';
import { fieldPath } from '../../queues/validate.js';
import type { FleetClient } from '../fleet-client.js';
import { knownStore } from '../known-solutions.js';
import type { CheckSettings } from './guarded-evaluation.js';

/**
 * Validates what an evaluation requires of its checks.
 * @throws PayloadError with the invalid field.
 */
export function checkRequired({ require, contamination, onUncorrected }: CheckSettings): void {
  if (require === undefined) return;
  const issue = RequiredStatusesSchema.safeParse(require).error?.issues[0];
  if (issue !== undefined) reject(fieldPath(['require', ...issue.path]), issue.message);
  if (require.leakage !== undefined && onUncorrected !== undefined) {
    reject('onUncorrected', 'is said by require.leakage already; leave one of them out');
  }
  if (require.contamination === undefined || contamination !== undefined) return;
  reject(
    'contamination',
    'is missing; require.contamination needs its testCase, to know what to compare with',
  );
}

/**
 * Asserts that there is something to compare with before anything is submitted, and paid for.
 * @throws PayloadError if an evaluation requires a comparison and the fleet has no known solutions.
 */
export async function checkKnownSolutions(
  fleet: FleetClient,
  { require, contamination }: CheckSettings,
): Promise<void> {
  if (require?.contamination === undefined || contamination === undefined) return;
  if ((await knownStore(fleet).size()) > 0) return;
  reject(
    'require.contamination',
    'the fleet has no known solutions to compare with; add some first (fleet known add)',
  );
}

function reject(field: string, problem: string): never {
  throw new PayloadError('invalid-payload', `${field}: ${problem}`, { field });
}
