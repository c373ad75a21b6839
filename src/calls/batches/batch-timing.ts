/** When calls are sent in batches, and how large those are. Times in milliseconds. */
export interface BatchTiming {
  /** Deadline of jobs that name none, counted from their submission; default: their calls are sent at once. */
  readonly afterMs?: number;
  /** How long the first call of a batch waits for others. */
  readonly collectMs: number;
  /** How often a batch is looked at. */
  readonly pollMs: number;
  /**
   * So long before its deadline a job sends a call by itself that has no answer. Twice as long before, it leaves its batch,
   * which is cancelled if no job waits for it any more.
   */
  readonly marginMs: number;
  /** A call is only queued if a batch has at least so long until its job would leave it: most batches end within an hour. */
  readonly minMs: number;
  /** How long one request about batches may take. After twice as long, a batch that is not listed was not created. */
  readonly requestMs: number;
  /** How long a worker that crashed while it looked after the batches keeps the others from doing it. */
  readonly leaseMs: number;
  /** Most requests of a batch; the provider takes 100,000. */
  readonly maxLines: number;
  /** Most bytes of a batch; the provider takes 256 MB. */
  readonly maxBytes: number;
}

/** A worker holds a whole batch in its memory while it sends it, so these limits are below those of the provider. */
export const DEFAULT_BATCH_TIMING: BatchTiming = {
  collectMs: 60_000,
  pollMs: 60_000,
  marginMs: 900_000,
  minMs: 3_600_000,
  requestMs: 300_000,
  leaseMs: 30_000,
  maxLines: 10_000,
  maxBytes: 64_000_000,
};
