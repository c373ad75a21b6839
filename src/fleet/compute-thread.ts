import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { InternalError } from '../errors.js';

export interface ComputeThreadOptions {
  /** URL of the module whose default export does the tasks, with the ending of the module that names it. */
  readonly module: URL;
  /** What the module finds as its `workerData`. */
  readonly data?: unknown;
  /** Tasks that the thread works on at once; more than one is for tasks that also wait. */
  readonly atOnce?: number;
}

/**
 * A thread for computing that takes seconds: in the worker's own thread it would keep locks from being renewed and
 * health checks from being answered. It is started at the first task, and one that dies is replaced.
 */
export class ComputeThread<Task, Result> {
  readonly #options: ComputeThreadOptions;
  #pool: Piscina<Task, Result> | undefined;
  #closed = false;

  constructor(options: ComputeThreadOptions) {
    this.#options = options;
  }

  /**
   * @param signal Takes the task back; where it runs already, its thread is ended with it, so give one only where
   *   tasks run one at a time.
   * @throws What the task throws; an `AbortError`; InternalError after `close`.
   */
  async run(task: Task, signal?: AbortSignal): Promise<Result> {
    if (this.#closed) throw new InternalError('the worker has stopped: its threads take no more tasks');
    this.#pool ??= this.#start();
    return this.#pool.run(task, signal === undefined ? {} : { signal });
  }

  /** Ends the thread at once, whatever it is doing; tasks that wait for it are rejected. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#pool?.destroy();
  }

  #start(): Piscina<Task, Result> {
    const { module, data, atOnce = 1 } = this.#options;
    return new Piscina({
      filename: fileURLToPath(module),
      ...(data === undefined ? {} : { workerData: data }),
      // With none at least, tasks that wait behind one that is given up or kills its thread would get no other thread.
      minThreads: 1,
      maxThreads: 1,
      concurrentTasksPerWorker: atOnce,
      idleTimeout: Number.POSITIVE_INFINITY,
      // The same code runs from its source under tsx, where a thread needs the loader as well.
      ...(module.pathname.endsWith('.ts') ? { execArgv: ['--import', 'tsx'] } : {}),
    });
  }
}

/** URL of a module beside the one that asks, which is TypeScript or compiled as that one is. */
export function besideModule(asking: string, name: string): URL {
  return new URL(`./${name}${asking.endsWith('.ts') ? '.ts' : '.js'}`, asking);
}
