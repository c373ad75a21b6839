import { TurnQueue } from '../turn-queue.js';
import { ComputeThread, type ComputeThreadOptions } from './compute-thread.js';
import type { Hold } from './held-slots.js';

export interface ComputeLaneOptions extends ComputeThreadOptions {
  /** Longest time of one task, in milliseconds. */
  readonly timeoutMs: number;
}

/** For whom a task is done, and what gives it up. */
export interface TaskOwner {
  readonly tenant: string;
  readonly signal: AbortSignal;
  /** Told of what may take long: the job holds its slot meanwhile. */
  readonly hold?: Hold;
}

interface Waiting<Task, Result> extends TaskOwner {
  readonly task: Task;
  readonly resolve: (result: Result) => void;
  readonly reject: (thrown: unknown) => void;
}

/** How long before a task's time is over another thread is started, in milliseconds. */
const SPARE_BEFORE_MS = 3_000;

/**
 * Does tasks one after the other in a thread; tenants take turns. A task that takes too long or too much memory loses its
 * thread, and nothing else: a second thread is started before the first one's time is over, so that nobody waits for it.
 */
export class ComputeLane<Task, Result> {
  readonly #timeoutMs: number;
  /** The thread for the next task, and the one that stands in for it. */
  #threads: readonly [ComputeThread<Task, Result>, ComputeThread<Task, Result>];
  readonly #queue = new TurnQueue<Waiting<Task, Result>>();
  #isBusy = false;
  #closed: Error | undefined;

  constructor(options: ComputeLaneOptions) {
    this.#timeoutMs = options.timeoutMs;
    this.#threads = [new ComputeThread(options), new ComputeThread(options)];
  }

  /**
   * Does a task when its turn has come.
   * @throws What the task throws; ThreadEnded; the AbortError of the signal; InternalError after `close`.
   */
  run(task: Task, owner: TaskOwner): Promise<Result> {
    const { tenant, signal } = owner;
    return new Promise<Result>((resolve, reject) => {
      const onAbort = () => {
        if (this.#queue.remove(tenant, waiting)) waiting.reject(abortErrorOf(signal));
      };
      const settled = () => signal.removeEventListener('abort', onAbort);
      const waiting: Waiting<Task, Result> = {
        ...owner,
        task,
        resolve: (result) => {
          settled();
          resolve(result);
        },
        reject: (thrown) => {
          settled();
          reject(thrown);
        },
      };
      if (signal.aborted) return reject(abortErrorOf(signal));
      signal.addEventListener('abort', onAbort, { once: true });
      this.#queue.add(tenant, waiting);
      this.#goOn();
    });
  }

  /** Ends the threads at once, whatever they are doing; tasks that wait are rejected. */
  async close(): Promise<void> {
    this.#closed = new Error('the worker has stopped');
    await Promise.all(this.#threads.map((thread) => thread.close()));
    this.#goOn();
  }

  #goOn(): void {
    if (this.#isBusy) return;
    const next = this.#queue.next();
    if (next === undefined) return;
    this.#isBusy = true;
    void this.#do(next).finally(() => {
      this.#isBusy = false;
      this.#goOn();
    });
  }

  async #do({ task, signal, resolve, reject }: Waiting<Task, Result>): Promise<void> {
    const [thread, spare] = this.#threads;
    let spareTimer: NodeJS.Timeout | undefined;
    let isSpareStarted = false;
    try {
      await thread.ready();
      if (signal.aborted) throw abortErrorOf(signal);
      spareTimer = setTimeout(
        () => {
          isSpareStarted = true;
          warm(spare);
        },
        Math.max(this.#timeoutMs / 4, this.#timeoutMs - SPARE_BEFORE_MS),
      );
      resolve(await thread.run(task, this.#timeoutMs, signal));
    } catch (thrown) {
      // What took its time has ended its thread: the other one is ready, and this one's successor starts meanwhile.
      if (isSpareStarted && this.#closed === undefined) {
        this.#threads = [spare, thread];
        warm(thread);
      }
      reject(thrown);
    } finally {
      clearTimeout(spareTimer);
    }
  }
}

/** Starts a thread; where that fails, the task that needs it says so. */
function warm(thread: ComputeThread<unknown, unknown>): void {
  thread.ready().catch(() => undefined);
}

function abortErrorOf({ reason }: AbortSignal): DOMException {
  return new DOMException(`the task was given up: ${String(reason)}`, 'AbortError');
}
