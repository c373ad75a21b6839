import type { MessageCreateParamsNonStreaming } from '@anthropic-ai/sdk/resources/messages';
import { redactErrorText } from '../config/redact.js';
import type { ReceivedMessage, TokenCounts } from './message.js';

/** One request, in the form of the Messages API whatever the provider is. The answer is always streamed. */
export type CallRequest = Omit<MessageCreateParamsNonStreaming, 'stream'>;

/** A response whose status is 2xx, of whatever content type. */
export interface CallResponse {
  readonly status: number;
  /** Headers worth keeping (see `CallOutcome.headers`). */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Reads the answer to its end.
   *
   * @param onEvent called for every event of a stream, so that a silent one is noticed; with what the provider has counted so
   *   far, if it says so before the end
   * @throws {CallFault} it is not whole, or no answer
   */
  message(onEvent: (tokens?: TokenCounts) => void): Promise<ReceivedMessage>;
}

/** Whose API is spoken, by the names of OpenTelemetry's conventions. */
export type Provider = 'anthropic' | 'openai';

/** Sends requests. No other module knows the wire format of a provider. */
export interface Transport {
  readonly provider: Provider;
  /** Which server it is, and in which dialect it is asked, where that may change an answer; default: the usual one. */
  readonly server?: string;
  /**
   * Resolves when the headers have come. An abort of `signal` closes the socket, before and after that.
   *
   * @throws {CallFault} no response, or an unsuccessful one
   */
  send(request: CallRequest, signal: AbortSignal): Promise<CallResponse>;
}

const RECORDED_HEADERS = /^(retry-after|x-should-retry|(?:x-)?request-id|(?:anthropic|x)-ratelimit-.*)$/;

export function recordedHeaders(headers: Iterable<readonly [string, string]>): Record<string, string> {
  return Object.fromEntries(
    [...headers]
      .filter(([name]) => RECORDED_HEADERS.test(name.toLowerCase()))
      .map(([name, value]) => [redactErrorText(name), redactErrorText(value)]),
  );
}
