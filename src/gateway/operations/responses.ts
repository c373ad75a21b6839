import { RequestError } from '../../errors.js';
import type { ResponseSpec } from '../http/operation.js';
import { JobSchema } from './job-schemas.js';

export const WAIT_RESPONSES: Readonly<Record<number, ResponseSpec>> = {
  200: { description: 'With `wait`: the job has ended.', schema: JobSchema },
};

/**
 * The key of a submission: from the body or the Idempotency-Key header. A quoted header is a string of structured fields, as
 * in the header's draft standard.
 *
 * @throws RequestError `malformed-request` if the two differ.
 */
export function keyOf(inBody: string | undefined, inHeader: string | undefined): { key?: string } {
  const fromHeader = inHeader === undefined ? undefined : unquoted(inHeader);
  if (inBody !== undefined && fromHeader !== undefined && inBody !== fromHeader) {
    throw new RequestError('malformed-request', 'Idempotency-Key and key differ', { field: 'key' });
  }
  const key = inBody ?? fromHeader;
  return key === undefined ? {} : { key };
}

function unquoted(header: string): string {
  const inner = /^"((?:[^"\\]|\\["\\])*)"$/.exec(header.trim())?.[1];
  return inner === undefined ? header : inner.replace(/\\(["\\])/g, '$1');
}
