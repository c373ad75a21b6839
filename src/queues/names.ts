import { z } from 'zod';

/** Half a surrogate pair: no character, and nothing that UTF-8 can hold. */
const HALF_PAIR = /\p{Surrogate}/u;
const HALF_PAIRS = /\p{Surrogate}/gu;

/** A text with U+FFFD in the place of every half surrogate pair, as Redis would store it. */
export function wellFormed(text: string): string {
  return text.replace(HALF_PAIRS, '\ufffd');
}

/**
 * A text that stands in keys, ids or places where only whole characters can be stored. Two different ones that are stored
 * alike would be one.
 */
export function nameField(max: number, min = 1) {
  return z
    .string()
    .min(min)
    .max(max)
    .refine((text) => !HALF_PAIR.test(text), 'holds half a surrogate pair, which is no character')
    .refine((text) => !text.includes('\0'), 'holds a NUL character');
}

/** What a queue of the pipeline's own may be called, but for two dots in a row. */
export const QUEUE_NAME = /^\w[\w.-]{0,99}$/;

/** What a queue of the pipeline's own may be called, in words. */
export const QUEUE_NAME_RULE =
  'must be 1 to 100 letters (a to z), digits, "_", "-" and single ".", with a letter, digit or "_" first';

/** Whether a text can be the name of a queue: names stand in keys of Redis, addresses, logs and on the board. */
export function isQueueName(name: unknown): name is string {
  return typeof name === 'string' && QUEUE_NAME.test(name) && !name.includes('..');
}
