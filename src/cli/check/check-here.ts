import { mapAtOnce } from '../../async.js';
import type { Solution } from '../../queues/common.js';
import { withLocalProcessing } from '../local-session.js';
import { checkFile } from './check-file.js';
import type { CheckFiles } from './checking.js';

/** Checks files in this process, by static analysis: nothing is sent anywhere, and no server is needed. */
export const checkHere: CheckFiles = ({ config, files, write, trial, reason, onChecked }) =>
  withLocalProcessing(config, reason, (processing, signal) => {
    const check = (solution: Solution) => processing.check({ solution, ...(trial ? { trial } : {}) }, signal);
    return mapAtOnce(files, processing.atOnce, async (file) => {
      const outcome = await checkFile(file, { config, write, check });
      onChecked();
      return outcome;
    });
  });
