import { EventEmitter, once } from 'node:events';
import { type FSWatcher, watch } from 'node:fs';

/**
 * Tells that something happened in any of several folders, be it a file that was written, replaced, added or removed. What it
 * was, the listener finds out: each system reports it in its own way.
 */
export class FolderWatchers {
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #events = new EventEmitter();
  #hasHappened = false;

  /** Watches these folders, and no others any more. */
  watch(folders: readonly string[]): void {
    const wanted = new Set(folders);
    for (const folder of this.#watchers.keys()) if (!wanted.has(folder)) this.#forget(folder);
    for (const folder of wanted) if (!this.#watchers.has(folder)) this.#add(folder);
  }

  /** Resolves once something has happened since it last resolved. @throws the AbortError of the signal. */
  async next(signal: AbortSignal): Promise<void> {
    if (!this.#hasHappened) await once(this.#events, 'change', { signal });
    this.#hasHappened = false;
  }

  close(): void {
    for (const folder of this.#watchers.keys()) this.#forget(folder);
  }

  #add(folder: string): void {
    try {
      const watcher = watch(folder, () => this.#changed());
      // It was removed. Its parent tells so, if it has one that is watched.
      watcher.on('error', () => {
        this.#forget(folder);
        this.#changed();
      });
      this.#watchers.set(folder, watcher);
      // Something may have been added to it since it was found.
      this.#changed();
    } catch (thrown) {
      // One that was removed since it was found: its parent tells so. Changes in any other would go unnoticed.
      if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') throw thrown;
    }
  }

  #changed(): void {
    this.#hasHappened = true;
    this.#events.emit('change');
  }

  #forget(folder: string): void {
    this.#watchers.get(folder)?.close();
    this.#watchers.delete(folder);
  }
}
