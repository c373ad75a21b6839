import { resolve } from 'node:path';
import { readNotebook } from '../../leakage/index.js';
import type { FleetConnection } from '../../producers/fleet-connection.js';
import { addSolutionCheck } from '../../producers/solution-check.js';
import { readText } from '../read-input.js';
import type { Submissions } from '../submissions.js';
import type { CheckedFile, CheckOutcome } from './checked-file.js';
import { writeCorrection } from './write-correction.js';

export interface CheckFileOptions {
  readonly write: boolean;
  readonly workspace?: string;
}

/** Checks one file, a script or a notebook, and writes its correction back where that is wanted. */
export async function checkFile(
  fleet: FleetConnection,
  submissions: Submissions,
  file: string,
  { write, workspace }: CheckFileOptions,
): Promise<CheckOutcome> {
  try {
    const text = await readText(file);
    const notebook = file.endsWith('.ipynb') ? readNotebook(text) : undefined;
    const script = notebook?.source ?? text;
    const payload = {
      solution: { content: script },
      ...(workspace === undefined ? {} : { workspace: resolve(workspace) }),
    };
    const handle = await submissions.add(
      () => addSolutionCheck(fleet, payload),
      (job) => job,
    );
    const result = await handle.result();
    const checked = { file, text, script, result, ...(notebook === undefined ? {} : { notebook }) };
    return write ? await writeBack(checked) : checked;
  } catch (error) {
    return { file, error };
  }
}

/** What was found is worth as much where it cannot be written. */
async function writeBack(checked: CheckedFile): Promise<CheckedFile> {
  try {
    return { ...checked, written: await writeCorrection(checked) };
  } catch (notWritten) {
    return { ...checked, written: false, notWritten };
  }
}
