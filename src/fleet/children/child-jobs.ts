import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { JobError, PayloadError } from '../../errors.js';
import type {
  ChildEvaluation,
  ChildOptions,
  ChildRequest,
  ChildWork,
  EvaluationOutcome,
} from '../../processors/processor.js';
import type { ChildHeritage } from '../../producers/add-child.js';
import { CHILD_GONE, failureForChild, failureOf } from '../../queues/child-failure.js';
import { CONTRACT_VERSION } from '../../queues/common.js';
import { readRecord } from '../../queues/read-record.js';
import { hasOnlyUnknownFields } from '../../queues/read-result.js';
import type { KindRef, PayloadInputOf, ResultOf } from '../../queues/registry.js';
import { SolutionCheckResultSchema } from '../../queues/solution-check.js';
import {
  type KindRequest,
  requestInQueue,
  requestOfEvaluation,
  requestOfKind,
  requestsOf,
} from './child-arguments.js';
import {
  beginChildren,
  type ChildState,
  MAX_WITH_FOLLOW_UPS,
  type RequestedChild,
  recordReceived,
  type StartedChild,
} from './child-script.js';
import type { ChildProducer } from './child-submission.js';
import { assertKindExists } from './known-kind.js';
import { unreadableResult } from './unreadable-result.js';
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

/** A child whose id is decided before it is added. */
export interface DecidedChild {
  readonly name: string;
  readonly queue: string;
  readonly id: string;
}

interface AddedChild extends RequestedChild {
  /** @param isNew Whether there is no such job. */
  add(isNew: boolean): Promise<void>;
}

interface PreparedChild extends AddedChild {
  readonly queue: string;
  readonly id: string;
  readonly options: ChildOptions<unknown>;
  /** Key of the check of an evaluation. */
  readonly checkKey?: string;
}

/** A job, or an evaluation with its check. */
type Requested = Pick<ChildRequest, 'queue' | 'options'> &
  (KindRequest | { readonly evaluation: ChildEvaluation });

/**
 * The children of one job in one attempt. The result of a child that has ended is returned at once. Otherwise the child is
 * added, and the attempt ends: the job runs again, on any worker, when all its children have ended.
 */
export class ChildJobs implements ChildWork {
  readonly #ids = new Map<string, string>();
  /** Requests are handled one after the other, so children that are requested together are all added before the attempt ends. */
  #last: Promise<unknown> = Promise.resolve();
  #isWaiting = false;
  /** Whether a person has retried a child whose failure an earlier attempt received: others may follow from it now. */
  #isChanged = false;

  constructor(
    private readonly client: Redis,
    private readonly producer: () => Promise<ChildProducer>,
    private readonly parent: ParentJob,
    /** Makes the promise that the processor gets. */
    private readonly returned: <T>(made: Promise<T>) => Promise<T> = mayBeForgotten,
  ) {}

  child<K extends KindRef, Else = never>(
    kind: K,
    payload: PayloadInputOf<K>,
    options: ChildOptions<Else>,
  ): Promise<ResultOf<K> | Else> {
    const requested = this.#request(() => [requestOfKind(this.parent.id, kind, payload, options)]);
    // The result was validated by the contract of its kind.
    return this.returned(requested.then(([result]) => result as ResultOf<K> | Else));
  }

  childIn(
    queue: string,
    payload: Readonly<Record<string, unknown>>,
    options: ChildOptions<unknown>,
  ): Promise<unknown> {
    const requested = this.#request(() => [requestInQueue(this.parent.id, { queue, payload, options })]);
    return this.returned(requested.then(([result]) => result));
  }

  children(requests: readonly ChildRequest[]): Promise<unknown[]> {
    return this.returned(this.#request(() => requestsOf(this.parent.id, requests)));
  }

  evaluation(evaluation: ChildEvaluation, options: Pick<ChildOptions, 'name'>): Promise<EvaluationOutcome> {
    const requested = this.#request(() => [requestOfEvaluation(this.parent.id, evaluation, options)]);
    // `#outcomeOf` made it.
    return this.returned(requested.then(([outcome]) => outcome as EvaluationOutcome));
  }

  /** @param requestsOf Checks the arguments; it is called at once. */
  #request(requestsOf: () => readonly Requested[]): Promise<unknown[]> {
    const checked = mayBeForgotten(new Promise<readonly Requested[]>((done) => done(requestsOf())));
    const handled = this.#last.then(() => checked).then((requests) => this.#handle(requests));
    this.#last = handled.catch(() => undefined);
    return handled;
  }

