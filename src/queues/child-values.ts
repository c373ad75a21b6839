import type { Redis } from 'ioredis';
import { JobError } from '../errors.js';

/** The part of a BullMQ job that is needed to read what its children returned. */
interface Parent {
  readonly id?: string | undefined;
  readonly queueQualifiedName: string;
  getChildrenValues(): Promise<Record<string, unknown>>;
}

/**
 * What the children of a job returned, by the keys of their hashes.
 * @throws JobError `broken-record` if a child's stored result is damaged: BullMQ would throw only the parser's message.
 */
export async function childValues(parent: Parent): Promise<Record<string, unknown>> {
  try {
    return await parent.getChildrenValues();
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown;
    throw damaged(`${parent.queueQualifiedName}:${parent.id}:processed`, thrown, parent.id);
  }
}

/**
 * What one child of a job returned.
 * @param processed Key of the job's hash of results.
 * @throws JobError `broken-record` if the stored result is damaged.
 */
export async function childValue(client: Redis, processed: string, childKey: string): Promise<unknown> {
  try {
    return JSON.parse((await client.hget(processed, childKey)) ?? 'null');
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown;
    throw damaged(processed, thrown);
  }
}

function damaged(record: string, cause: SyntaxError, jobId?: string): JobError {
  return new JobError('broken-record', `a child's result in ${record} is not valid JSON: ${cause.message}`, {
    field: record,
    cause,
    ...(jobId === undefined ? {} : { jobId }),
  });
}
