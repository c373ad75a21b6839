import { createHash, randomUUID } from 'node:crypto';
import { PayloadError } from '../errors.js';
import { KIND_NAMES, type KindName } from '../queues/registry.js';

/**
 * A new job id, unique over all kinds: the queue, a hyphen, a random UUID. BullMQ refuses ids with one `:`
 * and ids that are whole numbers; this form is neither.
 */
export function newJobId(queue: string): string {
  return `${queue}-${randomUUID()}`;
}

/**
 * The id of the job that a pipeline knows by a key of its own. The key may hold any characters, since only its
 * digest stands in the id.
 * @throws PayloadError for an empty key.
 */
export function jobIdForKey(queue: string, key: string): string {
  if (key === '') throw new PayloadError('invalid-payload', 'key: is empty', { field: 'key' });
  const digest = createHash('sha256').update(`${queue}\0${key}`, 'utf8').digest('hex');
  return `${queue}-${digest.slice(0, 40)}`;
}

/** The id of a job: by its key where it has one, else a new one. */
export function chooseJobId(queue: string, key: string | undefined): string {
  return key === undefined ? newJobId(queue) : jobIdForKey(queue, key);
}

/** The kind that an id names, or undefined where the id is not of this project's making. */
export function kindOfJobId(id: string): KindName | undefined {
  // Behind a colon BullMQ keeps what belongs to a job.
  return id.includes(':') ? undefined : KIND_NAMES.find((kind) => id.startsWith(`${kind}-`));
}
