import { TurnQueue } from '../turn-queue.js';
import { ComputeThread, type ComputeThreadOptions } from './compute-thread.js';
import type { Hold } from './held-slots.js';

export interface ComputeLaneOptions extends ComputeThreadOptions {
  /** Longest time of one task, in milliseconds. */
  readonly timeoutMs: number;
  /** How long a second thread is kept that no task needs, in milliseconds; default: a minute. */
  readonly spareMs?: number;
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
  /** Whether a thread has it: it is then the thread that gives it up. */
  isInThread: boolean;
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
  readonly #spareMs: number;
  /** The thread for the next task, and the one that stands in for it. */
  #threads: readonly [ComputeThread<Task, Result>, ComputeThread<Task, Result>];
  readonly #queue = new TurnQueue<Waiting<Task, Result>>();
  #isBusy = false;
  #spareEnd: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: ComputeLaneOptions) {
    this.#timeoutMs = options.timeoutMs;
    this.#spareMs = options.spareMs ?? 60_000;
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
        if (waiting.isInThread) return;
        // It waits for its turn, or for the start of a thread, which may take longer than a job has for its end.
        this.#queue.remove(tenant, waiting);
        waiting.reject(abortErrorOf(signal));
      };
      const settled = () => signal.removeEventListener('abort', onAbort);
      const waiting: Waiting<Task, Result> = {
        ...owner,
        task,
        isInThread: false,
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
    this.#isClosed = true;
    clearTimeout(this.#spareEnd);
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

  async #do(waiting: Waiting<Task, Result>): Promise<void> {
    const { task, signal, resolve, reject } = waiting;
    const [thread, spare] = this.#threads;
    let spareTimer: NodeJS.Timeout | undefined;
    let isSpareStarted = false;
    try {
      await thread.ready();
      if (signal.aborted) return;
      waiting.isInThread = true;
      spareTimer = setTimeout(
        () => {
          isSpareStarted = true;
          clearTimeout(this.#spareEnd);
          warm(spare);
        },
        Math.max(this.#timeoutMs / 4, this.#timeoutMs - SPARE_BEFORE_MS),
      );
      resolve(await thread.run(task, this.#timeoutMs, signal));
    } catch (thrown) {
      // What took its time has ended its thread: the other one is ready, and this one's successor starts meanwhile.
      if (isSpareStarted && !this.#isClosed) {
        this.#threads = [spare, thread];
        warm(thread);
      }
      reject(thrown);
    } finally {
      clearTimeout(spareTimer);
      if (isSpareStarted) this.#endSpareLater();
    }
  }

  /** A second thread takes as much memory as the first one, an index of the known set with it, and few tasks need it. */
  #endSpareLater(): void {
    clearTimeout(this.#spareEnd);
    if (this.#isClosed) return;
    this.#spareEnd = setTimeout(() => {
      const [, spare] = this.#threads;
      void spare.end();
    }, this.#spareMs).unref();
  }
}

/** Starts a thread; where that fails, the task that needs it says so. */
function warm(thread: ComputeThread<unknown, unknown>): void {
  thread.ready().catch(() => undefined);
}

function abortErrorOf({ reason }: AbortSignal): DOMException {
  return new DOMException(`the task was given up: ${String(reason)}`, 'AbortError');
}
