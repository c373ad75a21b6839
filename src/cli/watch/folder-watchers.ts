import { EventEmitter, once } from 'node:events';
import { type FSWatcher, watch } from 'node:fs';
import { UsageError } from '../../errors.js';
import type { FoundFile } from '../check/python-files.js';

/** Whether something that happened in a folder matters: a name was added or removed there (`isNew`), or what has it was changed. */
type IsRelevant = (folder: string, isNew: boolean, name: string | null) => boolean;

interface Watched {
  readonly watcher: FSWatcher;
  /** Of the folder that had the name. A watcher stays with its folder when another one takes the name. */
  readonly version: string;
}

/** Limits of Linux that a watcher can exceed: by the error's code, what there are too many of. */
const LIMITS: Readonly<Record<string, string>> = {
  ENOSPC: 'the system watches no more folders (fs.inotify.max_user_watches)',
  EMFILE:
    'the system lets no more programs watch folders, or this one open no more files (fs.inotify.max_user_instances, ulimit -n)',
};

/** Errors of a folder that was removed, replaced or closed since it was found: the events of its parent tell so. */
const OTHER_BY_NOW = new Set(['ENOENT', 'ENOTDIR', 'EACCES']);

/**
 * Tells that something happened in any of several folders, be it a file that was written, replaced, added or removed. What it
 * was, the listener finds out: each system reports it in its own way.
 */
export class FolderWatchers {
  readonly #isRelevant: IsRelevant;
  readonly #watched = new Map<string, Watched>();
  readonly #events = new EventEmitter();
  #hasHappened = false;

  constructor(isRelevant: IsRelevant) {
    this.#isRelevant = isRelevant;
  }

  /**
   * Watches these folders, and no others any more.
   * @throws UsageError `usage` if the system watches no more.
   */
  watch(folders: readonly FoundFile[]): void {
    const wanted = new Map(folders.map(({ file, version }) => [file, version]));
    for (const [folder, { version }] of this.#watched) {
      if (wanted.get(folder) !== version) this.#forget(folder);
    }
    for (const [folder, version] of wanted) if (!this.#watched.has(folder)) this.#add(folder, version);
  }

  /** Resolves once something has happened since it last resolved. @throws the AbortError of the signal. */
  async next(signal: AbortSignal): Promise<void> {
    if (!this.#hasHappened) await once(this.#events, 'change', { signal });
    this.#hasHappened = false;
  }

  close(): void {
    for (const folder of this.#watched.keys()) this.#forget(folder);
  }

  #add(folder: string, version: string): void {
    try {
      const watcher = watch(folder, (type, name) => {
        const isNew = type === 'rename';
        // It may be the folder itself that was removed or moved. Another one can get its inode, and so its version.
        const isItself = isNew && name === lastPart(folder);
        if (isItself) this.#forget(folder);
        if (isItself || this.#isRelevant(folder, isNew, name)) this.#changed();
      });
      // It was removed. Its parent tells so, if it has one that is watched.
      watcher.on('error', () => {
        this.#forget(folder);
        this.#changed();
      });
      this.#watched.set(folder, { watcher, version });
      // Something may have been added to it since it was found.
      this.#changed();
    } catch (thrown) {
      const code = (thrown as NodeJS.ErrnoException).code ?? '';
      const limit = LIMITS[code];
      if (limit !== undefined) {
        const what = `the folder ${folder} cannot be watched: ${limit}; raise that, or leave folders out with --exclude`;
        throw new UsageError('usage', what, { cause: thrown });
      }
      // Changes in any other folder would go unnoticed.
      if (!OTHER_BY_NOW.has(code)) throw thrown;
    }
  }

  #changed(): void {
    this.#hasHappened = true;
    this.#events.emit('change');
  }

  #forget(folder: string): void {
    this.#watched.get(folder)?.watcher.close();
    this.#watched.delete(folder);
  }
}

/** As the system names a folder in its own events: nothing after a slash at the end. */
function lastPart(folder: string): string {
  return folder.slice(folder.lastIndexOf('/') + 1);
}
