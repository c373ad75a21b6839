import type { Redis } from 'ioredis';
import { UsageError } from '../../errors.js';
import { nearestName } from '../../nearest-name.js';
import { servedKinds } from '../../queues/unserved-children.js';

/**
 * Rejects a text that names no kind: its job would wait forever. Other workers may serve kinds that this one does not
 * know. So a kind exists if this worker knows it, a connected worker reports it, or its queue has had a job.
 * @throws UsageError `unknown-kind` with the most similar name, or all names.
 */
export async function assertKindExists(
  client: Redis,
  { prefix, kinds }: { readonly prefix: string; readonly kinds: readonly string[] },
  name: string,
  jobId: string,
): Promise<void> {
  const served = (await servedKinds(client, prefix)) ?? new Set<string>();
  // BullMQ writes this key with the first job of a queue.
  if (served.has(name) || (await client.exists(`${prefix}:${name}:meta`)) === 1) return;
  const known = [...new Set([...kinds, ...served])];
  const nearest = nearestName(name, known);
  const suggestion =
    nearest === undefined ? `the kinds are: ${known.join(', ')}` : `the most similar kind is "${nearest}"`;
  const message = `work.jobs.child: "${name}" is not a kind of this worker, no connected worker serves it, and its queue never had a job; ${suggestion}. If other workers serve it, pass its definition instead of its name, or start one of them`;
  throw new UsageError('unknown-kind', message, { jobId, field: 'kind' });
}
