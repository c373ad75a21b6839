import type { MessageCreateParamsNonStreaming } from '@anthropic-ai/sdk/resources/messages';
import { redactErrorText } from '../config/redact.js';

/** Body of one request to the Messages API. It is always sent with `stream: true`. */
export type CallRequest = Omit<MessageCreateParamsNonStreaming, 'stream'>;

/** A response whose status is 2xx, of whatever content type. */
export interface CallResponse {
  readonly status: number;
  readonly contentType: string;
  /** Headers worth keeping (see `CallOutcome.headers`). */
  readonly headers: Readonly<Record<string, string>>;
  /** Events of an event stream, `ping` included. */
  events(): AsyncIterable<{ readonly event: string | null; readonly data: string }>;
  /** The whole body as text. */
  text(): Promise<string>;
}

/** Sends requests. No other module knows the wire format. */
export interface Transport {
  /**
   * Resolves when the headers have come. An abort of `signal` closes the socket, before and after that.
   *
   * @throws {CallFault} no response, or an unsuccessful one
   */
  send(request: CallRequest, signal: AbortSignal): Promise<CallResponse>;
}

const RECORDED_HEADERS = /^(retry-after|x-should-retry|request-id|anthropic-ratelimit-.*)$/;

export function recordedHeaders(headers: Iterable<readonly [string, string]>): Record<string, string> {
  return Object.fromEntries(
    [...headers]
      .filter(([name]) => RECORDED_HEADERS.test(name.toLowerCase()))
      .map(([name, value]) => [redactErrorText(name), redactErrorText(value)]),
  );
}
