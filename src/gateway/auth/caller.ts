import type { IncomingMessage } from 'node:http';
import { RequestError } from '../../errors.js';
import type { Gateway, GatewaySettings } from '../gateway.js';
import { includesRole, type Role } from './roles.js';
import { assertTrustedHost, countOf } from './same-origin.js';

/** Headers in which proxies report where a request came from. */
const FORWARDED =
  /^(?:forwarded|via|x-forwarded(?:-.+)?|x-real-ip|x-client-ip|x-cluster-client-ip|x-original-.+|x-rewrite-url|x-varnish|client-ip|cdn-loop|fly-.+|x-appengine-.+|x-vercel-.+|tailscale-.+|(?:x-)?ngrok-.+|x-envoy-.+|true-client-ip|cf-.+|fastly-.+|x-amzn-.+|x-arr-.+|x-azure-.+|x-proxyuser-ip|proxy-connection)$/;

/**
 * Rejects requests that a proxy passed on to a gateway without tokens: through a proxy on this machine, every request looks
 * local.
 *
 * @throws RequestError `forbidden`.
 */
function assertNotForwarded({
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

/** Who sent a request. */
export interface Caller {
  /** Id of the token, or `anyone` if none is required. */
  readonly id: string;
  readonly role: Role;
  /** The tenant that its token is bound to. */
  readonly tenant?: string | undefined;
  /** How it was identified: by a token in the request, by a browser's cookie, or not at all. */
  readonly by: 'token' | 'cookie' | 'nothing';
}

/** Name of the cookie of a browser session if `FLEET_SECURE_COOKIES` is off. */
export const SESSION_COOKIE = 'fleet_session';

/**
 * Name of the cookie of a browser session. With HTTPS, its prefix prevents other hosts of the domain and pages without HTTPS
 * from setting it.
 */
export function sessionCookie({ secureCookies }: Pick<GatewaySettings, 'secureCookies'>): string {
  return secureCookies ? `__Host-${SESSION_COOKIE}` : SESSION_COOKIE;
}

/** The value of a cookie; undefined also if there are several: another party has set one of them. */
export function cookieOf(request: IncomingMessage, name: string): string | undefined {
  const values = new Set<string>();
  for (const part of (request.headers.cookie ?? '').split(';')) {
    const at = part.indexOf('=');
    if (at >= 0 && part.slice(0, at).trim() === name) values.add(part.slice(at + 1).trim());
  }
  const [value] = values;
  return values.size === 1 ? value : undefined;
}

/**
 * Finds out who sent a request. A token in the request counts before a cookie.
 * @throws RequestError `unauthenticated`; `forbidden` if a gateway without tokens is reached from another machine.
 */
export async function identify(request: IncomingMessage, gateway: Gateway): Promise<Caller> {
  const { authorization } = request.headers;
  if (!(await gateway.access.needsToken())) {
    assertTrustedHost(request, gateway.settings.trustedHosts);
    assertNotForwarded(request);
    if (authorization === undefined) return { id: 'anyone', role: 'admin', by: 'nothing' };
    throw new RequestError(
      'unauthenticated',
      'this gateway has no tokens, so the one of this request is not in force; send none, or make one with "fleet token add"',
    );
  }
  if (authorization !== undefined) {
    const token = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
    const isOne = token !== undefined && countOf(request, 'authorization') === 1;
    const record = isOne ? await gateway.tokens.find(token) : undefined;
    if (record === undefined)
      throw new RequestError('unauthenticated', 'the token of this request is not in force');
    return { id: record.id, role: record.role, tenant: record.tenant, by: 'token' };
  }
  const session = cookieOf(request, sessionCookie(gateway.settings));
  const record = session === undefined ? undefined : await gateway.tokens.findSession(session);
  if (record === undefined) throw new RequestError('unauthenticated', 'this request has no token');
  return { id: record.id, role: record.role, tenant: record.tenant, by: 'cookie' };
}

/**
 * Checks that the sender of a request has a role.
 * @throws RequestError as `identify`; `forbidden` if the caller's role does not include the needed one.
 */
export async function authorize(request: IncomingMessage, gateway: Gateway, needed: Role): Promise<Caller> {
  const caller = await identify(request, gateway);
  requireRole(caller, needed);
  return caller;
}

/** What ends a caller's streams and waits: the gateway closes, or the first token was made. */
export function endsOfAccess(gateway: Gateway, { by }: Caller): AbortSignal[] {
  return by === 'nothing' ? [gateway.closing, gateway.access.closed] : [gateway.closing];
}

/** @throws RequestError `forbidden` if the caller's role does not include the needed one. */
export function requireRole(caller: Caller, needed: Role): void {
  if (includesRole(caller.role, needed)) return;
  throw new RequestError(
    'forbidden',
    `this needs a token with the role ${needed}; this one has ${caller.role}`,
  );
}
