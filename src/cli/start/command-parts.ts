import type { Config } from '../../config/settings.js';
import type { Part } from './assert-startable.js';
import { isSupervised, runsHere } from './where-jobs-run.js';

/** The options of a command that decide what it runs. */
interface StartOptions {
  readonly workers?: number;
  readonly wait?: true;
}

type PartsOf = (config: Config, options: StartOptions) => readonly Part[];

/** With a configured Redis, workers are somebody else's. */
const ownWorker: PartsOf = (config) => (isSupervised(config) ? ['worker'] : []);
/** Static analysis alone needs no worker. */
const analysisOrWorker: PartsOf = (config) => (runsHere(config) ? ['analysis'] : ownWorker(config, {}));
const none: PartsOf = () => [];
const both: PartsOf = () => ['gateway', 'worker'];

/** What each command runs, by its first word. `config` shows what is wrong itself. */
export const COMMAND_PARTS: Readonly<Record<string, PartsOf>> = {
  check: analysisOrWorker,
  refine: analysisOrWorker,
  watch: () => ['analysis'],
  lsp: () => ['analysis'],
  mcp: () => ['analysis'],
  submit: (config, { wait }) => (wait === true ? ownWorker(config, {}) : []),
  wait: ownWorker,
  worker: () => ['worker'],
  serve: (_config, { workers = 0 }) => (workers > 0 ? ['gateway', 'worker'] : ['gateway']),
  demo: () => ['worker'],
  // It says what is wrong with a fleet, and so with the configuration of one.
  doctor: both,
  config: none,
  get: none,
  cancel: none,
  retry: none,
  list: none,
  dead: none,
  contamination: none,
  known: none,
  record: none,
  replay: none,
  costs: none,
  disagreements: none,
  report: none,
  token: none,
};
