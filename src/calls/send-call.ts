import { redactData } from '../config/redact.js';
import { messageOf } from '../errors.js';
import type { Clock } from './clock.js';
import type { ReceivedMessage, TokenCounts } from './message.js';
import { CallFault, type CallOutcome, type OutcomeClass } from './outcome.js';
import { shorten } from './provider-error.js';
import type { CallRequest, Transport } from './transport.js';

export interface CallLimits {
  /** Longest silence inside a stream, counted from its first event, in milliseconds. */
  readonly idleMs: number;
  /** Longest time from sending to the end of the answer, in milliseconds. */
  readonly totalMs: number;
}

export const DEFAULT_CALL_LIMITS: CallLimits = { idleMs: 90_000, totalMs: 1_200_000 };

type EarlyEnd = { readonly class: 'idle' | 'timeout' | 'cancelled'; readonly detail: string };

/**
 * Sends one request and classifies how it ends; it never throws. Whatever ends the call early (abort, silence,
 * total time) closes the socket. It removes its listener from `signal`.
 *
 * @param onBegin called once, when the answer has begun and the provider has said what the prompt is billed as
 */
export async function sendCall(
  request: CallRequest,
  transport: Transport,
  limits: CallLimits,
  clock: Clock,
  signal?: AbortSignal,
  onBegin?: (tokens: TokenCounts) => void,
): Promise<CallOutcome> {
  const socket = new AbortController();
  let ended: EarlyEnd | undefined;
  const end = (reason: EarlyEnd) => {
    ended ??= reason;
    socket.abort();
  };
  const onAbort = () => end({ class: 'cancelled', detail: 'the call was cancelled' });
  if (signal?.aborted) {
    return { class: 'cancelled', detail: 'the call was cancelled before it was sent', neverSent: true };
  }
  signal?.addEventListener('abort', onAbort, { once: true });

  const stopTotal = clock.after(limits.totalMs, () =>
    end({ class: 'timeout', detail: `no whole answer within ${seconds(limits.totalMs)}` }),
  );
  let stopIdle: (() => void) | undefined;
  let hasBegun = false;
  const onEvent = (tokens?: TokenCounts) => {
    if (tokens !== undefined && !hasBegun) {
      hasBegun = true;
      onBegin?.(tokens);
    }
    stopIdle?.();
    stopIdle = clock.after(limits.idleMs, () =>
      end({ class: 'idle', detail: `the stream was silent for ${seconds(limits.idleMs)}` }),
    );
  };

  try {
    const response = await transport.send(request, socket.signal);
    const message = withoutSecrets(await response.message(onEvent), request);
    return { ...classifyMessage(message), status: response.status, headers: response.headers };
  } catch (thrown) {
    // A body that is not read to its end would keep its connection open as long as the server likes.
    socket.abort();
    const outcome = outcomeOf(thrown);
    if (!ended) return outcome;
    return outcome.tokens ? { ...ended, tokens: outcome.tokens } : ended;
  } finally {
    stopTotal();
    stopIdle?.();
    signal?.removeEventListener('abort', onAbort);
  }
}

/** A message without the secrets of this process, except for those in the request: they are part of the script itself. */
function withoutSecrets(message: ReceivedMessage, request: CallRequest): ReceivedMessage {
  let requestText: string | undefined;
  return redactData(message, (secret) => {
    requestText ??= JSON.stringify(request);
    return requestText.includes(JSON.stringify(secret).slice(1, -1));
  });
}

/** Class of each stop reason; one that is not listed is `unknown-stop`. */
const CLASS_OF_STOP: Readonly<Record<string, OutcomeClass>> = {
  end_turn: 'answered',
  stop_sequence: 'answered',
  tool_use: 'answered',
  pause_turn: 'answered',
  max_tokens: 'truncated',
  refusal: 'refused',
  model_context_window_exceeded: 'context-exceeded',
};

/** The class of a whole message, by its stop reason alone. */
export function classifyMessage(message: ReceivedMessage): CallOutcome {
  const { stopReason } = message;
  const known = Object.hasOwn(CLASS_OF_STOP, stopReason) ? CLASS_OF_STOP[stopReason] : undefined;
  const refusal = message.refusal === undefined ? '' : ` (${shorten(message.refusal)})`;
  return {
    class: known ?? 'unknown-stop',
    detail: `the answer ended with ${shorten(stopReason)}${refusal}`,
    message,
    tokens: message.tokens,
  };
}

function outcomeOf(thrown: unknown): CallOutcome {
  if (thrown instanceof CallFault) return thrown.outcome;
  return { class: 'unreachable', detail: shorten(messageOf(thrown)) };
}

function seconds(ms: number): string {
  return `${ms / 1_000} s`;
}
