import type { IncomingMessage } from 'node:http';
import { RequestError } from '../../errors.js';

/** Headers in which proxies report where a request came from. */
const FORWARDED =
  /^(?:forwarded|via|x-forwarded(?:-.+)?|x-real-ip|x-client-ip|x-cluster-client-ip|x-original-.+|x-rewrite-url|x-varnish|client-ip|cdn-loop|fly-.+|x-appengine-.+|x-vercel-.+|tailscale-.+|(?:x-)?ngrok-.+|x-envoy-.+|true-client-ip|cf-.+|fastly-.+|x-amzn-.+|x-arr-.+|x-azure-.+|x-proxyuser-ip|proxy-connection)$/;

/**
 * Rejects requests that a proxy passed on to a gateway without tokens: through a proxy on this machine, every request looks
 * local.
 *
 * @throws RequestError `forbidden`.
 */
export function assertNotForwarded({
  headers,
  url,
  originalUrl = url,
}: IncomingMessage & { readonly originalUrl?: string }): void {
  if (originalUrl !== undefined && !originalUrl.startsWith('/')) {
    throw new RequestError(
      'forbidden',
      'the request names a whole address, as one to a proxy does, and a gateway without tokens takes direct requests alone',
    );
  }
  const header = Object.keys(headers).find((name) => FORWARDED.test(name));
  if (header === undefined) return;
  throw new RequestError(
    'forbidden',
    `the header ${JSON.stringify(header)} says that a proxy passed this request on, and a gateway without tokens takes requests of this machine alone; make a token with "fleet token add"`,
    { field: header },
  );
}
