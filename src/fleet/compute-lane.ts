import { TenantQueue } from '../tenant-queue.js';
import { ComputeThread, type ComputeThreadOptions } from './compute-thread.js';
import type { TrackWait } from './extra-slots.js';

export interface ComputeLaneOptions extends ComputeThreadOptions {
  /** Maximum time of one task, in milliseconds. */
  readonly timeoutMs: number;
  /** How long an unused second thread stays alive, in milliseconds; default: a minute. */
  readonly spareMs?: number;
  /** Whether there is no second thread: after a task that took too long, the next ones wait for a new thread. */
  readonly alone?: boolean;
}

/** For whom a task is run, and what aborts it. */
export interface TaskOwner {
  readonly tenant: string;
  readonly signal: AbortSignal;
  /** Counts the job's slot as idle during a long computation. */
  readonly trackWait?: TrackWait;
}

interface Waiting<Task, Result> extends TaskOwner {
  readonly task: Task;
  /** Whether a thread runs it; then the thread aborts it. */
  isInThread: boolean;
  readonly resolve: (result: Result) => void;
  readonly reject: (thrown: unknown) => void;
}

/** How long before a task's deadline another thread is started, in milliseconds. */
const SPARE_BEFORE_MS = 3_000;

/**
 * Runs tasks one after the other in a thread; tenants are served in rotation. A task that takes too long or too much memory
 * only costs its thread: a second thread is started before the deadline, so other tasks do not wait for one.
 */
export class ComputeLane<Task, Result> {
  readonly #timeoutMs: number;
  readonly #spareMs: number;
  readonly #alone: boolean;
  /** The thread for the next task, and its replacement. */
  #threads: readonly [ComputeThread<Task, Result>, ComputeThread<Task, Result>];
  readonly #queue = new TenantQueue<Waiting<Task, Result>>();
  #isBusy = false;
  #spareEnd: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: ComputeLaneOptions) {
    this.#timeoutMs = options.timeoutMs;
    this.#spareMs = options.spareMs ?? 60_000;
    this.#alone = options.alone ?? false;
    this.#threads = [new ComputeThread(options), new ComputeThread(options)];
  }

  /**
   * Runs a task after the tasks before it in the queue.
   * @throws What the task throws; ThreadEnded; the AbortError of the signal; InternalError after `close`.
   */
  run(task: Task, owner: TaskOwner): Promise<Result> {
    const { tenant, signal } = owner;
    return new Promise<Result>((resolve, reject) => {
      const onAbort = () => {
        if (waiting.isInThread) return;
        // It waits in the queue, or for the start of a thread, which may take longer than a job has to stop.
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

  /** Starts the thread of the first task before there is one. */
  warm(): void {
    warm(this.#threads[0]);
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
    let isSpareStarted = false;
    try {
      await thread.ready();
      if (signal.aborted) return;
      waiting.isInThread = true;
      const slow = {
        afterMs: Math.max(this.#timeoutMs / 4, this.#timeoutMs - SPARE_BEFORE_MS),
        callback: () => {
          isSpareStarted = true;
          clearTimeout(this.#spareEnd);
          warm(spare);
        },
      };
      resolve(await thread.run(task, this.#timeoutMs, signal, this.#alone ? undefined : slow));
    } catch (thrown) {
      // The task that exceeded its time ended its thread: the other one is ready, and this one starts again meanwhile.
      if (isSpareStarted && !this.#isClosed) {
        this.#threads = [spare, thread];
        warm(thread);
      }
      reject(thrown);
    } finally {
      if (isSpareStarted) this.#endSpareLater();
    }
  }

  /** A second thread needs as much memory as the first one, including an index of the known set, and few tasks need it. */
  #endSpareLater(): void {
    clearTimeout(this.#spareEnd);
    if (this.#isClosed) return;
    this.#spareEnd = setTimeout(() => {
      const [, spare] = this.#threads;
      void spare.end();
    }, this.#spareMs).unref();
  }
}

/** Starts a thread; if that fails, the task that needs it reports the error. */
function warm(thread: ComputeThread<unknown, unknown>): void {
  thread.ready().catch(() => undefined);
}

function abortErrorOf({ reason }: AbortSignal): DOMException {
  return new DOMException(`the task was aborted: ${String(reason)}`, 'AbortError');
}
