import { checkAndFixLeakage } from './leakage-check/check-and-fix-leakage.js';
import type { Processor } from './processor.js';

export const processSolutionCheck: Processor<'solution-check'> = ({ solution, workspace, model }, work) =>
  checkAndFixLeakage(solution, work.runner, {
    analyst: work.analyst,
    signal: work.signal,
    ...(work.files === undefined ? {} : { files: work.files }),
    log: work.log,
    onProgress: (step) => work.progress(step),
    ...(workspace === undefined ? {} : { workspace }),
    ...(model === undefined ? {} : { model }),
  });
