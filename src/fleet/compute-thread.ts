import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { FleetError, InternalError, messageOf } from '../errors.js';
import { loaderOptions } from '../package-root.js';
import { PING, resultOf, type ThreadAnswer } from './thread-answer.js';

export interface ComputeThreadOptions {
  /** URL of the module whose default export does the tasks (`answering`), with the ending of the module that names it. */
  readonly module: URL;
  /** What the module finds as its `workerData`. */
  readonly data?: unknown;
  /** Most memory of the thread's JavaScript heap, in MiB. */
  readonly heapMb: number;
}

/** What ended a thread in the middle of a task. */
export type ThreadEnd = 'deadline' | 'memory' | 'crash';

/** A thread was ended in the middle of a task; the next task has another thread. */
export class ThreadEnded extends Error {
  constructor(readonly by: ThreadEnd) {
    super(`the thread of a task was ended: ${by}`);
  }
}

/** How long a thread may take to start, in milliseconds; the index of a large known set is made then. */
const START_MS = 300_000;

/**
 * A thread for computing, which must not keep a worker from renewing locks and answering health checks. It is started with
 * its first task, does one task at a time, and is replaced when it ends.
 */
export class ComputeThread<Task, Result> {
  readonly #options: ComputeThreadOptions;
  #pool: Piscina<Task | typeof PING, ThreadAnswer<Result>> | undefined;
  /** Resolves once the thread that is there now has answered. */
  #ready: Promise<unknown> | undefined;
  #closed = false;

  constructor(options: ComputeThreadOptions) {
    this.#options = options;
  }

  /**
   * Starts the thread where there is none, and waits until it is ready: the time that this takes is no task's.
   * @throws InternalError where it cannot be started, and after `close`.
   */
  async ready(): Promise<void> {
    if (this.#closed) throw new InternalError('the worker has stopped: its threads take no more tasks');
    this.#pool ??= this.#start();
    const pool = this.#pool;
    this.#ready ??= answered(pool);
    try {
      await this.#ready;
    } catch (thrown) {
      // It may have been ended meanwhile, and another one started.
      if (this.#pool === pool) await this.end();
      if (this.#closed || thrown instanceof FleetError) throw thrown;
      throw new InternalError(`a thread that computes could not be started: ${messageOf(thrown)}`, {
        cause: thrown,
      });
    }
  }

  /**
   * Does one task; `ready` goes before it.
   * @param timeoutMs How long the thread may be busy with it.
   * @param signal Gives the task up; its thread is ended with it.
   * @throws What the task throws; ThreadEnded; the AbortError of the signal.
   */
  async run(task: Task, timeoutMs: number, signal: AbortSignal): Promise<Result> {
    const deadline = new AbortController();
    const stopTimer = this.#onTimeUp(timeoutMs, () => deadline.abort());
    let answer: ThreadAnswer<Result>;
    try {
      if (this.#pool === undefined) throw new InternalError('the thread of a task has not been started');
      answer = await this.#pool.run(task, { signal: AbortSignal.any([signal, deadline.signal]) });
    } catch (thrown) {
      // The thread is gone, whatever the reason: what it computes is answered, errors as well.
      this.#ready = undefined;
      if (this.#closed || signal.aborted) throw thrown;
      if (deadline.signal.aborted) throw new ThreadEnded('deadline');
      if (!isOutOfMemory(thrown)) await this.end();
      throw new ThreadEnded(isOutOfMemory(thrown) ? 'memory' : 'crash');
    } finally {
      stopTimer();
    }
    return resultOf(answer);
  }

  /**
   * Calls back when the thread has been busy for so long; what it waits for, as for Redis, is not counted.
   * @returns what stops it
   */
  #onTimeUp(ms: number, callback: () => void): () => void {
    const before = this.#busyMs();
    let timer: NodeJS.Timeout;
    const look = () => {
      const left = ms - (this.#busyMs() - before);
      // A timer may come a little before its time.
      if (left <= ms / 20) callback();
      else timer = setTimeout(look, left);
    };
    timer = setTimeout(look, ms);
    return () => clearTimeout(timer);
  }

  /** How long the thread has been busy since it was started. */
  #busyMs(): number {
    return this.#pool?.threads[0]?.performance.eventLoopUtilization().active ?? 0;
  }

  /** Ends the thread for good. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.end();
  }

  /** Ends the thread, whatever it is doing; another one may be started. */
  async end(): Promise<void> {
    const pool = this.#pool;
    this.#pool = undefined;
    this.#ready = undefined;
    await pool?.destroy();
  }

  #start(): Piscina<Task | typeof PING, ThreadAnswer<Result>> {
    const { module, data, heapMb } = this.#options;
    const options = loaderOptions(module);
    const pool = new Piscina<Task | typeof PING, ThreadAnswer<Result>>({
      filename: fileURLToPath(module),
      ...(data === undefined ? {} : { workerData: data }),
      minThreads: 1,
      maxThreads: 1,
      concurrentTasksPerWorker: 1,
      idleTimeout: Number.POSITIVE_INFINITY,
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
      // Without options of its own a thread has those of its process.
      ...(options.length > 0 ? { execArgv: options } : {}),
    });
    // A thread that ends while it has no task: the next task finds out, and starts another.
    pool.on('error', () => {
      if (this.#pool === pool) this.#ready = undefined;
    });
    return pool;
  }
}

/** Resolves once the thread of a pool has answered. */
async function answered(pool: Piscina<typeof PING, ThreadAnswer<unknown>>): Promise<void> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(`it did not start within ${START_MS} ms`), START_MS);
  try {
    resultOf(await pool.run(PING, { signal: late.signal }));
  } finally {
    clearTimeout(timer);
  }
}

function isOutOfMemory(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

/** URL of a module beside the one that asks, which is TypeScript or compiled as that one is. */
export function siblingModuleUrl(asking: string, name: string): URL {
  return new URL(`./${name}${asking.endsWith('.ts') ? '.ts' : '.js'}`, asking);
}