  /** The id that a child gets. @throws PayloadError if its payload breaks the contract. */
  async idOf(request: ChildRequest): Promise<string> {
    return this.#prepareJob(request, await this.producer()).id;
  }

  /**
   * Runs children whose ids are decided, however they end. The payload of one is made only to add it: no other version or
   * setting of a worker can change a child that was started.
   * @throws WaitForChildren until all have ended.
   */
  async finish(
    decided: readonly DecidedChild[],
    payloadOf: (child: DecidedChild) => Promise<Readonly<Record<string, unknown>>>,
  ): Promise<void> {
    const { fleet, addChild, prepareChild } = await this.producer();
    const { heritage } = this.parent;
    const children = decided.map((child) => {
      const { name, queue, id } = child;
      const add = async (isNew: boolean) => {
        const data = prepareChild(fleet, heritage, queue, await payloadOf(child));
        await addChild(fleet, heritage, { queue, id, data, isKind: true }, { isNew });
      };
      return { name, digest: id, key: fleet.jobKey(queue, id), add };
    });
    await this.#begin(children, MAX_WITH_FOLLOW_UPS);
  }

  get ids(): ReadonlyMap<string, string> {
    return this.#ids;
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
    if (this.#isChanged) return;
    const unknown = this.parent.startedChildren.find(({ name }) => !this.#ids.has(name));
    if (unknown === undefined) return;
    const { id } = this.parent;
    if (unknown.version > CONTRACT_VERSION) {
      const message = `a newer worker started the child "${unknown.name}" of job ${id}, which this version does not start`;
      throw new PayloadError('newer-contract', message, { jobId: id });
    }
    const message = `an earlier attempt started the child "${unknown.name}", and this one did not; a retry begins without children`;
    throw new JobError('child-changed', message, { jobId: id, field: unknown.name });
  }

  async #handle(requests: readonly Requested[]): Promise<unknown[]> {
    const producer = await this.producer();
    for (const request of requests) await this.#assertKindExists(request, producer);
    const { children, states } = await this.#start(requests, producer);
    const results: unknown[] = [];
    for (const [at, child] of children.entries())
      results.push(await this.#resultOf(child, states[at], producer));
    return results;
  }

  /** A kind whose child was started before exists. */
  async #assertKindExists(request: Requested, { fleet }: ChildProducer): Promise<void> {
    const { queue, options } = request;
    if (!('mustExist' in request) || !request.mustExist || fleet.kinds.has(queue)) return;
    if (this.parent.startedChildren.some(({ name }) => name === options.name)) return;
    const { prefix, kinds } = fleet;
    await assertKindExists(this.client, { prefix, kinds: kinds.names }, queue, this.parent.id);
  }

  /** @throws WaitForChildren unless all have ended. */
  async #start(
    requests: readonly Requested[],
    producer: ChildProducer,
  ): Promise<{ readonly children: readonly PreparedChild[]; readonly states: readonly ChildState[] }> {
    const children = requests.map((request) => this.#prepare(request, producer));
    return { children, states: await this.#begin(children) };
  }

  /** Adds the children that were not added before. @throws WaitForChildren unless all have ended. */
  async #begin(children: readonly AddedChild[], max?: number): Promise<readonly ChildState[]> {
    const states = await beginChildren(this.client, this.parent, children, max);
    for (const [at, child] of children.entries()) {
      const state = states[at]?.state;
      if (state === 'new' || state === 'missing') await child.add(state === 'new');
    }
    if (states.some(({ state }) => state === 'pending' || state === 'new' || state === 'missing')) {
      this.#isWaiting = true;
      throw new WaitForChildren();
    }
    return states;
  }

  #prepare(request: Requested, producer: ChildProducer): PreparedChild {
    const { name } = request.options;
    if (this.#ids.has(name)) {
      throw new JobError('child-changed', `the processor starts two children with the name "${name}"`, {
        jobId: this.parent.id,
        field: name,
      });
    }
    const prepared =
      'evaluation' in request
        ? this.#prepareEvaluation(request.evaluation, request.options, producer)
        : this.#prepareJob(request, producer);
    this.#ids.set(name, prepared.id);
    return prepared;
  }

