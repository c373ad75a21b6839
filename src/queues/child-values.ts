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
    const record = `${parent.queueQualifiedName}:${parent.id}:processed`;
    throw new JobError(
      'broken-record',
      `a child's result in ${record} is not valid JSON: ${thrown.message}`,
      {
        field: record,
        cause: thrown,
        ...(parent.id === undefined ? {} : { jobId: parent.id }),
      },
    );
  }
}
