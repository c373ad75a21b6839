import { abortable } from '../async.js';
import { rejectUnknownOptions } from '../known-options.js';
import { RecentMap } from './recent-map.js';
import { type FoundSandbox, findSandbox } from './sandbox/find-sandbox.js';
import { runInside } from './sandbox/run-inside.js';
import { DISK_MB, MAX_PROCESSES } from './sandbox/sandbox.js';
import type { ScriptTrial, TrialOutcome } from './script-trial.js';
import { DEFAULT_TRIAL_SETTINGS, TRIAL_SETTING_NAMES, type TrialSettings } from './settings.js';
import { Slots } from './slots.js';

/** Number of outcomes that are remembered. */
const REMEMBERED = 1_000;

/** Runs scripts and their corrections on made-up data, each in a sandbox of its own. */
export class Trials {
  readonly #settings: TrialSettings;
  readonly #slots: Slots;
  readonly #remembered = new RecentMap<string, TrialOutcome>(REMEMBERED);
  #found: Promise<FoundSandbox> | undefined;

  /** @throws PayloadError `invalid-payload` for a setting that does not exist. */
  constructor(settings: Partial<TrialSettings> = {}) {
    rejectUnknownOptions(settings, TRIAL_SETTING_NAMES);
    this.#settings = { ...DEFAULT_TRIAL_SETTINGS, ...settings };
    this.#slots = new Slots(this.#settings.concurrency);
  }

  /**
   * The sandbox of this machine. It is searched once; if there is none, again at the next call.
   * @throws TrialError `trial-unavailable`.
   */
  sandbox(): Promise<FoundSandbox> {
    this.#found ??= findSandbox(this.#settings).catch((thrown: unknown) => {
      this.#found = undefined;
      throw thrown;
    });
    return this.#found;
  }

  /**
   * The trials of one script.
   * @param signal ends a running trial with all its processes.
   * @throws TrialError `trial-unavailable` before anything runs.
   */
  async of(original: string, signal?: AbortSignal): Promise<ScriptTrial> {
    const { sandbox, extraLibraries: libraries } = await (signal === undefined
      ? this.sandbox()
      : abortable(this.sandbox(), signal));
    // It reads Python; most workers never try a script out.
    const { ScriptTrial } = await import('./script-trial.js');
    const { seconds, memoryMb } = this.#settings;
    const limits = { seconds, memoryMb, processes: MAX_PROCESSES, diskMb: DISK_MB };
    const program = (task: Readonly<Record<string, unknown>>) =>
      this.#slots.use(
        () => runInside(sandbox, { ...task, ...limits }, { seconds, signal, libraries }),
        signal,
      );
    return new ScriptTrial(original, {
      sandbox: sandbox.name,
      program,
      isAborted: () => signal?.aborted === true,
      remembered: this.#remembered,
    });
  }
}
