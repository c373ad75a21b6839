/**
 * Signals the worker that a call cannot be sent now: the job must go back to the queue and wait there. That uses no
 * attempt. It is no `FleetError`, so that no code in between treats it as a failed call.
 */
export class CallDeferred extends Error {
  /** How long the job waits in the queue, in milliseconds. */
  readonly waitMs: number;
  /** Why; the job shows this text. */
  readonly reason: string;

  /** Whether the wait is so long that the job counts as parked. */
  readonly parked: boolean;

  constructor(waitMs: number, reason: string, parked = false) {
    super(`the call waits ${Math.ceil(waitMs / 1_000)} s: ${reason}`);
    this.name = 'CallDeferred';
    this.waitMs = waitMs;
    this.reason = reason;
    this.parked = parked;
  }
}
