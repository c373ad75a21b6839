import type { Config } from '../config/settings.js';
import type { TrialSettings } from '../trial/settings.js';

/** How the configuration wants scripts to be tried out. */
export function configuredTrials(config: Config): TrialSettings {
  return {
    sandbox: config.trialSandbox,
    python: config.trialPython ?? config.python,
    seconds: config.trialSeconds,
    memoryMb: config.trialMemoryMb,
    concurrency: config.trialConcurrency,
  };
}
