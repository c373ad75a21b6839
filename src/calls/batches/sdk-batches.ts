import { createHash } from 'node:crypto';
import { z } from 'zod';
import { rememberAddress, rememberSecrets } from '../../config/redact.js';
import type { PriceList } from '../prices.js';
import { providerError } from '../provider-error.js';
import { type LoadedSdk, loadSdk, type SdkOptions } from '../sdk-client.js';
import { NO_TIMEOUT_MS, sdkFault } from '../sdk-parts.js';
import type { BatchProvider, ProviderBatch } from './batch-provider.js';

/** Longest results of one batch: they are read as a stream. */
const MAX_RESULT_BYTES = 4 * 2 ** 30;
/** Batches on one page of the list. */
const PAGE = 100;

/** What the SDK authenticates with, besides the options of the program. */
const CREDENTIALS = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_PROFILE'] as const;

/** The Message Batches API through the Anthropic SDK, which is loaded at the first use. */
export function sdkBatches(options: SdkOptions = {}, prices?: PriceList): BatchProvider {
  rememberSecrets(options.apiKey);
  if (options.baseURL !== undefined) rememberAddress(options.baseURL);
  let loading: Promise<LoadedSdk> | undefined;
  const load = () => {
    loading ??= loadSdk(options, MAX_RESULT_BYTES);
    return loading;
  };
  const classified = async <T>(use: (sdk: LoadedSdk) => Promise<T>): Promise<T> => {
    const loaded = await load();
    try {
      return await use(loaded);
    } catch (thrown) {
      throw faultOf(thrown, loaded);
    }
  };
  // The SDK never removes its listener from the signal of a request, and that of a worker lives as long as the worker.
  const requestOptions = (signal: AbortSignal) => ({
    signal: AbortSignal.any([signal]),
    maxRetries: 0,
    timeout: NO_TIMEOUT_MS,
  });
  return {
    account: accountOf(options),
    ...(prices === undefined ? {} : { prices }),
    create: (requests, signal) =>
      classified(async ({ client }) => {
        const lines = requests.map(({ customId, params }) => ({ custom_id: customId, params }));
        return asBatch(await client.messages.batches.create({ requests: lines }, requestOptions(signal)));
      }),
    retrieve: (id, signal) =>
      classified(async ({ client }) =>
        asBatch(await client.messages.batches.retrieve(id, {}, requestOptions(signal))),
      ),
    cancel: (id, signal) =>
      classified(async ({ client }) => {
        await client.messages.batches.cancel(id, {}, requestOptions(signal));
      }),
    async *createdSince(time, signal) {
      const loaded = await load();
      try {
        const pages = loaded.client.messages.batches.list({ limit: PAGE }, requestOptions(signal));
        for await (const batch of pages) {
          const known = asBatch(batch);
          if (known.createdAt < time) return;
          yield known;
        }
      } catch (thrown) {
        throw faultOf(thrown, loaded);
      }
    },
    async *results(id, signal) {
      const loaded = await load();
      try {
        yield* await loaded.client.messages.batches.results(id, {}, requestOptions(signal));
      } catch (thrown) {
        throw faultOf(thrown, loaded);
      }
    },
  };
}

function faultOf(thrown: unknown, { sdk }: LoadedSdk) {
  return sdkFault(thrown, { ...sdk, SdkError: sdk.AnthropicError }, providerError);
}

function accountOf({ apiKey, baseURL }: SdkOptions): string {
  const credentials =
    apiKey === undefined ? CREDENTIALS.map((name) => process.env[name] ?? '') : [apiKey, '', ''];
  const address = baseURL ?? process.env.ANTHROPIC_BASE_URL ?? '';
  return createHash('sha256')
    .update(JSON.stringify([address, ...credentials]))
    .digest('hex')
    .slice(0, 16);
}

const count = z.int().nonnegative();

/** What is read of a batch. */
const WireBatchSchema = z.looseObject({
  id: z.string().min(1),
  created_at: z.string(),
  processing_status: z.string(),
  results_url: z.string().nullish(),
  request_counts: z.looseObject({
    canceled: count,
    errored: count,
    expired: count,
    processing: count,
    succeeded: count,
  }),
});

function asBatch(wire: unknown): ProviderBatch {
  const { id, created_at, processing_status, results_url, request_counts } = WireBatchSchema.parse(wire);
  const { canceled, errored, expired, processing, succeeded } = request_counts;
  return {
    id,
    createdAt: Date.parse(created_at),
    requests: canceled + errored + expired + processing + succeeded,
    hasEnded: processing_status === 'ended',
    hasResults: typeof results_url === 'string',
  };
}
