import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { messageOf } from '../../errors.js';
import type { FleetClient } from '../../producers/fleet-client.js';
import { workerConnection } from '../../queues/connection.js';
import { endClient } from '../../queues/end-client.js';
import { statisticsKeys } from '../../queues/redis-keys.js';
import { ENDED_JOB_FIELDS, type EndedJob, endedJob, totalsOf } from './ended-job.js';
import { GROUP, MAX_DURATIONS, MINUTE_TTL, minuteOf } from './statistics-keys.js';

/**
 * Counts one ended job, once: the gateway that acknowledges its event first adds it.
 * KEYS: 1 event stream, 2 totals, 3 minute, 4 durations.
 * ARGV: 1 group, 2 event, 3 outcome, 4 duration in ms or '', 5 lifetime of the minute in seconds, 6 maximum of durations, then
 * pairs of a field of the totals and what is added.
 * Returns 1 if it was counted, 0 if it had been counted before.
 */
const COUNT_JOB = `
if redis.call('XACK', KEYS[1], ARGV[1], ARGV[2]) == 0 then return 0 end
for i = 7, #ARGV, 2 do redis.call('HINCRBYFLOAT', KEYS[2], ARGV[i], ARGV[i + 1]) end
redis.call('HINCRBY', KEYS[3], ARGV[3], 1)
redis.call('EXPIRE', KEYS[3], ARGV[5])
if ARGV[4] ~= '' then
  redis.call('LPUSH', KEYS[4], ARGV[4])
  redis.call('LTRIM', KEYS[4], 0, ARGV[6] - 1)
end
return 1`;

/**
 * Adds an ended job to the statistics, unless its event was acknowledged before: two gateways may hold the same event if one
 * was so slow that the other took it over.
 *
 * @returns whether it was counted.
 */
export async function countJob(fleet: FleetClient, eventId: string, job: EndedJob): Promise<boolean> {
  const { kind, endedAt, durationMs } = job;
  const keys = statisticsKeys(fleet.prefix);
  const counted = await fleet.client.eval(
    COUNT_JOB,
    4,
    fleet.queue(kind).toKey('events'),
    keys.totals,
    keys.minute(kind, minuteOf(endedAt)),
    keys.durations(kind),
    GROUP,
    eventId,
    job.outcome,
    durationMs ?? '',
    MINUTE_TTL,
    MAX_DURATIONS,
    ...totalsOf(job).flat(),
  );
  return counted === 1;
}

type Entry = [id: string, fields: string[]];
type Streams = [key: string, entries: Entry[]][] | null;

const BLOCK_MS = 1_000;
/** Events of one read: a batch of thousands of jobs writes two for each, which are only to be acknowledged. */
const PAGE = 1_000;
const PAUSE_MS = 1_000;
/** How long an event may be pending at another gateway before this one takes it over, in milliseconds. */
const ABANDONED_MS = 30_000;

/**
 * Counts how jobs end, from the queues' event streams: workers do nothing for it, and each job is counted once however many
 * gateways there are. Events while no gateway runs are counted later, as far back as the streams go (BullMQ keeps about
 * 10,000 events of a queue).
 */
export class Collector {
  readonly #fleet: FleetClient;
  readonly #logger: Logger;
  readonly #reader: Redis;
  readonly #name = randomUUID();
  readonly #running: Promise<void>;
  #closed = false;

