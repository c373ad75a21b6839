import { pythonWithSklearn } from '../../scripts/repairs/run-pairs.js';
import { messageOf } from '../../src/errors.js';
import { type FoundSandbox, findSandbox } from '../../src/trial/sandbox/find-sandbox.js';
import { DEFAULT_TRIAL_SETTINGS, type TrialSettings } from '../../src/trial/settings.js';

/** Settings with the Python of this machine that has scikit-learn. */
export const TRIAL_SETTINGS: TrialSettings = {
  ...DEFAULT_TRIAL_SETTINGS,
  python: pythonWithSklearn() ?? 'python3',
  // However busy the machine is.
  seconds: 600,
};

/** The sandbox of this machine; where there is none, undefined, said aloud. */
export async function sandboxOfMachine(): Promise<FoundSandbox | undefined> {
  try {
    return await findSandbox(TRIAL_SETTINGS);
  } catch (thrown) {
    console.warn(`SKIPPED: trials of scripts. ${messageOf(thrown)}`);
    return undefined;
  }
}
