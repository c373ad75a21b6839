/** The fleet over HTTP: no Redis, no queue library and no agent code is loaded. */
export type { HttpAddOptions } from './add-options.js';
export type {
  HttpDeadLetterAction,
  HttpDisagreement,
  HttpHealth,
  HttpJob,
  HttpKnownSolution,
  HttpRun,
  Submitted,
} from './answers.js';
export type { HttpClaim, HttpClaimOptions, HttpFailOptions } from './claims.js';
export type { ClientOptions } from './client-options.js';
export type { HttpDeadLetter, HttpDeadLetterQuery, HttpDeadLetters } from './dead-letters.js';
export {
  FleetHttpClient,
  type HttpBatchItem,
  type HttpJobQuery,
} from './fleet-http-client.js';
export type { HttpEventOptions, HttpJobEvent } from './job-events.js';
export type { HttpKnownSolutions, HttpNewKnownSolution } from './known-solutions.js';
