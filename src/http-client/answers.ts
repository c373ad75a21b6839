import type { components, operations } from './openapi-types.js';

type Schemas = components['schemas'];

/** What the gateway answers to a submission. */
export type Submitted = Schemas['Submitted'];
/** A job as the gateway shows it. */
export type HttpJob = Schemas['Job'];
/** All jobs of one pipeline run. */
export type HttpRun = Schemas['Run'];
/** A script of which static analysis was certain and the agent said something else. */
export type HttpDisagreement = Schemas['Disagreement'];
/** What became of each dead letter that a filter selected. */
export type HttpDeadLetterAction = Schemas['DeadLetterAction'];
/** A known solution of a test case. */
export type HttpKnownSolution = Schemas['KnownSolution'];
/** Whether the gateway works. */
export type HttpHealth = Schemas['Health'];

type Json<Content> = Content extends { readonly content: { readonly 'application/json': infer Body } }
  ? Body
  : never;

/**
 * The body of a request. What is submitted has the types of the contracts, which say the same with other words; the gateway
 * validates it.
 */
export type RequestBody<Id extends keyof operations> = Json<operations[Id]['requestBody']>;

/** What a submission that does not wait is answered with: not the job, which it would have waited for. */
export type AcceptedAnswer<Id extends 'add-refinement-step' | 'add-guarded-evaluation'> = Exclude<
  Json<operations[Id]['responses'][202]>,
  HttpJob
>;
