/** Static analysis of data leakage in Python machine-learning scripts. */
export { analyzeLeakage, type LeakageAnalysis, type LeakFinding } from './analyze.js';
export { LEAK_KINDS, type LeakKind, type Severity } from './kinds.js';
export { cellOfLine, type NotebookCode, readNotebook, replaceInNotebook } from './notebook.js';
export { type Repair, repairLeak } from './repair/repair-leak.js';
export {
  REPORTED_KINDS,
  type ReportedFile,
  type ReportedFinding,
  type ReportedKind,
  type SarifLog,
  toGithubAnnotations,
  toSarif,
} from './report/index.js';
