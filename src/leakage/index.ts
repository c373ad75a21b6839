/** Static analysis of data leakage in Python machine-learning scripts. */
export { analyzeLeakage, type LeakageAnalysis, type LeakFinding } from './analyze.js';
export { LEAK_KINDS, type LeakKind } from './kinds.js';
export { cellOfLine, readNotebook, replaceInNotebook } from './notebook.js';
export { repairLeak } from './repair/repair-leak.js';
export {
  REPORTED_KINDS,
  type ReportedFinding,
  toGithubAnnotations,
} from './report/reported-file.js';
export { toSarif } from './report/sarif.js';
