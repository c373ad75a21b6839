import { JobError } from '../errors.js';

/** As much of a BullMQ job as is needed to read what its children returned. */
interface Parent {
  readonly id?: string | undefined;
  readonly queueQualifiedName: string;
  getChildrenValues(): Promise<Record<string, unknown>>;
}

/**
 * What the children of a job returned, by the keys of their hashes.
 * @throws JobError `broken-record` where what a child left is damaged: BullMQ would throw the parser's words alone.
 */
export async function childValues(parent: Parent): Promise<Record<string, unknown>> {
  try {
    return await parent.getChildrenValues();
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown;
    const record = `${parent.queueQualifiedName}:${parent.id}:processed`;
    throw new JobError(
      'broken-record',
      `what a child left for the job in ${record} is no JSON: ${thrown.message}`,
      {
        field: record,
        cause: thrown,
        ...(parent.id === undefined ? {} : { jobId: parent.id }),
      },
    );
  }
}
