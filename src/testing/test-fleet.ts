import { AssertionError } from 'node:assert';
import { type Job, Worker } from 'bullmq';
import type { AgentRunner } from '../agents/agent-runner.js';
import { createOfflineRunner } from '../agents/offline-runner.js';
import { JobError } from '../errors.js';
import { acquireThrowawayRedis } from '../fleet/embedded-redis.js';
import { createLogger } from '../fleet/logger.js';
import { FleetWorker, type WorkerOptions } from '../fleet/worker.js';
import { type OptionNames, rejectUnknownOptions } from '../known-options.js';
import type { Kind } from '../processors/define-kind.js';
import { findJob, locationOf } from '../producers/find-job.js';
import { FleetClient } from '../producers/fleet-client.js';
import { hasEnded, type JobView, viewJob, withTexts } from '../producers/job-view.js';
import { listJobs } from '../producers/list-jobs.js';
import { waitForJob } from '../producers/wait-for-job.js';
import { workerConnection } from '../queues/connection.js';
import { containsPartial } from './contains-partial.js';

export interface TestFleetOptions {
  /** Who answers; default: static analysis. */
  readonly agents?: AgentRunner;
  /** Kinds of one's own. */
  readonly kinds?: readonly Kind[];
  /** Address of a Redis; default: a server of its own, which ends with the fleet. */
  readonly redisUrl?: string;
  /** Default: `test`. */
  readonly prefix?: string;
  /** Pipeline queues with what their workers do, such as an evaluation. */
  readonly queues?: Readonly<Record<string, (job: Job) => Promise<unknown>>>;
  /** Further options of the worker, such as `calls` with a `TestClock`. */
  readonly worker?: Partial<Omit<WorkerOptions, 'redisUrl' | 'prefix' | 'runner' | 'kinds'>>;
}

const OPTIONS: OptionNames<TestFleetOptions> = {
  agents: true,
  kinds: true,
  redisUrl: true,
  prefix: true,
  queues: true,
  worker: true,
};

/** A job as it was submitted. */
export interface SubmittedJob {
  readonly id: string;
  readonly kind: string;
  readonly payload: unknown;
}

/** A fleet in the process of a test: a Redis, a worker of all kinds, and a client. */
export interface TestFleet {
  /** For the functions that submit and read jobs. */
  readonly fleet: FleetClient;
  readonly redisUrl: string;
  /**
   * Waits until every job has ended, those too that jobs started.
   * @returns all jobs, in the order of their submission.
   * @throws JobError `job-failed` if a job waits for a queue that nobody works on.
   */
  drain(): Promise<readonly JobView[]>;
  /** The jobs of a kind, or of a pipeline queue, in the order of their submission. */
  submitted(kind: string): Promise<readonly SubmittedJob[]>;
  /**
   * A job of the kind whose payload has these fields with these values, at any depth. Lists must be equal.
   * @throws AssertionError with the payloads that were submitted.
   */
  expectSubmitted(kind: string, partial: Readonly<Record<string, unknown>>): Promise<SubmittedJob>;
  close(): Promise<void>;
}

const LOCK_MS = 30_000;
const CONCURRENCY = 4;
const STOP_MS = 5_000;
const MAX_JOBS = 100_000;

/**
 * Starts a fleet for a test. Close it when the test ends.
 * @throws as `FleetWorker.start`; RedisError `redis-missing` if there is no Redis server on this machine and no address.
 *
 * @example
 * const test = await startTestFleet({ agents: scriptedAgents({ detect: { answers: [] } }) });
 * await addSolutionCheck(test.fleet, { solution: { content: script } });
 * const [check] = await test.drain();
 * await test.close();
 */
export async function startTestFleet(options: TestFleetOptions = {}): Promise<TestFleet> {
  rejectUnknownOptions(options, OPTIONS);
  const { agents = createOfflineRunner(), kinds = [], prefix = 'test', queues = {}, worker = {} } = options;
  const own = options.redisUrl === undefined ? await acquireThrowawayRedis() : undefined;
  const redisUrl = options.redisUrl ?? own?.url ?? '';
  const closing: (() => Promise<unknown>)[] = [async () => own?.release()];
  const close = async () => {
    for (const end of closing.splice(0).reverse()) await end();
  };
  try {
    const fleet = await FleetClient.open({ redisUrl, prefix, kinds });
    closing.push(() => fleet.close());
    const started = await FleetWorker.start({
      redisUrl,
      prefix,
      runner: agents,
      logger: createLogger('silent'),
      concurrency: CONCURRENCY,
      lockMs: LOCK_MS,
      ...worker,
      kinds: [...fleet.kinds.names.filter((name) => !kinds.some((kind) => kind.name === name)), ...kinds],
    });
    closing.push(() => started.stop(STOP_MS));
    for (const [queue, process] of Object.entries(queues)) {
      const evaluating = new Worker(queue, process, { connection: workerConnection(redisUrl), prefix });
      // A lost connection is the worker's to report; the jobs fail or wait.
      evaluating.on('error', () => undefined);
      closing.push(() => evaluating.close());
      await evaluating.waitUntilReady();
    }
    return { fleet, redisUrl, ...testFunctions(fleet), close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

function testFunctions(fleet: FleetClient): Pick<TestFleet, 'drain' | 'submitted' | 'expectSubmitted'> {
  const submitted = async (kind: string): Promise<SubmittedJob[]> => {
    const jobs = await listJobs(fleet, { kind, limit: MAX_JOBS });
    const read = jobs.toReversed().map(async ({ id }) => {
      const { job, queue } = await findJob(fleet, id, kind);
      return { id, kind, payload: await withTexts(fleet, kind, job.data, queue.toKey(id)) };
    });
    return Promise.all(read);
  };
  return {
    submitted,
    expectSubmitted: async (kind, partial) => {
      const jobs = await submitted(kind);
      const found = jobs.find(({ payload }) => containsPartial(payload, partial));
      if (found !== undefined) return found;
      const payloads = jobs.map(({ payload }) => payload);
      throw new AssertionError({
        message: `no ${kind} job with ${JSON.stringify(partial)} was submitted; submitted were ${JSON.stringify(payloads, null, 2)}`,
        actual: payloads,
        expected: partial,
        operator: 'expectSubmitted',
      });
    },
    drain: async () => {
      for (;;) {
        const jobs = await listJobs(fleet, { limit: MAX_JOBS });
        const open = jobs.filter(({ state }) => !hasEnded(state));
        const [first] = open;
        if (first === undefined) return viewsOf(fleet, jobs);
        await assertTaken(
          fleet,
          open.filter(({ kind }) => !fleet.kinds.has(kind)),
        );
        await waitForJob(fleet, first.id, {}, first.kind);
      }
    },
  };
}

type Named = Pick<JobView, 'id' | 'kind'>;

/** The worker of the fleet takes the jobs of all kinds; those of pipeline queues need workers of their own. */
async function assertTaken(fleet: FleetClient, jobs: readonly Named[]): Promise<void> {
  for (const { id, kind } of jobs) {
    const { waitReason } = await viewJob(fleet, locationOf(fleet, id, kind));
    if (waitReason === undefined) continue;
    throw new JobError('job-failed', `the ${kind} job ${id} does not end: ${waitReason}`, { jobId: id });
  }
}

async function viewsOf(fleet: FleetClient, jobs: readonly Named[]): Promise<JobView[]> {
  const views = await Promise.all(jobs.map(({ id, kind }) => viewJob(fleet, locationOf(fleet, id, kind))));
  return views.sort((a, b) => a.createdAt.localeCompare(b.createdAt));
}
