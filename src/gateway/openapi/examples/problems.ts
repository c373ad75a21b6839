import { FleetError } from '../../../errors.js';
import { type Problem, problemOf } from '../../http/problem.js';
import { CHECK_ID } from './values.js';

const REFUSALS: Readonly<Record<number, FleetError>> = {
  400: new FleetError('malformed-request', 'limit: is an unknown parameter', { field: 'limit' }),
  401: new FleetError('unauthenticated', 'this request needs a token'),
  403: new FleetError('forbidden', 'this needs a token of the role admin'),
  404: new FleetError('job-not-found', `there is no job "${CHECK_ID}"`),
  408: new FleetError('request-too-slow', 'the body came too slowly'),
  409: new FleetError('key-conflict', 'the key names a job with another payload', {
    field: 'key',
    jobId: CHECK_ID,
  }),
  413: new FleetError('payload-too-large', 'the body is larger than 33554432 bytes'),
  415: new FleetError('unsupported-media-type', 'send application/json'),
  422: new FleetError('invalid-payload', 'payload.solution.content: the script is empty', {
    field: 'payload.solution.content',
  }),
  429: new FleetError('too-many-waiting', '100000 solution-check jobs wait, the limit is 100000'),
  500: new FleetError('internal', 'a defect'),
  503: new FleetError('redis-unreachable', 'Redis does not answer'),
};

/** An example of the problem document that a refusal with this status has. */
export function problemExample(status: number): Problem | undefined {
  const refusal = REFUSALS[status];
  return refusal && problemOf(refusal, '1f3870be-274f-4c49-b3e3-1a0c6728957f');
}
