import { z } from 'zod';
import { type ReceivedMessage, textOf } from '../calls/message.js';
import { wellFormed } from './well-formed.js';

/** An answer that can be used, or the problem with it, in words for the agent. */
type CheckedAnswer<Output> =
  | { readonly ok: true; readonly output: Output; readonly note?: string }
  | { readonly ok: false; readonly problem: string };

const MAX_ISSUES = 5;

/** Checks the text of a finished answer. */
export type AnswerCheck<Output> = (text: string) => CheckedAnswer<Output>;

/** Longest usable answer, in characters: more than a script of the largest size with every character escaped once. */
const MAX_ANSWER = 2 ** 21;

const TOO_LONG = `The answer has more than ${MAX_ANSWER} characters.`;

/** Plain text has to say something. */
export const checkText: AnswerCheck<string> = (answer) => {
  if (answer.length > MAX_ANSWER) return { ok: false, problem: TOO_LONG };
  const { text, note } = withoutBom(answer);
  return text.trim() === ''
    ? { ok: false, problem: 'The answer was empty.' }
    : { ok: true, output: wellFormed(text), ...(note === undefined ? {} : { note }) };
};

/** An answer without its wrapping, and what was taken off. */
interface Unwrapped {
  readonly text: string;
  readonly note?: string;
}

/** Takes off a byte order mark: it is no part of a text or of JSON. */
function withoutBom(text: string): Unwrapped {
  if (!text.startsWith('\uFEFF')) return { text };
  return { text: text.slice(1), note: 'an answer began with a byte order mark, which was taken off' };
}

const FENCE = '```';

/**
 * The content of an answer that is one fence and nothing else: gateways between the fleet and a model may drop the schema of a
 * request, and models then wrap their JSON. Prose around a fence stays, so the answer is refused: a script can imitate that.
 */
function withoutFence({ text, note }: Unwrapped): Unwrapped {
  const trimmed = text.trim();
  if (trimmed.length < 2 * FENCE.length || !trimmed.startsWith(FENCE) || !trimmed.endsWith(FENCE))
    return note === undefined ? { text } : { text, note };
  const inner = trimmed.slice(FENCE.length, -FENCE.length);
  const fenced =
    'an answer was one fence of JSON, which was unwrapped: the provider does not keep to structured output';
  return {
    text: /^json\s/i.test(inner) ? inner.slice('json'.length) : inner,
    note: note === undefined ? fenced : `${note}; ${fenced}`,
  };
}

/**
 * Structured output must be one JSON document that fits the schema. One fence around all of it, and a byte order mark, are
 * taken off once. JSON inside other text is not accepted.
 */
export function checkBySchema<Output>(schema: z.ZodType<Output>): AnswerCheck<Output> {
  return (answer) => {
    if (answer.length > MAX_ANSWER) return { ok: false, problem: TOO_LONG };
    const { text, note } = withoutFence(withoutBom(answer));
    let json: unknown;
    try {
      // An escape may encode half a surrogate pair, which UTF-8 cannot represent.
      json = JSON.parse(text, (_name, value: unknown) =>
        typeof value === 'string' ? wellFormed(value) : value,
      );
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return {
        ok: false,
        problem: `The answer is not one JSON document, so the provider does not keep to structured output: ${reason}`,
      };
    }
    const parsed = schema.safeParse(json);
    if (parsed.success) return { ok: true, output: parsed.data, ...(note === undefined ? {} : { note }) };
    const issues = parsed.error.issues.slice(0, MAX_ISSUES);
    return { ok: false, problem: `The answer does not fit the schema:\n${z.prettifyError({ issues })}` };
  };
}

/** The same, or a text with fenced code. */
export function checkBySchemaOrFence<Output>(schema: z.ZodType<Output>): AnswerCheck<Output | string> {
  const bySchema = checkBySchema(schema);
  return (answer) => {
    const checked = bySchema(answer);
    return checked.ok || !answer.includes(FENCE) ? checked : checkText(answer);
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
