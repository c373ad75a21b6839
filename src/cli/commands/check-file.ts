import { randomUUID } from 'node:crypto';
import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import { UsageError } from '../../errors.js';
import type { SolutionCheckResult } from '../../queues/solution-check.js';

/**
 * Puts a corrected script in the place of its file, whole or not at all, with the file's permissions.
 * @throws UsageError where the file was changed since it was read: the correction is not for that text.
 */
export async function writeCorrection(
  file: string,
  before: string,
  result: SolutionCheckResult,
): Promise<boolean> {
  if (result.solution.content === before) return false;
  if ((await readFile(file, 'utf8')) !== before) {
    throw new UsageError('unreadable-input', `${file} was changed while it was checked; nothing was written`);
  }
  const { mode } = await stat(file);
  const temporary = `${file}.${randomUUID()}.tmp`;
  await writeFile(temporary, result.solution.content, { mode });
  await rename(temporary, file);
  return true;
}