  constructor(fleet: FleetClient, redisUrl: string, logger: Logger) {
    this.#fleet = fleet;
    this.#logger = logger;
    this.#reader = new Redis(workerConnection(redisUrl));
    this.#reader.on('error', () => undefined);
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#closed = true;
    endClient(this.#reader);
    await this.#running;
  }

  async #run(): Promise<void> {
    let ready = false;
    let takeOverAt = 0;
    while (!this.#closed) {
      try {
        if (!ready) await this.#createGroups();
        ready = true;
        if (Date.now() >= takeOverAt) {
          await this.#takeOverAbandoned();
          takeOverAt = Date.now() + ABANDONED_MS;
        }
        await this.#readNew();
      } catch (thrown) {
        if (this.#closed) return;
        // A Redis that lost its data has also lost the groups.
        if (messageOf(thrown).includes('NOGROUP')) ready = false;
        else this.#logger.warn({ reason: messageOf(thrown) }, 'jobs cannot be counted; trying again');
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  }

  async #createGroups(): Promise<void> {
    for (const [, queue] of this.#fleet.kindQueues) {
      try {
        await this.#fleet.client.xgroup('CREATE', queue.toKey('events'), GROUP, '0', 'MKSTREAM');
      } catch (thrown) {
        if (!messageOf(thrown).includes('BUSYGROUP')) throw thrown;
      }
    }
  }

  async #readNew(): Promise<void> {
    const keys = this.#fleet.kinds.names.map((kind) => this.#streamOf(kind));
    const streams = (await this.#reader.xreadgroup(
      'GROUP',
      GROUP,
      this.#name,
      'COUNT',
      PAGE,
      'BLOCK',
      BLOCK_MS,
      'STREAMS',
      ...keys,
      ...keys.map(() => '>'),
    )) as Streams;
    for (const [key, entries] of streams ?? []) {
      const kind = this.#fleet.kinds.names[keys.indexOf(key)];
      if (kind !== undefined) await this.#count(kind, entries);
    }
  }

  async #takeOverAbandoned(): Promise<void> {
    for (const kind of this.#fleet.kinds.names) {
      const [, entries] = (await this.#fleet.client.xautoclaim(
        this.#streamOf(kind),
        GROUP,
        this.#name,
        ABANDONED_MS,
        '0',
        'COUNT',
        PAGE,
      )) as [string, Entry[]];
      await this.#count(kind, entries);
    }
    await this.#forgetGoneConsumers();
  }

  /** Every gateway is a consumer with its own name; those that ended long ago with nothing pending are removed. */
  async #forgetGoneConsumers(): Promise<void> {
    for (const kind of this.#fleet.kinds.names) {
      const consumers = (await this.#fleet.client.xinfo(
        'CONSUMERS',
        this.#streamOf(kind),
        GROUP,
      )) as unknown[][];
      for (const consumer of consumers) {
        const [, name, , pending, , idleMs] = consumer;
        if (name === this.#name || Number(pending) > 0 || Number(idleMs) < ABANDONED_MS * 10) continue;
        await this.#fleet.client.xgroup('DELCONSUMER', this.#streamOf(kind), GROUP, String(name));
      }
    }
  }

  async #count(kind: string, entries: readonly Entry[]): Promise<void> {
    const others: string[] = [];
    for (const [id, flat] of entries) {
      const name = fieldOf(flat, 'event');
      const jobId = fieldOf(flat, 'jobId');
      const job =
        name === 'completed' || name === 'failed' ? await this.#readEnded(kind, name, jobId) : undefined;
      if (job === undefined) others.push(id);
      else await countJob(this.#fleet, id, job);
    }
    if (others.length > 0) await this.#fleet.client.xack(this.#streamOf(kind), GROUP, ...others);
  }

  async #readEnded(
    kind: string,
    event: 'completed' | 'failed',
    jobId: string,
  ): Promise<EndedJob | undefined> {
    const key = this.#fleet.queue(kind).toKey(jobId);
    try {
      return endedJob(kind, event, await this.#fleet.client.hmget(key, ...ENDED_JOB_FIELDS));
    } catch (thrown) {
      if (!(thrown instanceof SyntaxError)) throw thrown;
      this.#logger.warn({ kind, jobId, reason: thrown.message }, 'this job cannot be counted');
      return undefined;
    }
  }

  #streamOf(kind: string): string {
    return this.#fleet.queue(kind).toKey('events');
  }
}

function fieldOf(flat: readonly string[], field: string): string {
  const index = flat.findIndex((text, position) => position % 2 === 0 && text === field);
  return index < 0 ? '' : (flat[index + 1] ?? '');
}
