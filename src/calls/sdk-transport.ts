import type Anthropic from '@anthropic-ai/sdk';
import { rememberAddress, rememberSecrets } from '../config/redact.js';
import { messageOf } from '../errors.js';
import { CallFault } from './outcome.js';
import { providerError, shorten } from './provider-error.js';
import { type CallResponse, recordedHeaders, type Transport } from './transport.js';
import { undiciFetch } from './undici-fetch.js';

export interface SdkTransportOptions {
  /** Default: what the SDK finds in the environment (`ANTHROPIC_API_KEY`, …). */
  readonly apiKey?: string;
  /** Default: `ANTHROPIC_BASE_URL`, else the provider's own. */
  readonly baseURL?: string;
}

type Sdk = typeof import('@anthropic-ai/sdk');

interface Loaded {
  readonly sdk: Sdk;
  readonly client: Anthropic;
  readonly events: (response: Response) => AsyncIterable<{ event: string | null; data: string }>;
}

/** The SDK's own timeout only covers the headers; the total timeout of a call covers all, so it must end first. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Sends calls through the Anthropic SDK, which is loaded at the first call. Retries of the SDK are off. Node's
 * built-in fetch gives up when headers take 300 s, so undici is used with its timers off.
 */
export function sdkTransport(options: SdkTransportOptions = {}): Transport {
  rememberSecrets(options.apiKey);
  if (options.baseURL !== undefined) rememberAddress(options.baseURL);
  let loading: Promise<Loaded> | undefined;
  return {
    async send(request, signal) {
      loading ??= load(options);
      const { sdk, client, events } = await loading;
      try {
        const response = await client.messages
          .create({ ...request, stream: true }, { signal, maxRetries: 0, timeout: NO_TIMEOUT_MS })
          .asResponse();
        return callResponse(response, events);
      } catch (thrown) {
        throw faultOf(thrown, sdk);
      }
    },
  };
}

async function load({ apiKey, baseURL }: SdkTransportOptions): Promise<Loaded> {
  const [sdk, { Stream }, undici] = await Promise.all([
    import('@anthropic-ai/sdk'),
    import('@anthropic-ai/sdk/core/streaming'),
    import('undici'),
  ]);
  const client = new sdk.Anthropic({
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(baseURL === undefined ? {} : { baseURL }),
    maxRetries: 0,
    // At its debug level the SDK writes to standard output, which belongs to the command's own output.
    logLevel: 'off',
    fetch: undiciFetch(undici),
  });
  return { sdk, client, events: (response) => Stream.rawEvents(response) };
}

function callResponse(response: Response, events: Loaded['events']): CallResponse {
  return {
    status: response.status,
    contentType: response.headers.get('content-type') ?? '',
    headers: recordedHeaders(response.headers),
    events: () => events(response),
    text: () => response.text(),
  };
}

function faultOf(thrown: unknown, sdk: Sdk): CallFault {
  if (thrown instanceof sdk.APIConnectionError) {
    const cause = thrown.cause === undefined ? thrown : thrown.cause;
    return new CallFault(
      {
        class: 'unreachable',
        detail: `no answer from the server: ${shorten(rootMessage(cause))}`,
        ...(NEVER_CONNECTED.has(rootCode(cause)) ? { neverSent: true } : {}),
      },
      thrown,
    );
  }
  if (thrown instanceof sdk.APIError && typeof thrown.status === 'number') {
    const headers = thrown.headers === undefined ? {} : recordedHeaders(thrown.headers);
    return new CallFault(providerError(thrown.error ?? thrown.message, thrown.status, headers), thrown);
  }
  if (thrown instanceof sdk.AnthropicError || isMissingKey(thrown)) {
    return new CallFault({ class: 'unauthorized', detail: shorten(messageOf(thrown)) }, thrown);
  }
  return new CallFault({ class: 'unreachable', detail: shorten(messageOf(thrown)) }, thrown);
}

/** Without any credential the SDK throws a plain error before it sends. */
function isMissingKey(thrown: unknown): boolean {
  return /authentication method|api ?key/i.test(messageOf(thrown));
}

/** Failures of making a connection: no byte of the request has left. */
const NEVER_CONNECTED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** The innermost message: fetch says only "fetch failed" and keeps the reason as its cause. */
function rootMessage(thrown: unknown): string {
  const message = messageOf(rootCause(thrown));
  return message === '' ? rootCode(thrown) : message;
}

function rootCode(thrown: unknown): string {
  const innermost = rootCause(thrown);
  return innermost instanceof Error && 'code' in innermost ? String(innermost.code) : '';
}

function rootCause(thrown: unknown): unknown {
  let innermost = thrown;
  for (let depth = 0; depth < 5 && innermost instanceof Error && innermost.cause !== undefined; depth += 1) {
    innermost = innermost.cause;
  }
  return innermost;
}
