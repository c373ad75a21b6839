import { UsageError } from '../../errors.js';
import { replaceInNotebook } from '../../leakage/index.js';
import { locateBlock } from '../../solution/index.js';
import type { ReadLimit } from '../read-file.js';
import { readText } from '../read-input.js';
import { replaceFile } from '../replace-file.js';
import type { CheckedFile } from './checked-file.js';

/** The file's text with the corrections in it: the script itself, or the notebook with its cells corrected. */
function correctedText({ text, script, notebook, result }: Omit<CheckedFile, 'written'>): string {
  if (notebook === undefined) return result.solution.content;
  let corrected = text;
  let source = script;
  for (const { codeBlock, correctedBlock } of result.findings) {
    const located = correctedBlock === undefined ? null : locateBlock(codeBlock, source);
    if (located === null || correctedBlock === undefined) continue;
    corrected = replaceInNotebook(corrected, located, correctedBlock);
    source = source.slice(0, located.start) + correctedBlock + source.slice(located.end);
  }
  return corrected;
}

/**
 * Puts a correction in the place of its file. Tells whether there was one.
 * @throws UsageError `unreadable-input` where the file was changed or removed since it was read, since the correction is not for that text;
 *   `unwritable-output`.
 */
export async function writeCorrection(
  checked: Omit<CheckedFile, 'written'>,
  limit: ReadLimit,
): Promise<boolean> {
  const { file, text, script, result } = checked;
  if (result.solution.content === script) return false;
  // One that is gone, or no file any more, is refused by its name, like one that cannot be read in the first place.
  if ((await readText(file, limit)) !== text) {
    throw new UsageError('unreadable-input', `${file} was changed while it was checked; nothing was written`);
  }
  await replaceFile(file, correctedText(checked));
  return true;
}
