import type { CallOutcome } from '../outcome.js';
import { isPassing } from '../retry-table.js';

/**
 * Whether an outcome opens the circuit of the model for the whole fleet: 429, 529 (also as an error inside a stream), or any
 * passing failure that names a time to come back. A single 500 says nothing about the next call.
 */
export function opensCircuit(outcome: CallOutcome): boolean {
  if (!isPassing(outcome)) return false;
  if (outcome.class === 'rate-limited') return true;
  if (outcome.class !== 'overloaded') return false;
  return (
    outcome.status === undefined || outcome.status === 529 || outcome.headers?.['retry-after'] !== undefined
  );
}
