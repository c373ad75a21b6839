import { addJobs } from '../../src/producers/add-jobs.js';
import type { FleetClient } from '../../src/producers/fleet-client.js';

/** A small solution check. */
export const CHECK_PAYLOAD = { solution: { content: 'print(1)\n' } };

/** A contamination check, which calls no agent. */
export const CONTAMINATION_PAYLOAD = {
  output: 'print(1)',
  testCase: { id: 'none', name: 'none', difficulty: 'easy' as const },
};

const BATCH = 5_000;

/** Submits so many jobs of a kind. @throws if one is rejected. */
export async function fill(
  fleet: FleetClient,
  kind: 'solution-check' | 'contamination',
  count: number,
): Promise<void> {
  const item =
    kind === 'solution-check' ? { kind, payload: CHECK_PAYLOAD } : { kind, payload: CONTAMINATION_PAYLOAD };
  for (let added = 0; added < count; added += BATCH) {
    const length = Math.min(BATCH, count - added);
    for (const outcome of await addJobs(
      fleet,
      Array.from({ length }, () => item),
    )) {
      if ('error' in outcome) throw outcome.error;
    }
  }
}
