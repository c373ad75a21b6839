import type { RequestHandler } from 'express';
import { whenOver } from './request-log.js';

/**
 * Disconnects a client that does not read its answer, which is in memory until then. Waits and event streams have bounds of
 * their own.
 */
export function boundSending({
  sendIdleMs,
  sendMs,
}: {
  readonly sendIdleMs: number;
  readonly sendMs: number;
}): RequestHandler {
  return (_request, response, next) => {
    // Node has the whole answer, and the system has the part that fits its buffers.
    response.once('prefinish', () => {
      const { socket } = response;
      if (response.writableFinished || socket === null || socket === undefined) return;
      const timer = setTimeout(() => response.destroy(), sendMs);
      // Without a listener for the timeout the server destroys the socket. Node sets its own timeout for the next request.
      socket.setTimeout(sendIdleMs);
      whenOver(response).addEventListener('abort', () => clearTimeout(timer), { once: true });
    });
    next();
  };
}
