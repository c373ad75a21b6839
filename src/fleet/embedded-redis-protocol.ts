import type { ErrorCode } from '../errors.js';

/** Names inside the folder of an embedded Redis. */
export const REDIS_SOCKET = 'redis.sock';
export const CONTROL_SOCKET = 'control.sock';
export const REDIS_LOG = 'redis.log';

/** Start of the folder names of temporary servers. */
export const THROWAWAY_PREFIX = 'solution-fleet-once-';

/**
 * A message of an embedded Redis' supervisor to a user of the server, as one line of JSON on the control socket. The user
 * keeps the connection open as long as it needs the server: the supervisor counts users by connections, and the system
 * closes the connection of a user that ends in any way.
 */
export type SupervisorMessage =
  | { readonly state: 'ready' }
  /** The server is being stopped; ask again when the connection has ended. */
  | { readonly state: 'stopping' }
  | { readonly state: 'failed'; readonly code: ErrorCode; readonly message: string };

/** The first message of a user; a connection without it only checks whether a supervisor exists. */
export const JOIN = 'join\n';

/** Sent when a user no longer needs the server; the supervisor answers by ending the connection. */
export const RELEASE = 'release\n';

export function encodeMessage(message: SupervisorMessage): string {
  return `${JSON.stringify(message)}\n`;
}

export function decodeMessage(line: string): SupervisorMessage {
  return JSON.parse(line) as SupervisorMessage;
}
