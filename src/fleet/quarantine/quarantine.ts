import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { InternalError, JobError } from '../../errors.js';
import { loaderOptions } from '../../package-root.js';
import type { ProcessingLog } from '../process-job.js';
import type { FromQuarantine, QuarantinedJob, QuarantineSettings, ToQuarantine } from './messages.js';
import { fromWire } from './wire-error.js';

export interface QuarantineOptions extends QuarantineSettings {
  /** URL of the program to start: it calls `serveQuarantine`. */
  readonly program: URL;
  /** How long a job that was told to stop may take to do so, in milliseconds; its process is then killed. */
  readonly graceMs: number;
  /** How long the process is kept without a job, in milliseconds. */
  readonly idleMs?: number;
}

const IDLE_MS = 60_000;
/** Whoever kills a worker and its quarantine together does so within so many milliseconds. */
const TOGETHER_MS = 250;
/** The process ended without having taken the job. */
const NEVER_BEGUN = Symbol('never begun');

/**
 * A process for one job at a time, for jobs in whose runs a worker died. A worker's death says nothing about who caused it:
 * the job, a neighbor, or somebody outside. But where this process dies and its worker lives, it was the job. It is
 * started for the first such job, and ends with its worker, also with one that is killed.
 */
export class Quarantine {
  /** The process, once it is ready. */
  #child: Promise<ChildProcess> | undefined;
  #running: ChildProcess | undefined;
  /** Resolves when the job before has left. */
  #free: Promise<unknown> = Promise.resolve();
  #closed = false;
  #idle: NodeJS.Timeout | undefined;

  constructor(private readonly options: QuarantineOptions) {}

  /**
   * Starts the process where none runs.
   * @returns its id
   * @throws InternalError where it cannot be started: then a job must be processed elsewhere.
   */
  async open(): Promise<number> {
    return (await this.#opened()).pid ?? 0;
  }

  /**
   * Processes a job there, once the one before has left.
   * @throws JobError `killed-its-worker` where its process died of it; what the job throws; the reason of the signal where
   *   the job had to be killed to stop.
   */
  run(given: QuarantinedJob, signal: AbortSignal, log: ProcessingLog): Promise<unknown> {
    const done = this.#free.then(async () => {
      try {
        const first = await this.#process(await this.#opened(), given, signal, log);
        if (first !== NEVER_BEGUN) return first;
        // It may have been ended while it had no job. Twice is no accident.
        const second = await this.#process(await this.#opened(), given, signal, log);
        if (second !== NEVER_BEGUN) return second;
        throw proofAgainst('before it had begun');
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

  /** The process, which runs. */
  #opened(): Promise<ChildProcess> {
    if (this.#closed) throw new InternalError('the worker has stopped, and its quarantine with it');
    clearTimeout(this.#idle);
    this.#child ??= this.#start();
    return this.#child;
  }

  async #start(): Promise<ChildProcess> {
    const { program, redisUrl, prefix, workspaces, computeLimits } = this.options;
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
      child.once('message', (message: FromQuarantine) => {
        if (message.tell === 'ready') resolve();
        else if (message.tell === 'error') reject(fromWire(message.error));
      });
      child.on('error', reject);
      child.once('exit', (code, by) => reject(new InternalError(`the quarantine ended ${howIt(code, by)}`)));
    });
    send(child, { tell: 'settings', redisUrl, prefix, workspaces, computeLimits });
    try {
      await ready;
      return child;
    } catch (thrown) {
      if (this.#running === child) {
        this.#child = undefined;
        this.#running = undefined;
      }
      child.kill('SIGKILL');
      throw new InternalError('no quarantine could be started', { cause: thrown });
    }
  }

  /** What the job gives, or `NEVER_BEGUN`. */
  async #process(
    child: ChildProcess,
    given: QuarantinedJob,
    signal: AbortSignal,
    log: ProcessingLog,
  ): Promise<unknown> {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      let begun = false;
      let grace: NodeJS.Timeout | undefined;
      const onAbort = () => {
        send(child, { tell: 'abort', reason: signal.reason });
        grace = setTimeout(() => child.kill('SIGKILL'), this.options.graceMs);
      };
      const onMessage = (message: FromQuarantine) => {
        if (message.tell === 'begun') begun = true;
        else if (message.tell === 'line') log[message.level](message.text);
        else if (message.tell === 'result') settle(() => resolve(message.result));
        else if (message.tell === 'error') settle(() => reject(fromWire(message.error)));
      };
      const onExit = (code: number | null, by: NodeJS.Signals | null) => {
        if (signal.aborted) return settle(() => reject(signal.reason));
        // Ended by `close`: the worker is at its end, and whoever takes the job over goes on with it.
        if (this.#closed) return;
        if (!begun) return settle(() => resolve(NEVER_BEGUN));
        const proof = proofAgainst(howIt(code, by));
        setTimeout(() => settle(() => reject(proof)), TOGETHER_MS);
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
      send(child, { tell: 'run', ...given });
    });
  }

  async #end(): Promise<void> {
    // From here on nobody is given this process any more, not even one that is still starting.
    const child = this.#running;
    this.#child = undefined;
    this.#running = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
}

function proofAgainst(how: string): JobError {
  return new JobError(
    'killed-its-worker',
    `the job killed its worker, and then the process in which it ran alone: that ended ${how}`,
  );
}

function send(child: ChildProcess, message: ToQuarantine): void {
  // Where the process has just ended, its end says what there is to say.
  child.send(message, () => undefined);
}

function howIt(code: number | null, by: NodeJS.Signals | null): string {
  return by === null ? `with code ${code}` : `by ${by}`;
}
