export { toGithubAnnotations } from './github.js';
export type { ReportedFile } from './reported-file.js';
export { type SarifLog, toSarif } from './sarif.js';
