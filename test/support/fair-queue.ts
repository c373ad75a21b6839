import type { Redis } from 'ioredis';
import { type SchedulingRequest, scheduleJobs } from '../../src/queues/fairness/schedule-jobs.js';
import { UNSCHEDULED } from '../../src/queues/fairness/schedule-script.js';
import { takeJobs } from './take-jobs.js';

const BAND = 2 ** 32;

/** A queue whose jobs have only what fair queueing uses: their position in the order and their priority. */
export class FairQueue {
  readonly key: string;

  constructor(
    private readonly client: Redis,
    readonly prefix: string,
    private readonly rebaseAt?: number,
  ) {
    this.key = `${prefix}:extract`;
  }

  /** Adds jobs as BullMQ does, and schedules them. @returns their tags. */
  async add(requests: readonly SchedulingRequest[]): Promise<number[]> {
    await this.addUnscheduled(requests);
    await this.schedule(requests);
    return this.tags(requests.map(({ id }) => id));
  }

  async addUnscheduled(requests: readonly SchedulingRequest[]): Promise<void> {
    const first = (await this.client.incrby(`${this.key}:pc`, requests.length)) - requests.length;
    const transaction = this.client.pipeline();
    for (const [at, { id }] of requests.entries()) {
      transaction.hset(`${this.key}:${id}`, 'priority', UNSCHEDULED);
      transaction.zadd(`${this.key}:prioritized`, UNSCHEDULED * BAND + first + at, id);
    }
    await transaction.exec();
  }

  schedule(requests: readonly SchedulingRequest[]): Promise<void> {
    return scheduleJobs(this.client, this.prefix, 'extract', requests, this.rebaseAt);
  }

  tags(ids: readonly string[]): Promise<number[]> {
    return Promise.all(
      ids.map(async (id) => Number(await this.client.hget(`${this.key}:${id}`, 'priority'))),
    );
  }

  waiting(): Promise<string[]> {
    return this.client.zrange(`${this.key}:prioritized`, '0', '-1');
  }

  remove(id: string): Promise<number> {
    return this.client.zrem(`${this.key}:prioritized`, id);
  }

  take(count: number): Promise<string[]> {
    return takeJobs(this.client, this.prefix, 'extract', count);
  }
}

/** Ids of jobs. */
export function numbered(name: string, count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, at) => `${name}${at + from}`);
}
