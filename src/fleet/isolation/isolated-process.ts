import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { InternalError, JobError } from '../../errors.js';
import { loaderOptions } from '../../package-root.js';
import type { ProcessingLog } from '../process-job.js';
import type {
  FromIsolatedProcess,
  IsolatedJob,
  IsolatedProcessSettings,
  ToIsolatedProcess,
} from './messages.js';
import { fromWire } from './wire-error.js';

export interface IsolatedProcessOptions extends IsolatedProcessSettings {
  /** URL of the program to start: it calls `serveIsolatedProcess`. */
  readonly program: URL;
  /** How long a job may run after its abort, in milliseconds; its process is then killed. */
  readonly graceMs: number;
  /** How long the process stays alive without a job, in milliseconds. */
  readonly idleMs?: number;
}

const IDLE_MS = 60_000;
/** Maximum time between the ends of a worker and its isolated process if both are killed together, in milliseconds. */
const TOGETHER_MS = 250;
/** The process ended before it started the job. */
const NEVER_STARTED = Symbol('never started');

/**
 * A child process that runs one job at a time, for jobs whose worker crashed. A crash of a worker does not show its cause:
 * the job, another job, or a kill from outside. But if this process dies while its worker lives, the job is the cause. It is
 * started for the first such job, and ends with its worker, even if that is killed.
 */
export class IsolatedProcess {
  /** The process, once it is ready. */
  #child: Promise<ChildProcess> | undefined;
  #running: ChildProcess | undefined;
  /** Resolves when the previous job has ended. */
  #free: Promise<unknown> = Promise.resolve();
  #closed = false;
  #idle: NodeJS.Timeout | undefined;

  constructor(private readonly options: IsolatedProcessOptions) {}

  /**
   * Starts the process if none runs.
   * @returns its id
   * @throws InternalError if it cannot be started: then a job must be processed elsewhere.
   */
  async open(): Promise<number> {
    return (await this.#opened()).pid ?? 0;
  }

  /**
   * Processes a job there after the previous one has ended.
   * @throws JobError `killed-its-worker` if its process died; what the job throws; the reason of the signal if the job had
   *   to be killed to stop.
   */
  run(job: IsolatedJob, signal: AbortSignal, log: ProcessingLog): Promise<unknown> {
    const done = this.#free.then(async () => {
      try {
        const first = await this.#process(await this.#opened(), job, signal, log);
        if (first !== NEVER_STARTED) return first;
        // It may have been ended while it had no job. Twice is not a coincidence.
        const second = await this.#process(await this.#opened(), job, signal, log);
        if (second !== NEVER_STARTED) return second;
        throw poisonPillError('before it had started the job');
      } finally {
        this.#idle = setTimeout(() => void this.#end(), this.options.idleMs ?? IDLE_MS);
        this.#idle.unref();
      }
    });
    this.#free = done.catch(() => undefined);
    return done;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idle);
    await this.#end();
  }

  /** The running process; starts it if necessary. */
  #opened(): Promise<ChildProcess> {
    if (this.#closed) throw new InternalError('the worker has stopped, and its isolated process with it');
    clearTimeout(this.#idle);
    this.#child ??= this.#start();
    return this.#child;
  }

  async #start(): Promise<ChildProcess> {
    const { program, redisUrl, prefix, workspaces, computeLimits, kindsFrom, submission, trials } =
      this.options;
    const child = fork(fileURLToPath(program), {
      execArgv: loaderOptions(program),
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      serialization: 'advanced',
    });
    this.#running = child;
    child.once('exit', () => {
      if (this.#running === child) this.#child = undefined;
    });
    const ready = new Promise<void>((resolve, reject) => {
      child.once('message', (message: FromIsolatedProcess) => {
        if (message.type === 'ready') resolve();
        else if (message.type === 'error') reject(fromWire(message.error));
      });
      child.on('error', reject);
      child.once('exit', (code, by) =>
        reject(new InternalError(`the isolated process ended ${exitText(code, by)}`)),
      );
    });
    send(child, {
      type: 'settings',
      redisUrl,
      prefix,
      workspaces,
      computeLimits,
      kindsFrom,
      submission,
      trials,
    });
    try {
      await ready;
      return child;
    } catch (thrown) {
      if (this.#running === child) {
        this.#child = undefined;
        this.#running = undefined;
      }
      child.kill('SIGKILL');
      throw new InternalError('the isolated process could not be started', { cause: thrown });
    }
  }

  /** The result of the job, or `NEVER_STARTED`. */
  async #process(
    child: ChildProcess,
    job: IsolatedJob,
    signal: AbortSignal,
    log: ProcessingLog,
  ): Promise<unknown> {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      let started = false;
      let grace: NodeJS.Timeout | undefined;
      const onAbort = () => {
        send(child, { type: 'abort', reason: signal.reason });
        grace = setTimeout(() => child.kill('SIGKILL'), this.options.graceMs);
      };
      const onMessage = (message: FromIsolatedProcess) => {
        if (message.type === 'started') started = true;
        else if (message.type === 'line') log[message.level](message.text);
        else if (message.type === 'result') settle(() => resolve(message.result));
        else if (message.type === 'error') settle(() => reject(fromWire(message.error)));
      };
      const onExit = (code: number | null, by: NodeJS.Signals | null) => {
        if (signal.aborted) return settle(() => reject(signal.reason));
        // Ended by `close`: the worker stops, and another worker continues the job.
        if (this.#closed) return;
        if (!started) return settle(() => resolve(NEVER_STARTED));
        const error = poisonPillError(exitText(code, by));
        setTimeout(() => settle(() => reject(error)), TOGETHER_MS);
      };
      const settle = (finish: () => void) => {
        clearTimeout(grace);
        signal.removeEventListener('abort', onAbort);
        child.off('message', onMessage);
        child.off('exit', onExit);
        finish();
      };
      child.on('message', onMessage);
      child.once('exit', onExit);
      signal.addEventListener('abort', onAbort, { once: true });
      send(child, { type: 'run', ...job });
    });
  }

  async #end(): Promise<void> {
    // From here on no job gets this process any more, not even one that is still starting.
    const child = this.#running;
    this.#child = undefined;
    this.#running = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
}

function poisonPillError(how: string): JobError {
  return new JobError(
    'killed-its-worker',
    `the job killed its worker, and then the isolated process in which it ran, which ended ${how}`,
  );
}

function send(child: ChildProcess, message: ToIsolatedProcess): void {
  // If the process has just ended, its exit event handles that.
  child.send(message, () => undefined);
}

function exitText(code: number | null, by: NodeJS.Signals | null): string {
  return by === null ? `with code ${code}` : `by ${by}`;
}
