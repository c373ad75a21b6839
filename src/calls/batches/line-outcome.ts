import { z } from 'zod';
import { redactData } from '../../config/redact.js';
import type { EndedCall } from '../../queues/call-record.js';
import { receivedMessage, tooMuchContent, WireMessageSchema } from '../message.js';
import type { CallOutcome } from '../outcome.js';
import { providerError } from '../provider-error.js';
import { classifyMessage } from '../send-call.js';

/** One line of the results of a batch. */
export const ResultLineSchema = z.looseObject({
  custom_id: z.string(),
  result: z.looseObject({ type: z.string(), message: z.unknown().optional(), error: z.unknown().optional() }),
});
type ResultLine = z.infer<typeof ResultLineSchema>;

/**
 * How a request of a batch ended. Only an answer is billed. What has no answer is sent by itself.
 * @param request The request as JSON: a secret in it is part of the script itself.
 */
export function lineOutcome({ result }: ResultLine, request: string): CallOutcome {
  switch (result.type) {
    case 'succeeded':
      return messageOutcome(result.message, request);
    case 'errored':
      return unbilled(errorOutcome(result.error));
    case 'expired':
      return unbilled({ class: 'overloaded', detail: 'the batch expired before the call was processed' });
    case 'canceled':
      return unbilled({
        class: 'cancelled',
        detail: 'the batch was cancelled before the call was processed',
      });
    default:
      return inDoubt(
        `the batch ended the call as "${result.type.slice(0, 40)}", which this version does not know`,
      );
  }
}

/** The batch has ended, or is gone, and does not say how this call ended. */
export function inDoubt(detail: string): CallOutcome {
  return { class: 'incomplete', detail, mayBeBilled: true, inBatch: true };
}

/** The call was never part of a batch at the provider. */
export function unbilled({ class: outcome, detail }: CallOutcome): CallOutcome {
  return { class: outcome, detail, neverSent: true, inBatch: true };
}

/** The end of a call that was removed before its batch was sent. */
export function removedEnd(why: string, at: number): EndedCall {
  return { state: 'failed', at, outcome: 'cancelled', detail: `taken out before its batch was sent: ${why}` };
}

/** An error of a line holds the error of the API, once more in an envelope. */
function errorOutcome(error: unknown): CallOutcome {
  const outcome = providerError(error, undefined, {});
  return { ...outcome, detail: outcome.detail.replace('inside the stream', 'inside the batch') };
}

function messageOutcome(wire: unknown, request: string): CallOutcome {
  const { data } = WireMessageSchema.safeParse(wire);
  const whole = data && receivedMessage(data);
  if (!whole) return inDoubt('the answer in the batch is no whole message');
  const tooMuch = tooMuchContent(whole.content);
  if (tooMuch !== undefined)
    return { class: 'schema-invalid', detail: tooMuch, tokens: whole.tokens, inBatch: true };
  const message = redactData(whole, (secret) => request.includes(JSON.stringify(secret).slice(1, -1)));
  return { ...classifyMessage(message), inBatch: true };
}
