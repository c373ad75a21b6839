import { once } from 'node:events';
import { type RunningCommand, startFleetCommand } from '../test/support/fleet-command.js';

/**
 * Lock duration of a job in the run, in milliseconds: short, so that the jobs of a crashed worker continue within the run,
 * and long enough for a live one to renew it on a busy machine.
 */
export const LOCK_MS = 4_000;

/** Worker processes, each started again when it is gone. */
export class WorkerPool {
  readonly #workers: RunningCommand[] = [];
  readonly #env: Readonly<Record<string, string>>;
  #starts = 0;

  constructor(env: Readonly<Record<string, string>>) {
    this.#env = env;
  }

  get starts(): number {
    return this.#starts;
  }

  async start(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.#startOne()));
  }

  /** Ends a worker with a signal and starts another one. */
  async replace(victim: number, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const worker = this.#choose(victim);
    if (worker === undefined) return;
    this.#workers.splice(this.#workers.indexOf(worker), 1);
    const ended = worker.end(signal);
    await this.#startOne();
    await ended;
  }

  /** Freezes a worker for a while. */
  async freeze(victim: number, ms: number): Promise<void> {
    const worker = this.#choose(victim);
    worker?.child.kill('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, ms));
    worker?.child.kill('SIGCONT');
  }

  /** Stops all gracefully; returns how many ended with an exit code other than 0. */
  async stop(): Promise<number> {
    const codes = await Promise.all(this.#workers.splice(0).map((worker) => worker.end('SIGTERM')));
    return codes.filter((code) => code !== 0).length;
  }

  /** Cleans up after a failed run. */
  kill(): void {
    for (const { child } of this.#workers.splice(0)) child.kill('SIGKILL');
  }

  #choose(victim: number): RunningCommand | undefined {
    return this.#workers[Math.floor(victim * this.#workers.length)];
  }

  async #startOne(): Promise<void> {
    // Redis may be away now: a worker that cannot start reports it, and is started again.
    for (;;) {
      this.#starts += 1;
      const worker = startFleetCommand(['worker', '--drain', '5'], { env: this.#env });
      try {
        await worker.printed('worker ready');
        this.#workers.push(worker);
        return;
      } catch {
        if (worker.child.exitCode === null && worker.child.signalCode === null)
          await once(worker.child, 'exit');
      }
    }
  }
}
