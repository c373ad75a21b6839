import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { Job, type JobsOptions, optsDecodeMap, type Queue } from 'bullmq';
import { z } from 'zod';
import type { FleetClient } from '../../producers/fleet-client.js';
import { storedTags } from '../../producers/job-tags.js';
import { storedNumber } from '../../queues/damaged-job.js';
import { readRecord } from '../../queues/read-record.js';
import { jobAddress, runAddress } from '../pages/address.js';

/** Largest field of a job that the board reads, and largest sum over all jobs of one page, in bytes. */
const MAX_FIELD_BYTES = 2 ** 21;
const MAX_PAGE_BYTES = 2 ** 22;
/** Lines of a job's log that are shown, and characters of each. */
const MAX_LOG_LINES = 1_000;
const MAX_LOG_LINE = 4_000;

/** Fields that can be of any size. */
const LARGE = ['data', 'returnvalue', 'failedReason', 'stacktrace', 'progress', 'opts'] as const;
const SMALL = [
  'name',
  'delay',
  'priority',
  'timestamp',
  'ats',
  'atm',
  'stc',
  'finishedOn',
  'processedOn',
] as const;
const MORE = ['rjk', 'deid', 'defa', 'parentKey', 'parent', 'pb'] as const;
type Field = (typeof LARGE | typeof SMALL | typeof MORE)[number];
type Fields = Partial<Record<Field, string>>;

type BoardJobs = Awaited<ReturnType<BullMQAdapter['getJobs']>>;

/** Bytes left for the other jobs of one page. */
interface Room {
  left: number;
}

/**
 * A queue as the board reads it. BullMQ reads every field of every job of a page, twice; here a field that is too large is
 * replaced by its size. The board's actions do not need it.
 */
export class BoardQueue extends BullMQAdapter {
  readonly #fleet: FleetClient;
  readonly #queue: Queue;

  constructor(fleet: FleetClient, queue: Queue, options: { readonly readOnlyMode: boolean }) {
    super(queue, { ...options, externalJobUrl: linkOf });
    this.#fleet = fleet;
    this.#queue = queue;
  }

  override async getJob(id: string): Promise<Job | undefined> {
    return this.#read(id, { left: MAX_PAGE_BYTES });
  }

  override async getJobs(
    ...[statuses, start, end]: Parameters<BullMQAdapter['getJobs']>
  ): Promise<BoardJobs> {
    const types = statuses as Parameters<Queue['getRanges']>[0];
    const room = { left: MAX_PAGE_BYTES };
    const found: Job[] = [];
    for (const id of await this.#queue.getRanges(types, start, end)) {
      const job = await this.#read(id, room);
      if (job !== undefined) found.push(job);
    }
    return found as BoardJobs;
  }

  override async getJobLogs(id: string): Promise<string[]> {
    const { client } = this.#fleet;
    const key = `${this.#queue.toKey(id)}:logs`;
    if ((await client.type(key)) !== 'list') return [];
    const lines = await client.lrange(key, -MAX_LOG_LINES, -1);
    return lines.map((line) => line.slice(0, MAX_LOG_LINE));
  }

  async #read(id: string, room: Room): Promise<Job | undefined> {
    const { client } = this.#fleet;
    const key = this.#queue.toKey(id);
    // Besides its jobs, a queue has keys of other types.
    if ((await client.type(key)) !== 'hash') return undefined;
    const sizes = await Promise.all(LARGE.map((field) => client.hstrlen(key, field)));
    const read: Field[] = [...SMALL, ...MORE];
    const tooLarge: Fields = {};
    for (const [at, field] of LARGE.entries()) {
      const size = sizes[at] ?? 0;
      if (size <= MAX_FIELD_BYTES && size <= room.left) {
        room.left -= size;
        read.push(field);
      } else tooLarge[field] = `… (${size} bytes; ask the API for the job)`;
    }
    const values = await client.hmget(key, ...read);
    const fields: Fields = {};
    for (const [at, field] of read.entries()) {
      const value = values[at];
      if (value !== null && value !== undefined) fields[field] = value;
    }
    return fields.timestamp === undefined ? undefined : this.#jobOf(id, fields, tooLarge);
  }

  #jobOf(id: string, fields: Fields, tooLarge: Fields): Job {
    const text = (field: Field) => fields[field] ?? tooLarge[field];
    const json = (field: Field) =>
      fields[field] ?? (tooLarge[field] === undefined ? undefined : JSON.stringify(tooLarge[field]));
    const number = (field: Field) => storedNumber(fields[field]);
    const job = {
      id,
      name: fields.name ?? '',
      data: isJson(fields.data) ? (json('data') ?? '{}') : JSON.stringify('… (it is no JSON)'),
      opts: optionsOf(fields.opts),
      progress: jsonOr(json('progress'), '… (it is no JSON)') ?? 0,
      delay: number('delay') ?? 0,
      priority: number('priority') ?? 0,
      timestamp: number('timestamp') ?? 0,
      attemptsStarted: number('ats') ?? 0,
      attemptsMade: number('atm') ?? 0,
      stalledCounter: number('stc') ?? 0,
      finishedOn: number('finishedOn'),
      processedOn: number('processedOn'),
      repeatJobKey: fields.rjk,
      deduplicationId: fields.deid,
      failedReason: text('failedReason'),
      deferredFailure: fields.defa,
      stacktrace:
        tooLarge.stacktrace === undefined ? fields.stacktrace : JSON.stringify([tooLarge.stacktrace]),
      returnvalue: json('returnvalue'),
      parentKey: fields.parentKey,
      parent: jsonOr(fields.parent, undefined),
      processedBy: fields.pb,
    };
    return Job.fromJSON(this.#queue, job as unknown as Parameters<typeof Job.fromJSON>[1], id);
  }
}

type LinkOf = NonNullable<NonNullable<ConstructorParameters<typeof BullMQAdapter>[1]>['externalJobUrl']>;

/** From a job on the board to its row on the page of the run; a job without a run leads to the API, which has the whole of it. */
const linkOf: LinkOf = ({ id, data, opts }) => {
  const { run } = storedTags(opts ?? {}, data);
  const job = String(id ?? '');
  return run === undefined
    ? { displayText: 'API', href: jobAddress(job) }
    : { displayText: 'Run', href: runAddress({ name: run, job }) };
};

/** The value of a stored text; `otherwise` if it is damaged, so that the job and the others are still shown. */
function jsonOr(text: string | undefined, otherwise: unknown): unknown {
  const reading = readRecord(z.unknown(), text);
  return reading?.broken === undefined ? reading?.value : otherwise;
}

function isJson(text: string | undefined): boolean {
  return readRecord(z.unknown(), text)?.broken === undefined;
}

/** BullMQ stores options under short names. */
function optionsOf(stored: string | undefined): JobsOptions {
  const names: Readonly<Record<string, string>> = optsDecodeMap;
  return Object.fromEntries(
    Object.entries(jsonOr(stored, {}) ?? {}).map(([name, value]) => [names[name] ?? name, value]),
  );
}
