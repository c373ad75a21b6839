/**
 * Not an error but a message to whoever runs the job: the call cannot go now, so the job shall give its slot back and
 * come again. It uses no attempt. Nothing in between may take it for a failed question, so it is no `FleetError`.
 */
export class CallDeferred extends Error {
  /** How long the job shall stay away, in milliseconds. */
  readonly waitMs: number;
  /** Why, fit to be shown on the job. */
  readonly reason: string;

  /** Whether the wait is so long that the job has to say so. */
  readonly parked: boolean;

  constructor(waitMs: number, reason: string, parked = false) {
    super(`the call waits ${Math.ceil(waitMs / 1_000)} s: ${reason}`);
    this.name = 'CallDeferred';
    this.waitMs = waitMs;
    this.reason = reason;
    this.parked = parked;
  }
}
