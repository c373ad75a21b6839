import type Anthropic from '@anthropic-ai/sdk';
import { undiciFetch } from './undici-fetch.js';

export interface SdkOptions {
  /** Default: what the SDK finds in the environment (`ANTHROPIC_API_KEY`, …). */
  readonly apiKey?: string;
  /** Default: `ANTHROPIC_BASE_URL`, else the provider's own. */
  readonly baseURL?: string;
}

export interface LoadedSdk {
  readonly sdk: typeof import('@anthropic-ai/sdk');
  readonly client: Anthropic;
  readonly events: (response: Response) => AsyncIterable<{ event: string | null; data: string }>;
}

/**
 * Loads the Anthropic SDK and makes a client. Retries of the SDK are off. Node's built-in fetch gives up when headers take
 * 300 s, so undici is used with its timers off.
 * @param maxBytes The longest response that is read; default: more than the longest answer.
 */
export async function loadSdk({ apiKey, baseURL }: SdkOptions, maxBytes?: number): Promise<LoadedSdk> {
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
    fetch: undiciFetch(undici, maxBytes),
  });
  return { sdk, client, events: (response) => Stream.rawEvents(response) };
}
