/** The parts of a job's key in Redis, which is `prefix:queue:id`; ids may contain colons, queue names may not. */
export interface JobKeyParts {
  readonly prefix: string;
  readonly queue: string;
  readonly id: string;
}

const JOB_KEY = /^([^:]*):([^:]+):(.+)$/s;

export function isJobKey(key: string): boolean {
  return JOB_KEY.test(key);
}

/**
 * Parses a job's key.
 * @throws RangeError if it is not a job key.
 */
export function parseJobKey(key: string): JobKeyParts {
  const [, prefix, queue, id] = JOB_KEY.exec(key) ?? [];
  if (prefix === undefined || queue === undefined || id === undefined) {
    throw new RangeError(`"${key}" is not the key of a job`);
  }
  return { prefix, queue, id };
}
