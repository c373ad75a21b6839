import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { FleetError, InternalError, messageOf } from '../errors.js';
import { loaderOptions } from '../package-root.js';
import { type ProcessorAccount, processorMs } from '../processor-time.js';
import { hasSpareThread, storeSpareThread, takeSpareThread } from './spare-threads.js';
import { PING, resultOf, type ThreadAnswer } from './thread-answer.js';

export interface ComputeThreadOptions {
  /** URL of the module whose default export runs the tasks (`answering`), with the extension of the module that names it. */
  readonly module: URL;
  /** The module's `workerData`. */
  readonly data?: unknown;
  /** Maximum size of the thread's JavaScript heap, in MiB. */
  readonly heapMb: number;
}

/** What to do during a task that takes long. */
export interface SlowTask {
  readonly afterMs: number;
  callback(): void;
}

/** Why a thread was ended during a task. */
export type ThreadEnd = 'deadline' | 'memory' | 'crash';

/** A thread was ended during a task; the next task gets another thread. */
export class ThreadEnded extends Error {
  constructor(readonly by: ThreadEnd) {
    super(`the thread of a task was ended: ${by}`);
  }
}

/** After how long a task is looked at for the first time, in milliseconds; it counts as computing until then. */
const FIRST_LOOK_MS = 50;
/** So many times its limit a task may take in all: on a machine that others use, most of it is waiting for a processor. */
const MAX_SLOWDOWN = 20;

/** How long a thread may take to start, in milliseconds; it may have to index a large known set. */
const START_MS = 300_000;

/**
 * A thread for computation, which must not prevent a worker from renewing locks and answering health checks. It starts with
 * its first task, runs one task at a time, and is replaced when it ends.
 */
export class ComputeThread<Task, Result> {
  readonly #options: ComputeThreadOptions;
  #pool: Piscina<Task | typeof PING, ThreadAnswer<Result>> | undefined;
  /** Resolves once the current thread has answered. */
  #ready: Promise<ProcessorAccount> | undefined;
  #account: ProcessorAccount;
  #closed = false;
  #isIdle = false;

  constructor(options: ComputeThreadOptions) {
    this.#options = options;
  }

