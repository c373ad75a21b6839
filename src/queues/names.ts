import { z } from 'zod';

/** Half a surrogate pair: it is not a character, and UTF-8 cannot encode it. */
const HALF_PAIR = /\p{Surrogate}/u;
const HALF_PAIRS = /\p{Surrogate}/gu;

/** A text with U+FFFD for every half surrogate pair, as Redis would store it. */
export function wellFormed(text: string): string {
  return text.replace(HALF_PAIRS, '\ufffd');
}

/**
 * A text that becomes part of keys, ids or other data in which only whole characters can be stored. Otherwise two
 * different texts could be stored as the same one.
 */
export function nameField(max: number, min = 1) {
  return z
    .string()
    .min(min)
    .max(max)
    .refine((text) => !HALF_PAIR.test(text), 'contains half a surrogate pair, which is not a character')
    .refine((text) => !text.includes('\0'), 'contains a NUL character');
}

/** Pattern for the names of pipeline queues; two dots in a row are forbidden as well. */
export const QUEUE_NAME = /^\w[\w.-]{0,99}$/;

/** The rule for the names of pipeline queues, for messages. */
export const QUEUE_NAME_RULE =
  'must be 1 to 100 letters (a to z), digits, "_", "-" and single ".", with a letter, digit or "_" first';

/** Whether a text can be the name of a queue: names occur in Redis keys, URLs, logs and on the dashboard. */
export function isQueueName(name: unknown): name is string {
  return typeof name === 'string' && QUEUE_NAME.test(name) && !name.includes('..');
}
