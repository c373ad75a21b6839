import type { RequestHandler } from 'express';
import { whenOver } from './request-log.js';

/**
 * Cuts off a client that does not take its answer: what is ready for it is in memory until then. Waits and event
 * streams are not over yet, and have bounds of their own.
 */
export function boundSending({
  sendIdleMs,
  sendMs,
}: {
  readonly sendIdleMs: number;
  readonly sendMs: number;
}): RequestHandler {
  return (_request, response, next) => {
    // The whole answer is with Node, and as far as the client took it with the system.
    response.once('prefinish', () => {
      const { socket } = response;
      if (response.writableFinished || socket === null || socket === undefined) return;
      const timer = setTimeout(() => response.destroy(), sendMs);
      // Nobody listens to the timeout, so the server destroys the socket. With the next request Node sets its own.
      socket.setTimeout(sendIdleMs);
      whenOver(response).addEventListener('abort', () => clearTimeout(timer), { once: true });
    });
    next();
  };
}