  /**
   * Starts the thread if there is none, and waits until it is ready. This time does not count for any task.
   * @throws InternalError if it cannot be started, and after `close`.
   */
  async ready(): Promise<void> {
    if (this.#closed) throw new InternalError('the worker has stopped: its threads accept no more tasks');
    this.#pool ??= this.#start();
    const pool = this.#pool;
    this.#ready ??= answered(pool);
    try {
      this.#account = await this.#ready;
      this.#isIdle = true;
    } catch (thrown) {
      // It may have been ended in the meantime, and another one started.
      if (this.#pool === pool) await this.end();
      if (this.#closed || thrown instanceof FleetError) throw thrown;
      throw new InternalError(`a thread that computes could not be started: ${messageOf(thrown)}`, {
        cause: thrown,
      });
    }
  }

  /**
   * Runs one task; `ready` must come before it.
   * @param timeoutMs How long the thread may compute for it.
   * @param signal Aborts the task and ends its thread.
   * @param slow Called back once the thread has computed for `afterMs`, which is less.
   * @throws What the task throws; ThreadEnded; the AbortError of the signal.
   */
  async run(task: Task, timeoutMs: number, signal: AbortSignal, slow?: SlowTask): Promise<Result> {
    const deadline = new AbortController();
    const stopTimers = [this.#onTimeUp(timeoutMs, () => deadline.abort())];
    if (slow !== undefined) stopTimers.push(this.#onTimeUp(slow.afterMs, slow.callback));
    let answer: ThreadAnswer<Result>;
    try {
      if (this.#pool === undefined) throw new InternalError('the thread of a task has not been started');
      this.#isIdle = false;
      answer = await this.#pool.run(task, { signal: AbortSignal.any([signal, deadline.signal]) });
      this.#isIdle = true;
    } catch (thrown) {
      // The thread is gone for some reason: otherwise it would have answered, also with an error.
      this.#ready = undefined;
      if (this.#closed || signal.aborted) throw thrown;
      if (deadline.signal.aborted) throw new ThreadEnded('deadline');
      if (!isOutOfMemory(thrown)) await this.end();
      throw new ThreadEnded(isOutOfMemory(thrown) ? 'memory' : 'crash');
    } finally {
      for (const stop of stopTimers) stop();
    }
    return resultOf(answer);
  }

  /**
   * Calls back when the thread has computed for this long; waiting, such as for Redis or for a processor that others use, does
   * not count.
   * @returns a function that stops it
   */
  #onTimeUp(ms: number, callback: () => void): () => void {
    // Most tasks have ended by then, and to ask the kernel takes as long as some of them.
    const first = Math.min(ms, FIRST_LOOK_MS);
    let timer = setTimeout(() => {
      const [computedBefore, activeBefore] = [this.#computedMs(), this.#activeMs()];
      const look = () => {
        const active = this.#activeMs() - activeBefore;
        const computed = this.#computedMs() - computedBefore;
        // Without an account both are the same.
        const left = Math.min(ms - first - computed, MAX_SLOWDOWN * ms - active);
        // A timer may fire slightly early.
        if (left <= ms / 20) callback();
        else timer = setTimeout(look, left);
      };
      look();
    }, first);
    return () => clearTimeout(timer);
  }

  /** How long the thread has computed since it was started, in milliseconds. */
  #computedMs(): number {
    const computed = this.#account === undefined ? undefined : processorMs(this.#account);
    return computed ?? this.#activeMs();
  }

  /** How long it has not waited for events, be it that it computed or that it had no processor. */
  #activeMs(): number {
    return this.#pool?.threads[0]?.performance.eventLoopUtilization().active ?? 0;
  }

  /** Ends the thread permanently; if it is idle, another worker of the process may get it for a while. */
  async close(): Promise<void> {
    this.#closed = true;
    const [pool, key] = [this.#pool, this.#key];
    if (this.#isIdle && pool !== undefined && key !== undefined && storeSpareThread(key, pool)) {
      pool.off('error', this.#onError);
      this.#pool = undefined;
    }
    await this.end();
  }

  get #key(): string | undefined {
    return spareKey(this.#options);
  }

  /** A thread may end while it has no task: the next task detects that and starts another. */
  readonly #onError = () => {
    this.#ready = undefined;
    this.#isIdle = false;
  };

  /** Ends the thread at once; another one may be started. */
  async end(): Promise<void> {
    const pool = this.#pool;
    this.#pool = undefined;
    this.#ready = undefined;
    this.#isIdle = false;
    pool?.off('error', this.#onError);
    await pool?.destroy();
  }

  #start(): Piscina<Task | typeof PING, ThreadAnswer<Result>> {
    const spare = this.#key === undefined ? undefined : takeSpareThread(this.#key);
    const pool = spare ?? startThread(this.#options);
    pool.on('error', this.#onError);
    return pool;
  }
}

/** Equal for threads that are interchangeable; undefined for those with data of their worker. */
function spareKey({ module, data, heapMb }: ComputeThreadOptions): string | undefined {
  return data === undefined ? `${heapMb} ${module.href}` : undefined;
}

/**
 * Starts a thread that the first `ComputeThread` with the same options takes over, unless one is idle. It loads its module while
 * the process loads what needs the thread, and does not keep the process alive.
 */
export function startSpareThread(options: ComputeThreadOptions): void {
  const key = spareKey(options);
  if (key === undefined || hasSpareThread(key)) return;
  const pool = startThread(options);
  storeSpareThread(key, pool);
  // Who takes it over asks again whether it is ready, and learns why not.
  answered(pool).catch(() => undefined);
}

function startThread({ module, data, heapMb }: ComputeThreadOptions): Piscina {
  const options = loaderOptions(module);
  const pool = new Piscina({
    filename: fileURLToPath(module),
    ...(data === undefined ? {} : { workerData: data }),
    minThreads: 1,
    maxThreads: 1,
    concurrentTasksPerWorker: 1,
    idleTimeout: Number.POSITIVE_INFINITY,
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
    // Without this option a thread has the options of its process.
    ...(options.length > 0 ? { execArgv: options } : {}),
  });
  // An idle thread that ends emits an error, which would end the process if nobody listened.
  pool.on('error', () => undefined);
  return pool;
}

/** Resolves once the thread of a pool has answered, with its account. */
async function answered(pool: Piscina<typeof PING, ThreadAnswer<unknown>>): Promise<ProcessorAccount> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(`it did not start within ${START_MS} ms`), START_MS);
  try {
    const account = resultOf(await pool.run(PING, { signal: late.signal }));
    return typeof account === 'string' ? account : undefined;
  } finally {
    clearTimeout(timer);
  }
}

function isOutOfMemory(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

/**
 * URL of a module next to `importer`, TypeScript or compiled as `importer` is.
 * @param compiled the ending of the compiled module
 */
export function siblingModuleUrl(importer: string, name: string, compiled = '.js'): URL {
  return new URL(`./${name}${importer.endsWith('.ts') ? '.ts' : compiled}`, importer);
}
