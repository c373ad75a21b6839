import type { Config } from '../../config/settings.js';
import type { CheckOutcome } from './checked-file.js';

/** What a check of files needs to know, wherever it is done. */
interface Checking {
  readonly config: Config;
  readonly files: readonly string[];
  readonly write: boolean;
  /** Runs each corrected script beside the original, in a sandbox. */
  readonly trial: boolean;
  /** Folder below which agents may read. */
  readonly workspace?: string | undefined;
  /** What the agent calls of all files together may cost, in US dollars. */
  readonly budgetUsd?: number | undefined;
  /** Why this agent answers, as a line for people. */
  readonly reason: string;
  /** Called after each file. */
  onChecked(): void;
}

/** Checks the files and tells what became of each, in their order. @throws Interrupted */
export type CheckFiles = (checking: Checking) => Promise<CheckOutcome[]>;
