import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Input } from '../target.js';
import { MAX_CPU_MS, MAX_HEAP_MB, MAX_WAIT_MS } from './bounds.js';
import type { ChildOptions } from './child.js';
import type { RunResult } from './run-result.js';
import { TOO_SLOW } from './watchdog.js';

const CHILD = fileURLToPath(new URL('./child.ts', import.meta.url));
const TARGETS_MODULE = new URL('../targets/index.ts', import.meta.url).href;
/** How much of the process' last output is kept, in characters. */
const TAIL = 4_000;

/** Runs inputs of one target in a separate process, one after the other, and starts another process if that one ends. */
export class Executor {
  readonly #options: ChildOptions;
  readonly #heapMb: number;
  readonly #program: string;
  #child: ChildProcess | undefined;
  #errors = '';
  /** Called when the process ends while it runs an input. */
  #onEnd: ((result: RunResult) => void) | undefined;

  /** @param options.program The module that the process runs: this folder's `child.ts`, or a compiled one. */
  constructor(
    name: string,
    { module = TARGETS_MODULE, ordinaryMs = MAX_CPU_MS, heapMb = MAX_HEAP_MB, program = CHILD } = {},
  ) {
    this.#options = { name, module, ordinaryMs };
    this.#heapMb = heapMb;
    this.#program = program;
  }

  async run(input: Input, twice = true): Promise<RunResult> {
    const child = this.#child ?? (await this.#start());
    return new Promise((resolve) => {
      const settle = (result: RunResult) => {
        clearTimeout(timer);
        child.removeListener('message', settle);
        this.#onEnd = undefined;
        resolve(result);
      };
      const timer = setTimeout(() => {
        settle(failed('stuck', 'stuck', `gave no answer for ${MAX_WAIT_MS / 1_000} s`));
        this.#child = undefined;
        endGroup(child);
      }, MAX_WAIT_MS);
      child.once('message', settle);
      this.#onEnd = settle;
      // Writing to a process that is ending fails; its end is reported separately.
      child.send({ input, twice }, () => undefined);
    });
  }

  async close(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#child = undefined;
    const ended = once(child, 'exit');
    child.disconnect();
    await ended;
  }

  async #start(): Promise<ChildProcess> {
    this.#errors = '';
    const child = fork(this.#program, [JSON.stringify(this.#options)], {
      execArgv: [
        ...(this.#program.endsWith('.ts') ? ['--import', 'tsx'] : []),
        `--max-old-space-size=${this.#heapMb}`,
      ],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      // A separate process group: programs that the target started, such as a Redis server, are killed with it.
      detached: true,
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#errors = `${this.#errors}${text}`.slice(-TAIL);
    });
    this.#child = child;
    // `close` comes after the last output.
    child.once('close', (code, signal) => {
      endGroup(child);
      if (this.#child !== child) return;
      this.#child = undefined;
      this.#onEnd?.(this.#resultOnEnd(code, signal));
    });
    const ended = once(child, 'close').then(() => false);
    const started = await Promise.race([once(child, 'message').then(() => true), ended]);
    if (!started) throw new Error(`the target ${this.#options.name} does not start: ${this.#errors}`);
    return child;
  }

  #resultOnEnd(code: number | null, signal: NodeJS.Signals | null): RunResult {
    const said = this.#errors.trim();
    if (said.includes(TOO_SLOW)) return failed('slow', 'slow', 'was ended: it used far more than its bound');
    if (/heap limit|out of memory/i.test(said)) {
      return failed('heap', 'heap', `used more than the heap of ${this.#heapMb} MB`);
    }
    const detail = `the process ended (${signal ?? `exit code ${code}`}): ${said}`;
    const origin = /src\/[\w./-]+:\d+/.exec(said)?.[0] ?? said.slice(0, 80);
    return failed('crash', `crash ${origin}`, detail);
  }
}

function failed(
  defect: Extract<RunResult, { kind: 'failed' }>['defect'],
  signature: string,
  detail: string,
): RunResult {
  return { kind: 'failed', defect, signature, detail };
}

/** Ends a process and the programs that it started. */
function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch (thrown) {
    // Usually all have ended.
    if ((thrown as NodeJS.ErrnoException).code !== 'ESRCH') throw thrown;
  }
}
