import { messageOf } from '../errors.js';

/** How long nobody must have typed before work begins, in milliseconds. */
const QUIET_MS = 30;
/**
 * Work on an older version is left to end for so long, in milliseconds: to abort it ends its thread, and another one takes
 * hundreds of them to start.
 */
const MAX_OBSOLETE_MS = 1_000;

/** One piece of work on what was the newest version when it began. */
interface Running {
  readonly controller: AbortController;
  readonly since: number;
}

/**
 * Has the newest version of something worked on, one version at a time. Versions that come quickly one after the other count as
 * one, and those that come during the work are worked on after it, the newest of them alone.
 */
export class NewestVersion {
  readonly #work: (signal: AbortSignal) => Promise<void>;
  readonly #failed: (message: string) => void;
  #quiet: NodeJS.Timeout | undefined;
  #abort: NodeJS.Timeout | undefined;
  #running: Running | undefined;
  #isDue = false;
  #isClosed = false;

  /**
   * @param work takes the newest version itself, and publishes nothing if that has changed meanwhile
   * @param failed is called with the message of an error that `work` throws
   */
  constructor(work: (signal: AbortSignal) => Promise<void>, failed: (message: string) => void) {
    this.#work = work;
    this.#failed = failed;
  }

  /** There is a new version. */
  changed(): void {
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => this.#due(), QUIET_MS);
    this.#obsolete();
  }

  /** There will be no more versions. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#quiet);
    this.#obsolete();
  }

  #obsolete(): void {
    const running = this.#running;
    if (running === undefined || this.#abort !== undefined) return;
    const left = Math.max(0, MAX_OBSOLETE_MS - (performance.now() - running.since));
    this.#abort = setTimeout(() => running.controller.abort(), left);
  }

  #due(): void {
    this.#isDue = true;
    if (this.#running === undefined) void this.#run();
  }

  async #run(): Promise<void> {
    while (this.#isDue && !this.#isClosed) {
      this.#isDue = false;
      const controller = new AbortController();
      this.#running = { controller, since: performance.now() };
      try {
        await this.#work(controller.signal);
      } catch (thrown) {
        if (!controller.signal.aborted) this.#failed(messageOf(thrown));
      } finally {
        this.#running = undefined;
        clearTimeout(this.#abort);
        this.#abort = undefined;
      }
    }
  }
}
