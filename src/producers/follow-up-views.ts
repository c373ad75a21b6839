import { addUsage, type Usage } from '../queues/usage.js';
import type { FollowUpView, JobView } from './job-view.js';
import type { WaitOptions } from './wait-for-job.js';

/**
 * Whether a job has failed or was cancelled, or its result cannot be read, or one of its follow-ups has a failure.
 * @param options.follow false: follow-ups do not count.
 */
export function hasFailure(
  { state, error, followUps = [] }: JobView,
  { follow = true }: Pick<WaitOptions, 'follow'> = {},
): boolean {
  if (state === 'failed' || state === 'cancelled' || error !== undefined) return true;
  if (!follow) return false;
  return followUps.some(
    (followUp) => followUp.error !== undefined || (followUp.job && hasFailure(followUp.job)),
  );
}

/** Usage of a job and of all jobs that follow it. */
export function usageOfChain({ usage, followUps = [] }: JobView): Usage {
  return followUps.reduce(
    (sum, { job }) => (job === undefined ? sum : addUsage(sum, usageOfChain(job))),
    usage,
  );
}

/** A follow-up at its depth in the tree: 1 for those of the job itself. */
export interface FollowUpAtDepth {
  readonly followUp: FollowUpView;
  readonly depth: number;
}

/** The follow-ups of a job and their follow-ups, each before its own. */
export function* eachFollowUp({ followUps = [] }: JobView, depth = 1): Generator<FollowUpAtDepth> {
  for (const followUp of followUps) {
    yield { followUp, depth };
    if (followUp.job !== undefined) yield* eachFollowUp(followUp.job, depth + 1);
  }
}
