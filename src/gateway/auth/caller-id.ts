import type { Response } from 'express';
import type { Caller } from './caller.js';

/** Id of the token that a request came with, once the request was let in. */
export function callerIdOf(response: Response): string {
  return (response.locals.caller as Caller).id;
}
