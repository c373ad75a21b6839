import type { Redis } from 'ioredis';
import { sweepReservations } from '../../calls/budget/sweep-reservations.js';
import { type SweepOptions, sweepPayloads } from '../../payloads/sweep-payloads.js';
import { KIND_NAMES } from '../../queues/registry.js';
import { findMisplacedJobs, settleJob } from './misplaced-jobs.js';
import type { Problem } from './problem.js';
import { findIdleReservations } from './reservations.js';
import { findMissingTexts, findOrphanedTexts } from './stored-texts.js';
import { findOrphanedParents, freeOrphanedParent, type OrphanedParent } from './waiting-parents.js';

/** The problems that were found, and what was repaired. */
export interface Examination {
  readonly problems: readonly Problem[];
  /** Problems that remain: repair was not requested, or they cannot be repaired. */
  readonly left: readonly Problem[];
}

export interface ExamineOptions {
  readonly repair?: boolean;
  /** The kinds whose jobs are checked; default: the built-in ones. */
  readonly kinds?: readonly string[];
  /** When a stored text counts as orphaned. */
  readonly sweep?: Pick<SweepOptions, 'now' | 'graceMs'>;
}

/**
 * Checks the invariants of a fleet's data: every job is in exactly one state; none runs without a worker; none waits for
 * children that are gone or have ended; no money is reserved for calls of dead workers; a job refers to every stored
 * text, and every text that a job refers to is stored. The fleet may be running.
 */
export async function examine(
  client: Redis,
  prefix: string,
  { repair = false, sweep = {}, kinds = KIND_NAMES }: ExamineOptions = {},
): Promise<Examination> {
  const misplaced = await findMisplacedJobs(client, prefix, kinds);
  const parents = await findOrphanedParents(client, prefix);
  const orphanedParents = parents.map(asProblem);
  const reservations = await findIdleReservations(client, prefix);
  const orphanedTexts = await findOrphanedTexts(client, prefix, sweep);
  const missingTexts = await findMissingTexts(client, prefix, kinds);
  const problems = [...misplaced, ...orphanedParents, ...reservations, ...orphanedTexts, ...missingTexts];
  if (!repair) return { problems, left: problems };
  for (const problem of misplaced) await settleJob(client, prefix, problem);
  for (const parent of parents) await freeOrphanedParent(client, prefix, parent);
  if (reservations.length > 0) await sweepReservations(client, prefix);
  if (orphanedTexts.length > 0) await sweepPayloads(client, prefix, sweep);
  // A lost text cannot be restored.
  return { problems, left: missingTexts };
}

function asProblem({ queue, id, missing, ended }: OrphanedParent): Problem {
  const reasons = [
    ...(missing.length === 0 ? [] : [`its child is gone: ${missing.join(', ')}`]),
    ...(ended.length === 0 ? [] : [`its child has ended: ${ended.join(', ')}`]),
  ];
  const detail = reasons.length === 0 ? 'it waits for no child at all' : reasons.join('; ');
  return { problem: 'orphaned-parent', queue, id, detail };
}
