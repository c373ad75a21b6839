import type Anthropic from '@anthropic-ai/sdk';
import { rememberAddress, rememberSecrets } from '../config/redact.js';
import { providerError } from './provider-error.js';
import { readResponse } from './read-response.js';
import { NO_TIMEOUT_MS, sdkFault, wireResponse } from './sdk-parts.js';
import type { CallResponse, Transport } from './transport.js';
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

/**
 * Sends calls through the Anthropic SDK, which is loaded at the first call. Retries of the SDK are off. Node's
 * built-in fetch gives up when headers take 300 s, so undici is used with its timers off.
 */
export function sdkTransport(options: SdkTransportOptions = {}): Transport {
  rememberSecrets(options.apiKey);
  if (options.baseURL !== undefined) rememberAddress(options.baseURL);
  let loading: Promise<Loaded> | undefined;
  return {
    provider: 'anthropic',
    async send(request, signal) {
      loading ??= load(options);
      const { sdk, client, events } = await loading;
      try {
        const response = await client.messages
          .create({ ...request, stream: true }, { signal, maxRetries: 0, timeout: NO_TIMEOUT_MS })
          .asResponse();
        return callResponse(response, events);
      } catch (thrown) {
        throw sdkFault(thrown, { ...sdk, SdkError: sdk.AnthropicError }, providerError);
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
  const wire = wireResponse(response, () => events(response));
  return { ...wire, message: (onEvent) => readResponse(wire, onEvent) };
}
