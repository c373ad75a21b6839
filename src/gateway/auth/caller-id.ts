import type { Response } from 'express';
import type { Caller } from './caller.js';

/** Id of the token of an admitted request. */
export function callerIdOf(response: Response): string {
  return (response.locals.caller as Caller).id;
}
