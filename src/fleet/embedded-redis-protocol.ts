import type { ErrorCode } from '../errors.js';

/** Names inside the folder of an embedded Redis. */
export const REDIS_SOCKET = 'redis.sock';
export const CONTROL_SOCKET = 'control.sock';
export const REDIS_LOG = 'redis.log';

/** How the folders of throw-away servers begin. */
export const THROWAWAY_PREFIX = 'solution-fleet-once-';

/**
 * What the supervisor of an embedded Redis says to a user of it, as one line of JSON on the control socket. The
 * user keeps the connection for as long as it needs the server: that is how users are counted, and the system
 * ends the connection of a user that dies in whatever way.
 */
export type SupervisorMessage =
  | { readonly state: 'ready' }
  /** The server is being stopped; ask again when the connection has ended. */
  | { readonly state: 'stopping' }
  | { readonly state: 'failed'; readonly code: ErrorCode; readonly message: string };

/** What a user says first; a connection that does not say it only asks whether a supervisor is there. */
export const JOIN = 'join\n';

/** What a user says when it needs the server no more; the supervisor answers by ending the connection. */
export const RELEASE = 'release\n';

export function encodeMessage(message: SupervisorMessage): string {
  return `${JSON.stringify(message)}\n`;
}

export function decodeMessage(line: string): SupervisorMessage {
  return JSON.parse(line) as SupervisorMessage;
}
