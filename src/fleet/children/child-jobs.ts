import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { JobError, PayloadError } from '../../errors.js';
import type { ChildOptions, ChildRequest, ChildWork } from '../../processors/processor.js';
import type { ChildHeritage } from '../../producers/add-child.js';
import { failureForChild } from '../../queues/child-failure.js';
import { CONTRACT_VERSION } from '../../queues/common.js';
import { type KindRef, kindNameOf, type PayloadInputOf, type ResultOf } from '../../queues/registry.js';
import { beginChildren, type ChildState, type RequestedChild, type StartedChild } from './child-script.js';
import type { ChildProducer } from './child-submission.js';
import { WaitForChildren } from './wait-for-children.js';

/** A job that may start children. */
export interface ParentJob {
  /** Key of its hash. */
  readonly key: string;
  readonly token: string;
  readonly id: string;
  /** Names of the children that earlier attempts started. */
  readonly startedChildren: readonly StartedChild[];
  readonly heritage: ChildHeritage;
}

interface PreparedChild extends RequestedChild {
  readonly queue: string;
  readonly id: string;
  readonly data: Record<string, unknown>;
  readonly options: ChildOptions<unknown>;
}

/**
 * The children of one job in one attempt. The result of a child that has ended is returned at once. Otherwise the child is
 * added, and the attempt ends: the job runs again, on any worker, when all its children have ended.
 */
export class ChildJobs implements ChildWork {
  readonly #requested = new Set<string>();
  /** Requests are handled one after the other, so children that are requested together are all added before the attempt ends. */
  #last: Promise<unknown> = Promise.resolve();
  #isWaiting = false;

  constructor(
    private readonly client: Redis,
    private readonly producer: () => Promise<ChildProducer>,
    private readonly parent: ParentJob,
  ) {}

  async child<K extends KindRef, Else = never>(
    kind: K,
    payload: PayloadInputOf<K>,
    options: ChildOptions<Else>,
  ): Promise<ResultOf<K> | Else> {
    // The result was validated by the contract of its kind.
    return (await this.childIn(kindNameOf(kind), payload, options)) as ResultOf<K> | Else;
  }

  async childIn(
    queue: string,
    payload: Readonly<Record<string, unknown>>,
    options: ChildOptions<unknown>,
  ): Promise<unknown> {
    const [result] = await this.children([{ queue, payload, options }]);
    return result;
  }

  children(requests: readonly ChildRequest[]): Promise<unknown[]> {
    const handled = this.#last.then(() => this.#handle(requests));
    this.#last = handled.catch(() => undefined);
    return handled;
  }

  /** Whether the job waits for children, once every request was handled. */
  async isWaiting(): Promise<boolean> {
    await this.#last;
    return this.#isWaiting;
  }

  /**
   * Call it after the processor has returned.
   * @throws WaitForChildren if the processor caught the wait. If an earlier attempt started a child that this one did not:
   *   PayloadError `newer-contract` if a newer worker did, else JobError `child-changed`.
   */
  async assertAllStarted(): Promise<void> {
    if (await this.isWaiting()) throw new WaitForChildren();
    const unknown = this.parent.startedChildren.find(({ name }) => !this.#requested.has(name));
    if (unknown === undefined) return;
    const { id } = this.parent;
    if (unknown.version > CONTRACT_VERSION) {
      const message = `a newer worker started the child "${unknown.name}" of job ${id}, which this version does not start`;
      throw new PayloadError('newer-contract', message, { jobId: id });
    }
    const message = `an earlier attempt started the child "${unknown.name}", and this one did not; a retry begins without children`;
    throw new JobError('child-changed', message, { jobId: id, field: unknown.name });
  }

  async #handle(requests: readonly ChildRequest[]): Promise<unknown[]> {
    const producer = await this.producer();
    const children = requests.map((request) => this.#prepare(request, producer));
    const states = await beginChildren(this.client, this.parent, children);
    const missing = children.filter((_, at) => isMissing(states[at]));
    for (const child of missing) await producer.addChild(producer.fleet, this.parent.heritage, child);
    if (states.some((state) => state.state === 'pending' || isMissing(state))) {
      this.#isWaiting = true;
      throw new WaitForChildren();
    }
    const results: unknown[] = [];
    for (const [at, child] of children.entries())
      results.push(await this.#resultOf(child, states[at], producer));
    return results;
  }

  #prepare(request: ChildRequest, { fleet, childId, prepareChild }: ChildProducer): PreparedChild {
    const { queue, payload, options } = request;
    const { name } = options;
    if (this.#requested.has(name)) {
      throw new JobError('child-changed', `the processor starts two children with the name "${name}"`, {
        jobId: this.parent.id,
        field: name,
      });
    }
    this.#requested.add(name);
    const { key, heritage } = this.parent;
    const data = prepareChild(fleet, heritage, queue, payload);
    const digest = createHash('sha256')
      .update(JSON.stringify([queue, data]))
      .digest('base64url');
    const id = childId(key, queue, name, digest);
    return { name, digest, key: fleet.jobKey(queue, id), queue, id, data, options };
  }

  async #resultOf(
    { key, queue, id, options }: PreparedChild,
    state: ChildState | undefined,
    { fleet }: ChildProducer,
  ): Promise<unknown> {
    if (state?.state === 'completed') {
      const value: unknown = JSON.parse(state.result);
      if (!fleet.kinds.has(queue)) return value;
      const result = await fleet.payloads.restore(value, this.parent.key);
      const parsed = fleet.kinds.get(queue).result.safeParse(result);
      if (parsed.success) return parsed.data;
      throw new JobError(
        'broken-record',
        `the result of child ${id} breaks its contract: ${parsed.error.message}`,
        {
          jobId: id,
        },
      );
    }
    if ('orElse' in options) return options.orElse;
    const reason = state?.state === 'failed' ? state.reason : undefined;
    const { code, message } = await failureForChild(this.client, key, reason);
    throw new JobError(code, message, { jobId: this.parent.id });
  }
}

function isMissing(state: ChildState | undefined): boolean {
  return state?.state === 'missing';
}
