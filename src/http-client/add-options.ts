import type { OptionNames } from '../known-options.js';
import type { AddOptions } from '../producers/add-options.js';

/** Options of a submission, as for the Redis producers. The token says who submits. */
export type HttpAddOptions = Omit<AddOptions, 'submitter'>;

/** The options of every submission over HTTP, of single jobs, batches and flows alike. */
export const HTTP_ADD_OPTIONS: OptionNames<HttpAddOptions> = {
  key: true,
  force: true,
  tenant: true,
  priority: true,
  delayMs: true,
  budgetUsd: true,
  deadline: true,
  reuse: true,
};
