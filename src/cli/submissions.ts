import { randomUUID } from 'node:crypto';
import { FleetError } from '../errors.js';
import type { QueuedJob } from '../producers/job-handle.js';
import { printError } from './print-error.js';
import { throughOutage } from './through-outage.js';

interface Submitted {
  readonly job: Promise<QueuedJob>;
  /** Whether the command chose the job's key: a job that has it is the command's own. */
  readonly ownKey: boolean;
}

/**
 * The jobs that a command has submitted. A user who interrupts the command no longer wants them, and must not pay for them
 * in the next one.
 */
export class Submissions {
  readonly #interrupted: AbortSignal;
  readonly #submitted: Submitted[] = [];

  constructor(interrupted: AbortSignal) {
    this.#interrupted = interrupted;
  }

  /**
   * Submits something and remembers its job; of a flow, its root: cancelling that cancels the children it waits for.
   * @throws Interrupted where the command has been interrupted.
   */
  async add<T>(submit: () => Promise<T>, jobOf: (submitted: T) => QueuedJob): Promise<T> {
    return this.#remember(submit, (submitting) => submitting.then(jobOf), false);
  }

  /**
   * Submits as `add` does, and again under the same key where an outage of Redis interferes: the key names one job however
   * often it is submitted.
   * @param jobOf The job that a key names, whether or not it exists.
   * @throws as `throughOutage`; Interrupted where the command has been interrupted.
   */
  async addThroughOutage<T>(
    submit: (key: string) => Promise<T>,
    jobOf: (key: string) => QueuedJob,
  ): Promise<T> {
    const key = randomUUID();
    const named = () => jobOf(key);
    const submitted = () => throughOutage(() => submit(key), this.#interrupted);
    // It may exist although the submission failed: the reply can be lost.
    return this.#remember(submitted, (submitting) => submitting.then(named, named), true);
  }

  async #remember<T>(
    submit: () => Promise<T>,
    jobOf: (submitting: Promise<T>) => Promise<QueuedJob>,
    ownKey: boolean,
  ): Promise<T> {
    this.#interrupted.throwIfAborted();
    const submitting = submit();
    // Remembered before it is there, so that one on its way to Redis is cancelled too.
    const job = jobOf(submitting);
    job.catch(() => undefined);
    this.#submitted.push({ job, ownKey });
    return submitting;
  }

  /** Cancels those that have not ended. One that cannot be cancelled is reported, and does not keep the rest. */
  async cancelAll(): Promise<void> {
    await Promise.all(
      this.#submitted.map(async ({ job: submitting, ownKey }) => {
        const job = await submitting.catch(() => undefined);
        // Another's job that was found by its key is not this command's to cancel.
        if (job === undefined || (job.outcome === 'existing' && !ownKey)) return;
        try {
          await job.cancel();
        } catch (thrown) {
          const over = ['job-already-ended', 'job-not-found'];
          if (!(thrown instanceof FleetError && over.includes(thrown.code))) {
            printError(thrown, `job ${job.id} could not be cancelled`);
          }
        }
      }),
    );
  }
}
