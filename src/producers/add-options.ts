import type { Reuse } from '../queues/reuse.js';

/** The deadline of what somebody waits for. */
export const NOW = '+0m';

/** Options of a submission, the same for single jobs, batches and flows. */
export interface AddOptions {
  /**
   * The pipeline's name for the work. The same key and content is the same work: it returns its result while the jobs are
   * stored, runs again after a failure, and is rejected with other content.
   */
  readonly key?: string;
  /**
   * Runs the key's work again even if it has ended. A job that runs, or that started one that runs, is left as it is: the
   * outcome is then `existing`.
   */
  readonly force?: boolean;
  /** For whom the work is done; jobs of several tenants are scheduled fairly. Default: the run in its tags. */
  readonly tenant?: string;
  /**
   * Who submits, if the submitter chooses tenant names freely. The HTTP API sets it for its tokens: submitters share the
   * queue fairly, and the tenants of each submitter share its part. Default: none; tenants share the queue directly.
   */
  readonly submitter?: string;
  /** 1 is the most urgent, 2,097,151 the least; default: 1,000. It orders the jobs of one tenant. */
  readonly priority?: number;
  /** Wait before the job may start, in milliseconds. Of a flow, the jobs wait that wait for no other job. */
  readonly delayMs?: number;
  /**
   * Maximum cost of the agent calls, in US dollars: of the run if the tags name one, otherwise of the job, or of all jobs of
   * the flow together. A submission that runs the key's failed or cancelled work again replaces it; what was spent still counts.
   */
  readonly budgetUsd?: number;
  /**
   * By when the result is needed: a time in ISO 8601, or a duration from now as in `+6h`. If there is enough time, the agent
   * calls are sent in batches, at half the price. Default: at once.
   */
  readonly deadline?: string;
  /**
   * With `fleet`, a call that another job of the same tenant has made, exactly the same, is answered from its ledger while that
   * job is stored, and costs nothing. With `none`, every call asks the model. Default: `FLEET_REUSE` of the worker.
   */
  readonly reuse?: Reuse;
  /** Follow-ups belong in the payload. */
  readonly then?: never;
}
