import { join } from 'node:path';
import { decidesByName, type FoundFile, filesBelow, type Unreadable } from '../check/python-files.js';

/** What was found since the last look. */
export interface Changes {
  /** Files that are new, or other than they were. */
  readonly changed: readonly string[];
  /** Files that are not there any more. */
  readonly gone: readonly string[];
  /** Folders that cannot be read, or for another reason than before. */
  readonly unreadable: readonly Unreadable[];
  /** The folders in which a change matters. */
  readonly folders: readonly FoundFile[];
}

/** Finds the scripts and notebooks of a folder that were changed since it last looked. */
export class ChangedFiles {
  readonly #folder: string;
  readonly #exclude: readonly string[];
  /** By file: what differs after it was written again. */
  #versions: ReadonlyMap<string, string> = new Map();
  /** By folder: why it cannot be read. */
  #unreadable: ReadonlyMap<string, string> = new Map();
  #folders: ReadonlySet<string> = new Set();

  constructor(folder: string, exclude: readonly string[]) {
    this.#folder = folder;
    this.#exclude = exclude;
  }

  /** @throws UsageError `unreadable-input` if the folder is gone or cannot be read. */
  async look(): Promise<Changes> {
    const { files, unreadable, folders } = await filesBelow(this.#folder, this.#exclude);
    const versions = new Map(files.map(({ file, version }) => [file, version]));
    const before = this.#versions;
    const unreadableBefore = this.#unreadable;
    this.#versions = versions;
    this.#unreadable = new Map(unreadable.map(({ file, error }) => [file, error.message]));
    this.#folders = new Set([...folders, ...unreadable].map(({ file }) => file));
    return {
      changed: [...versions.keys()].filter((file) => versions.get(file) !== before.get(file)),
      gone: [...before.keys()].filter((file) => !versions.has(file)),
      unreadable: unreadable.filter(({ file, error }) => unreadableBefore.get(file) !== error.message),
      folders,
    };
  }

  /**
   * Whether the next look may find something other because of an event in a folder. That data or a log is written says nothing.
   * @param isNew Whether a name was added or removed, and not only changed.
   * @param name Of what is in the folder, if the system tells it.
   */
  isRelevant(folder: string, isNew: boolean, name: string | null): boolean {
    if (name === null || decidesByName(name)) return true;
    // What is new may be a folder.
    return !name.startsWith('.') && (isNew || this.#folders.has(join(folder, name)));
  }
}
