import { JobError } from '../../errors.js';
import { submissionKey } from '../../queues/redis-keys.js';
import { runScript, script } from '../../queues/run-script.js';
import type { FleetClient } from '../fleet-client.js';

/** How long a submission that was interrupted keeps its key for its content, in milliseconds, if it stored nothing. */
const RESERVED_MS = 60_000;

/** Returns 1 if the key is reserved for this content, or was; 0 if it is for other content. KEYS: 1 reservation. ARGV: 1 content, 2 time. */
const RESERVE = script(`
local content = redis.call('GET', KEYS[1])
if content and content ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`);

/** KEYS: 1 reservation. ARGV: 1 content. */
const RELEASE = script(`if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end`);

/**
 * Submits a batch while no submission with its key and other content does. Its jobs name the content afterward. Two
 * submissions at once would otherwise mix: of each job the first one stays, and a longer batch would add candidates to a
 * shorter one.
 * @param id What the key of the batch stands for.
 * @throws JobError `key-conflict` if another submission with other content is under way.
 */
export async function whileReserved<T>(
  fleet: FleetClient,
  id: string,
  content: string,
  submit: () => Promise<T>,
): Promise<T> {
  const keys = [submissionKey(fleet.prefix, id)];
  if ((await runScript(fleet.client, RESERVE, keys, [content, RESERVED_MS])) === 0) {
    const message = 'the key of this submission names another batch, which is just being submitted';
    throw new JobError('key-conflict', message, { jobId: id, field: 'key' });
  }
  try {
    return await submit();
  } finally {
    // It expires anyway.
    await runScript(fleet.client, RELEASE, keys, [content]).catch(() => undefined);
  }
}
