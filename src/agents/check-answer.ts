import { z } from 'zod';
import { type ReceivedMessage, textOf } from '../calls/message.js';
import { wellFormed } from './well-formed.js';

/** An answer that can be used, or the problem with it, in words for the agent. */
type CheckedAnswer<Output> =
  | { readonly ok: true; readonly output: Output }
  | { readonly ok: false; readonly problem: string };

const MAX_ISSUES = 5;

/** Checks the text of a finished answer. */
export type AnswerCheck<Output> = (text: string) => CheckedAnswer<Output>;

/** Longest usable answer, in characters: more than a script of the largest size with every character escaped once. */
const MAX_ANSWER = 2 ** 21;

const TOO_LONG = `The answer has more than ${MAX_ANSWER} characters.`;

/** Plain text has to say something. */
export const checkText: AnswerCheck<string> = (text) => {
  if (text.length > MAX_ANSWER) return { ok: false, problem: TOO_LONG };
  return text.trim() === ''
    ? { ok: false, problem: 'The answer was empty.' }
    : { ok: true, output: wellFormed(text) };
};

/**
 * Structured output must be one JSON document that fits the schema. JSON inside other text, or inside a fence, is not
 * accepted: a script can imitate that.
 */
export function checkBySchema<Output>(schema: z.ZodType<Output>): AnswerCheck<Output> {
  return (text) => {
    if (text.length > MAX_ANSWER) return { ok: false, problem: TOO_LONG };
    let json: unknown;
    try {
      // An escape may encode half a surrogate pair, which UTF-8 cannot represent.
      json = JSON.parse(text, (_name, value: unknown) =>
        typeof value === 'string' ? wellFormed(value) : value,
      );
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { ok: false, problem: `The answer is not one JSON document: ${reason}` };
    }
    const parsed = schema.safeParse(json);
    if (parsed.success) return { ok: true, output: parsed.data };
    const issues = parsed.error.issues.slice(0, MAX_ISSUES);
    return { ok: false, problem: `The answer does not fit the schema:\n${z.prettifyError({ issues })}` };
  };
}

/** Whether a message is the end of a conversation, and not a request to go on. */
export function isFinal(message: ReceivedMessage): boolean {
  return message.stopReason !== 'tool_use' && message.stopReason !== 'pause_turn';
}

/** Text of an answer that came in several parts because its turn was paused. */
export function wholeText(parts: readonly string[], last: ReceivedMessage): string {
  return [...parts, textOf(last)].join('');
}
