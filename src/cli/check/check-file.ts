import type { Config } from '../../config/settings.js';
import { AgentError, UsageError } from '../../errors.js';
import { type NotebookCode, readNotebook, withSource } from '../../leakage/notebook.js';
import type { Solution } from '../../queues/common.js';
import type { SolutionCheckResult } from '../../queues/solution-check.js';
import type { ReadLimit } from '../read-file.js';
import {
  encodedScript,
  formatLimit,
  readScript,
  readText,
  type ScriptText,
  textLimit,
} from '../read-input.js';
import { replaceFile } from '../replace-file.js';
import type { CheckedFile, CheckOutcome } from './checked-file.js';

/** Cells that are left out and named. */
const MAX_NOTES = 20;

/** Checks the script of one file: a job of the fleet, or work of this process. */
type CheckScript = (solution: Solution) => Promise<SolutionCheckResult>;

export interface CheckFileOptions {
  readonly config: Config;
  readonly write: boolean;
  readonly check: CheckScript;
}

/** Checks one file, a script or a notebook, and writes its correction back where that is wanted. */
export async function checkFile(
  file: string,
  { config, write, check }: CheckFileOptions,
): Promise<CheckOutcome> {
  try {
    const isNotebook = file.endsWith('.ipynb');
    const limit = isNotebook ? formatLimit(config) : textLimit(config);
    const { text, encoding }: ScriptText = isNotebook
      ? { text: await readText(file, limit) }
      : await readScript(file, limit);
    const notebook = isNotebook ? readNotebook(text) : undefined;
    if (notebook?.language !== undefined) {
      const what = `the notebook is of the language ${notebook.language}: no Python was found, and nothing was checked`;
      throw new AgentError('cannot-analyze', what);
    }
    const script = notebook?.source ?? text;
    const result = withLeftOut(await check({ content: script }), notebook);
    const checked = {
      ...{ file, text, script, result },
      ...(encoding === undefined ? {} : { encoding }),
      ...(notebook === undefined ? {} : { notebook }),
    };
    return write ? await writeBack(checked, limit) : checked;
  } catch (error) {
    return { file, error };
  }
}

/** The result with a note for each cell that was left out although it may be a part of what is scored. */
function withLeftOut(result: SolutionCheckResult, notebook: NotebookCode | undefined): SolutionCheckResult {
  const cells = notebook?.leftOut.filter(({ mayTrain }) => mayTrain) ?? [];
  if (cells.length === 0) return result;
  const notes = cells
    .slice(0, MAX_NOTES)
    .map(({ cell, magic }) => `cell ${cell} (%%${magic}) was left out: what it runs was not checked`);
  return { ...result, notes: [...(result.notes ?? []), ...notes] };
}

/** What was found is worth as much where it cannot be written. */
async function writeBack(checked: CheckedFile, limit: ReadLimit): Promise<CheckedFile> {
  try {
    return { ...checked, written: await writeCorrection(checked, limit) };
  } catch (notWritten) {
    return { ...checked, written: false, notWritten };
  }
}

/** The file's text with the corrections in it: the script itself, or the notebook with its cells corrected. */
function correctedText({ text, notebook, result }: Omit<CheckedFile, 'written'>): string {
  return notebook === undefined ? result.solution.content : withSource(text, result.solution.content);
}

/**
 * Replaces a file by its correction. Returns whether there was one.
 * @throws UsageError `unreadable-input` where the file was changed or removed since it was read, since the correction is not for that text;
 *   `unwritable-output`.
 */
export async function writeCorrection(
  checked: Omit<CheckedFile, 'written'>,
  limit: ReadLimit,
): Promise<boolean> {
  const { file, text, script, result, encoding, notebook } = checked;
  if (result.solution.content === script) return false;
  // One that is gone, or no file any more, is refused by its name, like one that could never be read.
  const current = notebook === undefined ? (await readScript(file, limit)).text : await readText(file, limit);
  if (current !== text) {
    throw new UsageError('unreadable-input', `${file} was changed while it was checked; nothing was written`);
  }
  await replaceFile(file, await encodedScript(file, correctedText(checked), encoding));
  return true;
}
