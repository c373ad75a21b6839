import type { Job, Queue } from 'bullmq';
import { JobError, messageOf } from '../errors.js';
import { isJobKey } from './job-key.js';

/** The fields of a job's hash that BullMQ parses, with the replacement for a field that it cannot parse. */
const FIELDS = { data: '{}', opts: '{}', progress: '0', parent: '', parentKey: '', atm: '0' } as const;

/** What BullMQ and ioredis throw if the fields of a job, or the type of its key, are damaged. */
function isDamage(thrown: unknown): boolean {
  if (thrown instanceof SyntaxError || thrown instanceof TypeError || thrown instanceof RangeError)
    return true;
  return isWrongType(thrown);
}

export function isWrongType(thrown: unknown): boolean {
  return messageOf(thrown).includes('WRONGTYPE');
}

/** Reads a job. @throws JobError `broken-record` with the job's id if its stored fields cannot be read. */
export async function readJob(queue: Queue, id: string): Promise<Job | undefined> {
  try {
    return await queue.getJob(id);
  } catch (thrown) {
    if (!isDamage(thrown)) throw thrown;
    // The message of the cause may quote what is stored.
    throw isWrongType(thrown) ? wrongType(id) : brokenJob(id, 'its fields are damaged');
  }
}

export function wrongType(id: string): JobError {
  return brokenJob(id, 'its key is of another type');
}

export function brokenJob(id: string, reason: string): JobError {
  return new JobError('broken-record', `the stored record of job ${id} cannot be read: ${reason}`, {
    jobId: id,
  });
}

/** Why a field of a job's hash cannot be read; undefined if it can. */
function damageIn(name: keyof typeof FIELDS, text: string): string | undefined {
  if (text === '') return undefined;
  if (name === 'atm') return /^\d{1,9}$/.test(text) ? undefined : 'its count of attempts is not a number';
  if (name === 'parentKey') return isJobKey(text) ? undefined : 'its parentKey is not the key of a job';
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null;
    return name === 'opts' && !isObject ? 'its opts are not an object' : undefined;
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError || thrown instanceof RangeError)) throw thrown;
    return `its ${name} is not valid JSON`;
  }
}

/** What is wrong with a job's hash. */
export interface Damage {
  readonly reason: string;
  /** Fields that would also prevent the job from ending. */
  readonly preventsEnd: readonly string[];
}

/** Fields that BullMQ's scripts read again from Redis when a job ends. */
const READ_AT_THE_END: readonly string[] = ['parent', 'parentKey', 'atm'];

/**
 * What is wrong with a job's hash, which Redis returns as alternating names and values; undefined if BullMQ can read it.
 * The damaged fields are replaced in the array by empty ones.
 */
export function repairFields(pairs: unknown[]): Damage | undefined {
  const reasons: string[] = [];
  const names: string[] = [];
  for (let at = 0; at + 1 < pairs.length; at += 2) {
    const name = String(pairs[at]);
    if (!isChecked(name)) continue;
    const reason = damageIn(name, String(pairs[at + 1] ?? ''));
    if (reason === undefined) continue;
    pairs[at + 1] = FIELDS[name];
    reasons.push(reason);
    names.push(name);
  }
  if (reasons.length === 0) return undefined;
  return {
    reason: reasons.join(', '),
    preventsEnd: READ_AT_THE_END.filter((name) => names.includes(name)),
  };
}

function isChecked(name: string): name is keyof typeof FIELDS {
  return Object.hasOwn(FIELDS, name);
}

/** Maximum nesting of stored data that is shown: printing JSON takes stack for each level. */
const MAX_SHOWN_LEVEL = 1_000;

/** Whether stored data are nested too deeply to be shown. */
export function isTooDeep(data: unknown): boolean {
  let level: unknown[] = [data];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_SHOWN_LEVEL) return true;
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
  }
  return false;
}

/** A number of a job's hash; undefined if it is missing or not valid. */
export function storedNumber(text: string | null | undefined): number | undefined {
  if (text === null || text === undefined || text === '') return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : undefined;
}

/** Largest absolute value of a `Date`, in milliseconds since 1970. */
const MAX_TIME = 8.64e15;

/** A time in ISO 8601; undefined if there is none, or a `Date` cannot represent it. */
export function isoTime(ms: number | undefined): string | undefined {
  if (ms === undefined || !(Math.abs(ms) <= MAX_TIME)) return undefined;
  return new Date(ms).toISOString();
}

/** Shown as the creation time of a job if that time cannot be read. */
export const UNKNOWN_TIME = new Date(0).toISOString();
