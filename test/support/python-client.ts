import { join } from 'node:path';

/** Name of a copy of the Python client in the folder of the run, where Python may keep what it compiles. */
export const CLIENT_FOLDER = 'python-client';

/** Environment of a Python that finds the client. */
export function withPythonClient(): {
  readonly PYTHONPATH: string;
  readonly PYTHONDONTWRITEBYTECODE: string;
} {
  return { PYTHONPATH: join(process.env.TMPDIR ?? '', CLIENT_FOLDER), PYTHONDONTWRITEBYTECODE: '' };
}
