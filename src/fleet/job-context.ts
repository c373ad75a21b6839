import type { Job } from 'bullmq';
import type { PayloadStore } from '../payloads/payload-store.js';
import type { AttemptStarter } from './attempt-starter.js';
import type { IsolatedProcess } from './isolation/isolated-process.js';
import type { JobLimits } from './job-deadline.js';
import type { Logger } from './logger.js';
import type { ProcessingParts } from './process-job.js';
import type { RunningJobs } from './running-jobs.js';
import type { WriteRefusals } from './write-refusals.js';

/** What a worker needs to run its jobs. */
export interface JobContext extends ProcessingParts {
  readonly logger: Logger;
  readonly running: RunningJobs;
  /** Whether Redis rejects writes. */
  readonly refusals: WriteRefusals;
  readonly starter: AttemptStarter;
  readonly limits: JobLimits;
  /** Stores long texts of payloads and results. */
  readonly payloads: PayloadStore;
  /** How long a job of a newer contract waits for a newer worker before it is tried again. */
  readonly newerContractDelayMs: number;
  /** Where jobs with crashes are processed; without it, in this process. */
  readonly isolatedProcess?: IsolatedProcess | undefined;
}

/** A job that this worker owns. */
export interface OwnedJob {
  readonly job: Job;
  /** Key of its hash in Redis. */
  readonly key: string;
  readonly token: string;
  readonly signal: AbortSignal;
}

/** Key of the job's hash in Redis. */
export function jobKey(job: Job): string {
  return `${job.queueQualifiedName}:${job.id}`;
}
