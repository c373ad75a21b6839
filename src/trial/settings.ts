import type { OptionNames } from '../known-options.js';

/** How scripts are tried out. */
export interface TrialSettings {
  /** `auto`, `bwrap`, `unshare`, `off`, or a command to which Python and its arguments are appended. */
  readonly sandbox: string;
  /** The Python that runs them: a name, or a path. */
  readonly python: string;
  /** Longest trial of one correction, in seconds. */
  readonly seconds: number;
  /** Memory of a script with all its processes, in MiB. */
  readonly memoryMb: number;
  /** Number of trials at the same time. */
  readonly concurrency: number;
}

export const TRIAL_SETTING_NAMES: OptionNames<TrialSettings> = {
  sandbox: true,
  python: true,
  seconds: true,
  memoryMb: true,
  concurrency: true,
};

export const DEFAULT_TRIAL_SETTINGS: TrialSettings = {
  sandbox: 'auto',
  python: 'python3',
  seconds: 120,
  memoryMb: 2_048,
  concurrency: 2,
};
