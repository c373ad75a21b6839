import type { IncomingMessage } from 'node:http';
import { RequestError } from '../../errors.js';
import type { Gateway } from '../gateway.js';
import { includesRole, type Role } from './roles.js';

/** Who sent a request. */
export interface Caller {
  /** Id of the token, or `anyone` where none is asked for. */
  readonly id: string;
  readonly role: Role;
  /** How it is known: by a token in the request itself, by a browser's cookie, or not at all. */
  readonly by: 'token' | 'cookie' | 'nothing';
}

/** Name of the cookie of a browser session. */
export const SESSION_COOKIE = 'fleet_session';

/** The value of a cookie. */
export function cookieOf(request: IncomingMessage, name: string): string | undefined {
  for (const part of (request.headers.cookie ?? '').split(';')) {
    const [key, value] = part.split('=', 2);
    if (key?.trim() === name) return value?.trim();
  }
  return undefined;
}

/**
 * Finds out who sent a request. A token in the request counts before a cookie.
 * @throws RequestError `unauthenticated`.
 */
export async function identify(request: IncomingMessage, gateway: Gateway): Promise<Caller> {
  if (!gateway.authenticates) return { id: 'anyone', role: 'admin', by: 'nothing' };
  const header = request.headers.authorization;
  if (header !== undefined) {
    const token = /^Bearer +(\S+) *$/i.exec(header)?.[1];
    const record = token === undefined ? undefined : await gateway.tokens.find(token);
    if (record === undefined)
      throw new RequestError('unauthenticated', 'the token of this request is not in force');
    return { id: record.id, role: record.role, by: 'token' };
  }
  const session = cookieOf(request, SESSION_COOKIE);
  const record = session === undefined ? undefined : await gateway.tokens.findSession(session);
  if (record === undefined) throw new RequestError('unauthenticated', 'this request has no token');
  return { id: record.id, role: record.role, by: 'cookie' };
}

/** @throws RequestError `forbidden` where the caller's role does not include the one needed. */
export function requireRole(caller: Caller, needed: Role): void {
  if (includesRole(caller.role, needed)) return;
  throw new RequestError(
    'forbidden',
    `this needs a token with the role ${needed}; this one has ${caller.role}`,
  );
}
