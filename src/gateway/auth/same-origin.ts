import type { IncomingMessage } from 'node:http';
import { RequestError } from '../../errors.js';
import type { Caller } from './caller.js';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);
const LOOPBACK_NAMES = new Set(['localhost', '127.0.0.1', '::1']);

/**
 * Rejects changes that a page of another site made a browser send (cross-site request forgery). Browsers report the origin of
 * a request in Sec-Fetch-Site and Origin, which no page can set. A request with its own token needs no such proof: another
 * site does not have it.
 *
 * @throws RequestError `forbidden`.
 */
export function assertSameOrigin(request: IncomingMessage, by: Caller['by']): void {
  if (SAFE_METHODS.has(request.method ?? '') || by === 'token') return;
  if (isFromHere(request) ?? by === 'nothing') return;
  throw new RequestError(
    'forbidden',
    'this change was asked for by another site, or by a browser that hides which',
  );
}

/** Whether a page of this gateway sent the request; undefined if no browser headers say. */
function isFromHere({ headers }: IncomingMessage): boolean | undefined {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const { origin, host } = headers;
  if (origin === undefined) return undefined;
  return URL.canParse(origin) && new URL(origin).host === host;
}

/** How often a header occurs; of `Host` and `Authorization` Node keeps the first and drops the others. */
export function countOf({ rawHeaders }: IncomingMessage, name: string): number {
  return rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === name).length;
}

/** The name in a Host header, without port and brackets. */
function hostName(host: string): string {
  return host
    .replace(/:\d+$/, '')
    .replace(/^\[|\]$/g, '')
    .toLowerCase();
}

/** Whether a Host header, or an address to listen on, means this machine alone. */
export function isLoopback(host: string): boolean {
  // Only headers put an IPv6 address in brackets; without them its end looks like a port.
  return host === '::1' || LOOPBACK_NAMES.has(hostName(host)) || /^127(\.\d{1,3}){3}$/.test(hostName(host));
}

/**
 * A gateway without tokens answers only under loopback names: a foreign name that is made to point at this machine
 * (DNS rebinding) would otherwise let any web page read and submit jobs.
 *
 * @throws RequestError `forbidden`.
 */
export function assertTrustedHost(request: IncomingMessage, trusted: readonly string[]): void {
  const host = request.headers.host ?? '';
  // With several Host headers, a proxy may have checked another one than this.
  const isOne = countOf(request, 'host') === 1;
  if (isOne && (isLoopback(host) || trusted.includes(hostName(host)))) return;
  throw new RequestError(
    'forbidden',
    `a gateway without tokens is not reached as ${JSON.stringify(host)}; use localhost, or list it in FLEET_TRUSTED_HOSTS`,
    { field: 'host' },
  );
}
