import { createHash } from 'node:crypto';
import { answerKey } from '../../queues/redis-keys.js';
import type { PlannedCall } from '../call-interceptor.js';

/**
 * Where the answer to a call is found by other jobs. The digest is that of the whole request: model, texts, tools, schema, token
 * limit and all other parameters. The same request to another provider or server may have another answer, and no tenant gets
 * an answer of another one.
 * @param tenant Undefined for jobs that name none.
 */
export function keyOfAnswer(
  prefix: string,
  tenant: string | undefined,
  { digest, provider = 'anthropic', server = '' }: Pick<PlannedCall, 'digest' | 'provider' | 'server'>,
): string {
  const named = JSON.stringify([tenant ?? null, provider, server, digest]);
  return answerKey(prefix, createHash('sha256').update(named, 'utf8').digest('base64url'));
}
