import type { WorkLog } from '../agents/agent-runner.js';
import type { ScriptAnalyst } from '../agents/script-analyst.js';
import { messageOf } from '../errors.js';
import { ABORT_REASONS } from './abort-reasons.js';
import { WaitForChildren } from './children/wait-for-children.js';

/** A promise that knows whether anybody waits for it, and whose rejection never ends the process. */
class RequestedPromise<T> extends Promise<T> {
  isAwaited = false;

  /** What `then` returns is an ordinary promise. */
  static override get [Symbol.species]() {
    return Promise;
  }

  /** `await` calls it. */
  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.isAwaited = true;
    return super.then(onFulfilled, onRejected);
  }
}

/** By the error of a request, the attempt that made the request. */
const owners = new WeakMap<object, ForgottenWork>();
/** By a rejected promise that nobody has handled yet, the attempt that it belongs to. */
const unhandled = new WeakMap<Promise<unknown>, ForgottenWork>();
let isListening = false;

/**
 * Finds the requests of one attempt whose errors no code of its processor handles: a request that is not awaited, or an async
 * function around it. Node would end the worker for the second kind. Such an error fails the job, or is logged if
 * the attempt has ended.
 */
export class ForgottenWork {
  readonly #rejected: { readonly promise: RequestedPromise<unknown>; readonly thrown: unknown }[] = [];
  readonly #unhandled = new Map<Promise<unknown>, unknown>();
  #hasEnded = false;

  constructor(
    private readonly jobId: string,
    private readonly log: WorkLog,
  ) {
    listen();
  }

  /** The promise that the processor gets for a request. */
  request<T>(made: Promise<T>): Promise<T> {
    const promise: RequestedPromise<T> = new RequestedPromise((resolve, reject) => {
      made.then(resolve, (thrown: unknown) => {
        if (typeof thrown === 'object' && thrown !== null) owners.set(thrown, this);
        this.#rejected.push({ promise, thrown });
        reject(thrown);
      });
    });
    // Not by its own `then`, which would count as awaited.
    Promise.prototype.then.call(promise, undefined, () => undefined);
    return promise;
  }

  /** The same analyst, with promises of `request`. */
  analyst(analyst: ScriptAnalyst): ScriptAnalyst {
    const methods = Object.entries(analyst).map(([name, compute]) => {
      const call = compute as (...input: unknown[]) => Promise<unknown>;
      return [name, (...input: unknown[]) => this.request(call(...input))];
    });
    // The same functions with the same types.
    return Object.fromEntries(methods) as ScriptAnalyst;
  }

  /**
   * Call it when the processor has returned.
   * @throws the error of a request that nobody handled.
   */
  async assertNoneFailed(): Promise<void> {
    if (this.#rejected.length === 0) return;
    // Node reports unhandled rejections after the promises of the tick.
    await new Promise((resolve) => setImmediate(resolve));
    const lost = this.#rejected.filter(({ promise }) => !promise.isAwaited).map(({ thrown }) => thrown);
    const errors = [...lost, ...this.#unhandled.values()].filter((thrown) => !isWait(thrown));
    if (errors.length === 0) return;
    this.log.warn(
      `job ${this.jobId}: a request of its processor failed and was not awaited, so the job fails with it: ${messageOf(errors[0])}`,
    );
    throw errors[0];
  }

  /** The attempt has ended. */
  end(): void {
    this.#hasEnded = true;
  }

  noteUnhandled(thrown: unknown, promise: Promise<unknown>): void {
    if (!this.#hasEnded) this.#unhandled.set(promise, thrown);
    else if (!isWait(thrown)) {
      this.log.warn(
        `job ${this.jobId}: a request that was not awaited failed after the attempt had ended: ${messageOf(thrown)}`,
      );
    }
  }

  noteHandled(promise: Promise<unknown>): void {
    this.#unhandled.delete(promise);
  }
}

/** The job waits anyway. */
function isWait(thrown: unknown): boolean {
  return thrown instanceof WaitForChildren;
}

function listen(): void {
  if (isListening) return;
  isListening = true;
  process.on('unhandledRejection', (thrown, promise) => {
    const owner = ownerOf(thrown);
    if (owner !== undefined) {
      unhandled.set(promise, owner);
      owner.noteUnhandled(thrown, promise);
      return;
    }
    // The job was aborted, and its own error says so.
    if (ABORTS.has(thrown)) return;
    // Any other one is not of a request. Without this listener, Node would throw it.
    if (process.listenerCount('unhandledRejection') === 1) throw thrown;
  });
  process.on('rejectionHandled', (promise) => unhandled.get(promise)?.noteHandled(promise));
}

const ABORTS: ReadonlySet<unknown> = new Set(Object.values(ABORT_REASONS));

/** Maximum number of causes that are followed. */
const MAX_CAUSES = 10;

/** The attempt whose request failed with this error, or with one of its causes. */
function ownerOf(thrown: unknown): ForgottenWork | undefined {
  let error = thrown;
  for (let depth = 0; depth < MAX_CAUSES; depth += 1) {
    if (typeof error !== 'object' || error === null) return undefined;
    const owner = owners.get(error);
    if (owner !== undefined) return owner;
    error = (error as { readonly cause?: unknown }).cause;
  }
  return undefined;
}