  #prepareJob(
    { queue, payload, options, isKind: namesKind = false }: KindRequest,
    producer: ChildProducer,
  ): PreparedChild {
    const { fleet, addChild, childId, prepareChild } = producer;
    const { name, attempts } = options;
    const { key, heritage } = this.parent;
    const data = prepareChild(fleet, heritage, queue, payload);
    const digest = digestOf([queue, data]);
    const id = childId(key, queue, name, digest);
    const isKind = namesKind || fleet.kinds.has(queue);
    const child = { queue, id, data, isKind, ...(attempts === undefined ? {} : { attempts }) };
    const add = (isNew: boolean) => addChild(fleet, heritage, child, { isNew });
    return { name, digest, key: fleet.jobKey(queue, id), queue, id, options, add };
  }

  #prepareEvaluation(
    evaluation: ChildEvaluation,
    options: ChildOptions<unknown>,
    { fleet, addChildEvaluation, childKey, prepareChildEvaluation }: ChildProducer,
  ): PreparedChild {
    const { name } = options;
    const { key, heritage } = this.parent;
    const digest = digestOf([evaluation, heritage.tags]);
    const root = prepareChildEvaluation(fleet, heritage, evaluation, childKey(key, name, digest));
    const { queue, id, children: [check] = [] } = root;
    const checkKey = check && fleet.jobKey(check.queue, check.id);
    const add = (isNew: boolean) => addChildEvaluation(fleet, heritage, root, { isNew });
    return {
      name,
      digest,
      key: fleet.jobKey(queue, id),
      queue,
      id,
      options,
      ...(checkKey && { checkKey }),
      add,
    };
  }

  /** How an evaluation ended, with the result of its check, which the evaluation's job has. */
  async #outcomeOf(
    child: PreparedChild,
    checkKey: string,
    state: ChildState | undefined,
  ): Promise<EvaluationOutcome> {
    const stored = await this.client.hget(`${child.key}:processed`, checkKey);
    const reading = SolutionCheckResultSchema.safeParse(readRecord(z.unknown(), stored)?.value);
    if (reading.error && hasOnlyUnknownFields(reading.error))
      throw unreadableResult(this.parent.id, child.id, reading.error);
    const check = reading.data;
    if (state?.state !== 'completed') {
      const failure = await failureOf(this.client, child.key, reasonOf(state));
      await this.#tell(child, state, [failure, check]);
      return { ...(check && { check }), failure };
    }
    await this.#tell(child, state);
    if (check === undefined) {
      const message = `the check of evaluation ${child.id} is no longer stored, or breaks its contract`;
      throw new JobError('broken-record', message, { jobId: child.id });
    }
    return { check, returned: JSON.parse(state.result) };
  }

  /** Records the failure that the processor gets, or that it gets none. */
  async #tell({ name }: PreparedChild, state: ChildState | undefined, failure?: unknown): Promise<void> {
    const digest = failure === undefined ? '' : digestOf(failure);
    if ((state?.received ?? '') === digest) return;
    const isChange = await recordReceived(this.client, this.parent, name, digest, this.#ids.keys());
    if (isChange) this.#isChanged = true;
  }

  async #resultOf(
    child: PreparedChild,
    state: ChildState | undefined,
    { fleet }: ChildProducer,
  ): Promise<unknown> {
    const { key, queue, id, options, checkKey } = child;
    if (checkKey !== undefined) return this.#outcomeOf(child, checkKey, state);
    if (state?.state === 'completed') {
      await this.#tell(child, state);
      const value: unknown = JSON.parse(state.result);
      if (!fleet.kinds.has(queue)) return value;
      const result = await fleet.payloads.restore(value, this.parent.key);
      const parsed = fleet.kinds.get(queue).result.safeParse(result);
      if (parsed.success) return parsed.data;
      throw unreadableResult(this.parent.id, id, parsed.error);
    }
    if ('orElse' in options) {
      await this.#tell(child, state, 'orElse');
      return options.orElse;
    }
    const reason = reasonOf(state);
    if (options.onFailure !== undefined) {
      const failure = await failureOf(this.client, key, reason);
      await this.#tell(child, state, failure);
      return options.onFailure(failure);
    }
    const { code, message } = await failureForChild(this.client, key, reason);
    throw new JobError(code, message, { jobId: this.parent.id });
  }
}

/** A processor may forget to await it. The job waits for its child all the same, and an unhandled rejection would end the worker. */
function mayBeForgotten<T>(requested: Promise<T>): Promise<T> {
  requested.catch(() => undefined);
  return requested;
}

/** Why a child failed that has not completed. */
function reasonOf(state: ChildState | undefined): string {
  return state?.state === 'failed' ? state.reason : CHILD_GONE;
}

function digestOf(content: unknown): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('base64url');
}
