export { toGithubAnnotations } from './github.js';
export {
  REPORTED_KINDS,
  type ReportedFile,
  type ReportedFinding,
  type ReportedKind,
} from './reported-file.js';
export { toSarif } from './sarif.js';
