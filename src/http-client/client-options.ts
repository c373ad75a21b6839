import { UsageError } from '../errors.js';
import { type OptionNames, rejectUnknownOptions } from '../known-options.js';

export interface ClientOptions {
  /** Where `fleet serve` listens, as in `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Needed unless the gateway is on loopback; `fleet token add` makes one. */
  readonly token?: string;
  readonly signal?: AbortSignal;
  /** How long a temporarily rejected request is retried, in milliseconds; default 60,000. */
  readonly retryTimeoutMs?: number;
}

const CLIENT_OPTIONS: OptionNames<ClientOptions> = {
  url: true,
  token: true,
  signal: true,
  retryTimeoutMs: true,
};

/** Characters that a header may have; the error of `fetch` shows a token with others. */
const TOKEN = /^[\x21-\x7e]+$/;

/**
 * The options of a client. A token is taken without the line break that a file ends with.
 * @throws PayloadError `invalid-payload` for an option that does not exist.
 * @throws UsageError `usage` for an address or token that cannot be used. It shows neither: an address may hold a password.
 */
export function checkedOptions(options: ClientOptions): ClientOptions {
  rejectUnknownOptions(options, CLIENT_OPTIONS);
  const address = URL.canParse(options.url) ? new URL(options.url) : undefined;
  if (address?.protocol !== 'http:' && address?.protocol !== 'https:') {
    throw new UsageError('usage', 'url: the address of the gateway must begin with http:// or https://');
  }
  if (address.username !== '' || address.password !== '') {
    throw new UsageError(
      'usage',
      'url: the address of the gateway takes no user and no password; pass a token',
    );
  }
  const token = options.token?.trim();
  if (token === undefined) return options;
  if (!TOKEN.test(token)) {
    throw new UsageError('usage', 'token: it is empty, or has characters that no token has');
  }
  return { ...options, token };
}
