import type { PriceList } from '../prices.js';
import type { CallRequest } from '../transport.js';

/** One request of a batch. */
export interface BatchRequest {
  /** 1 to 64 letters, digits, `-` or `_`, unique in its batch. */
  readonly customId: string;
  readonly params: CallRequest;
}

/** A batch as the provider describes it. */
export interface ProviderBatch {
  readonly id: string;
  /** When it was created, in milliseconds since 1970. */
  readonly createdAt: number;
  /** How many requests it has. */
  readonly requests: number;
  /** Whether all its requests have ended. */
  readonly hasEnded: boolean;
  /** Whether its results can be read; the provider deletes them after some weeks. */
  readonly hasResults: boolean;
}

/** The interface for batches of a provider, with the credentials of one account. Each method throws a `CallFault`. */
export interface BatchProvider {
  /** Digest of the address and the credentials: who else has these sees the same batches. */
  readonly account: string;
  /** Prices of the configuration, which come before those of the list. */
  readonly prices?: PriceList;
  create(requests: readonly BatchRequest[], signal: AbortSignal): Promise<ProviderBatch>;
  retrieve(id: string, signal: AbortSignal): Promise<ProviderBatch>;
  cancel(id: string, signal: AbortSignal): Promise<void>;
  /** Batches that were created since a time (ms since 1970), the newest first. */
  createdSince(time: number, signal: AbortSignal): AsyncIterable<ProviderBatch>;
  /** The lines of the results, in any order, as parsed JSON. */
  results(id: string, signal: AbortSignal): AsyncIterable<unknown>;
}
