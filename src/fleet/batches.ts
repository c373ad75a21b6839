import { Job, Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { BatchCollector } from '../calls/batches/batch-collector.js';
import type { BatchProvider } from '../calls/batches/batch-provider.js';
import type { BatchTiming } from '../calls/batches/batch-timing.js';
import type { CallControl } from '../calls/call-control.js';
import { redactErrorText } from '../config/redact.js';
import { messageOf } from '../errors.js';
import { parseJobKey } from '../queues/job-key.js';
import { batchBase } from '../queues/redis-keys.js';
import { runScript, script } from '../queues/run-script.js';
import type { Logger } from './logger.js';
import type { WriteRefusals } from './write-refusals.js';

/** How often a worker looks whether there is something to do, in milliseconds. */
const LOOK_MS = 1_000;
/** How often a lease is renewed within its time. */
const RENEWALS = 3;

/** KEYS: 1 lease. ARGV: 1 worker, 2 ms. Returns 1 if this worker has the lease now. */
const TAKE_LEASE = script(`
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`);

/** KEYS: 1 lease. ARGV: 1 worker. */
const RELEASE_LEASE = script(`
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`);

export interface BatchesOptions {
  readonly client: Redis;
  readonly prefix: string;
  /** Name of the worker. */
  readonly name: string;
  readonly provider: BatchProvider;
  readonly calls: CallControl;
  readonly timing: BatchTiming;
  readonly logger: Logger;
  readonly refusals: Pick<WriteRefusals, 'reason'>;
}

/** Looks after the batches of the fleet. One worker does so at a time, for each account at the provider. */
export class Batches {
  readonly #options: BatchesOptions;
  readonly #collector: BatchCollector;
  readonly #lease: string;
  readonly #timer: NodeJS.Timeout;
  readonly #stopped = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: BatchesOptions) {
    const { client, prefix, provider, calls, timing, logger } = options;
    this.#options = options;
    this.#lease = leaseKey(prefix, provider.account);
    this.#collector = new BatchCollector({
      client,
      prefix: calls.prefix,
      provider,
      timing,
      clock: calls.clock,
      log: logger,
      logOfJob: (jobKey, message) =>
        this.#withJob(jobKey, async (job) => void (await job.log(`INFO ${redactErrorText(message)}`))),
      isServed: async (account) => (await client.exists(leaseKey(prefix, account))) === 1,
    });
    this.#timer = setInterval(
      () => {
        this.#running ??= this.#leased().finally(() => {
          this.#running = undefined;
        });
      },
      Math.min(LOOK_MS, timing.collectMs, timing.pollMs),
    );
    this.#timer.unref();
  }

  /** Starts no more work; waits until a batch that is being sent is recorded. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopped.abort();
    await this.#running;
    const { client, name, logger } = this.#options;
    if (client.status !== 'ready') return;
    await runScript(client, RELEASE_LEASE, [this.#lease], [name]).catch((thrown: unknown) =>
      logger.debug({ reason: messageOf(thrown) }, 'the lease of the batches was not released; it expires'),
    );
  }

  async #leased(): Promise<void> {
    const { client, name, timing, refusals, logger } = this.#options;
    if (client.status !== 'ready' || refusals.reason !== undefined) return;
    const take = () => runScript(client, TAKE_LEASE, [this.#lease], [name, timing.leaseMs]);
    try {
      if ((await take()) !== 1) return;
    } catch (thrown) {
      logger.warn({ reason: messageOf(thrown) }, 'the lease of the batches could not be taken');
      return;
    }
    const renewal = setInterval(() => {
      take().catch((thrown: unknown) =>
        logger.warn({ reason: messageOf(thrown) }, 'the lease of the batches could not be renewed'),
      );
    }, timing.leaseMs / RENEWALS);
    try {
      await this.#collector.look(this.#stopped.signal);
      await this.#wakeJobs();
    } catch (thrown) {
      logger.warn({ reason: messageOf(thrown) }, 'the batches could not be looked after; it is tried again');
    } finally {
      clearInterval(renewal);
    }
  }

  /** Makes jobs due for which a result has come. A job that runs is looked at again: it may be about to wait. */
  async #wakeJobs(): Promise<void> {
    const { client, calls } = this.#options;
    const wake = `${batchBase(calls.prefix)}:wake`;
    for (const jobKey of await client.smembers(wake)) {
      const { prefix, queue, id } = parseJobKey(jobKey);
      if ((await client.zscore(`${prefix}:${queue}:delayed`, id)) !== null)
        await this.#withJob(jobKey, (job) => promote(job));
      else if ((await client.exists(`${jobKey}:lock`)) === 1) continue;
      await client.srem(wake, jobKey);
    }
  }

  /** The job is not read: its hash may hold megabytes. */
  async #withJob(jobKey: string, use: (job: Job) => Promise<void>): Promise<void> {
    const { prefix, queue: name, id } = parseJobKey(jobKey);
    const queue = new Queue(name, { connection: this.#options.client, prefix, skipMetasUpdate: true });
    try {
      await use(new Job(queue, name, {}, {}, id));
    } finally {
      await queue.close();
    }
  }
}

async function promote(job: Job): Promise<void> {
  try {
    await job.promote();
  } catch (thrown) {
    // It became due by itself.
    if (!/is not in the delayed state/.test(messageOf(thrown))) throw thrown;
  }
}

function leaseKey(prefix: string, account: string): string {
  return `${batchBase(prefix)}:lease:${account}`;
}
