import { stat } from 'node:fs/promises';
import { filesBelow } from '../check/python-files.js';

/** What was found since the last look. */
export interface Changes {
  /** Files that are new, or other than they were. */
  readonly changed: readonly string[];
  /** Files that are not there any more. */
  readonly gone: readonly string[];
  /** The folders in which a change matters. */
  readonly folders: readonly string[];
}

/** Finds the scripts and notebooks of a folder that were changed since it last looked. */
export class ChangedFiles {
  readonly #folder: string;
  readonly #exclude: readonly string[];
  /** By file: what differs after it was written again. */
  #versions: ReadonlyMap<string, string> = new Map();

  constructor(folder: string, exclude: readonly string[]) {
    this.#folder = folder;
    this.#exclude = exclude;
  }

  /** @throws UsageError `unreadable-input` if the folder cannot be read. */
  async look(): Promise<Changes> {
    const { files, folders } = await filesBelow(this.#folder, this.#exclude);
    const versions = new Map<string, string>();
    for (const file of files) {
      const version = await versionOf(file);
      if (version !== undefined) versions.set(file, version);
    }
    const before = this.#versions;
    this.#versions = versions;
    return {
      changed: [...versions.keys()].filter((file) => versions.get(file) !== before.get(file)),
      gone: [...before.keys()].filter((file) => !versions.has(file)),
      folders,
    };
  }
}

async function versionOf(file: string): Promise<string | undefined> {
  // One that was removed meanwhile has no version.
  const found = await stat(file, { bigint: true }).catch(() => undefined);
  return found && `${found.dev} ${found.ino} ${found.size} ${found.mtimeNs}`;
}
