import { createHash, randomUUID } from 'node:crypto';
import { PayloadError } from '../errors.js';

/**
 * A new job id, unique over all kinds: the queue, a hyphen, a random UUID. BullMQ rejects ids with one `:` and ids that
 * are whole numbers; this form is neither.
 */
function newJobId(queue: string): string {
  return `${queue}-${randomUUID()}`;
}

/**
 * The id of the job that a pipeline names by a key. The key may contain any characters, because the id contains only its
 * digest.
 * @throws PayloadError for an empty key.
 */
export function jobIdForKey(queue: string, key: string): string {
  if (key === '') throw new PayloadError('invalid-payload', 'key: is empty', { field: 'key' });
  const digest = createHash('sha256').update(`${queue}\0${key}`, 'utf8').digest('hex');
  return `${queue}-${digest.slice(0, 40)}`;
}

/** The id of a job: derived from its key if it has one, otherwise new. */
export function chooseJobId(queue: string, key: string | undefined): string {
  return key === undefined ? newJobId(queue) : jobIdForKey(queue, key);
}
