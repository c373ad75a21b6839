import { type FleetError, UsageError } from '../errors.js';
import type { AddOptions } from '../producers/add-options.js';
import type { CandidateBatch } from '../producers/flows/candidate-batch.js';
import type { GuardedEvaluation } from '../producers/flows/guarded-evaluation.js';
import type { RefinementStep } from '../producers/flows/refinement-step.js';
import type { JobState, JobView } from '../producers/job-view.js';
import type { SubmitOutcome } from '../producers/submit-once.js';
import type { WaitOptions } from '../producers/wait-for-job.js';
import { failureError } from '../queues/failure.js';
import type { JobKind } from '../queues/kind.js';
import { readResult } from '../queues/read-result.js';
import {
  BUILT_IN_CONTRACTS,
  type KindRef,
  kindNameOf,
  type PayloadInputOf,
  type ResultOf,
} from '../queues/registry.js';
import { type ClientOptions, errorOfProblem, sendJson } from './request.js';

/** Characters that a header may have; the error of `fetch` shows a token with others. */
const TOKEN = /^[\x21-\x7e]+$/;

/**
 * The options of a client. A token is taken without the line break that a file ends with.
 * @throws UsageError `usage` for an address or token that cannot be used. It shows neither: an address may hold a password.
 */
function checkedOptions(options: ClientOptions): ClientOptions {
  const address = URL.canParse(options.url) ? new URL(options.url) : undefined;
  if (address?.protocol !== 'http:' && address?.protocol !== 'https:') {
    throw new UsageError('usage', 'url: the address of the gateway must begin with http:// or https://');
  }
  if (address.username !== '' || address.password !== '') {
    throw new UsageError(
      'usage',
      'url: the address of the gateway takes no user and no password; pass a token',
    );
  }
  const token = options.token?.trim();
  if (token === undefined) return options;
  if (!TOKEN.test(token)) {
    throw new UsageError('usage', 'token: it is empty, or has characters that no token has');
  }
  return { ...options, token };
}

/** What the gateway answers to a submission. */
export interface Submitted {
  readonly id: string;
  readonly kind: string;
  readonly state: JobState;
  readonly outcome: SubmitOutcome;
  /** Id of the job that the key named already. */
  readonly duplicateOf?: string;
}

/** Options of a submission, as for the Redis producers. The token says who submits. */
export type HttpAddOptions = Omit<AddOptions, 'submitter'>;

export interface HttpBatchItem<K extends KindRef = KindRef> extends HttpAddOptions {
  readonly kind: K;
  readonly payload: PayloadInputOf<K>;
}

/** The contract of a kind; undefined for the name of a kind of one's own. */
function contractOf(kind: KindRef): JobKind | undefined {
  if (typeof kind !== 'string') return kind;
  return BUILT_IN_CONTRACTS.has(kind) ? BUILT_IN_CONTRACTS.get(kind) : undefined;
}

/** Longest time that one request waits for the end of a job; longer waits are several requests. */
const MAX_POLL = '30s';
const ENDED: readonly JobState[] = ['completed', 'failed', 'cancelled'];

/**
 * The fleet over HTTP, with the same types as the Redis producers. For pipelines that reach a gateway but no Redis.
 *
 * @example
 * const fleet = new FleetHttpClient({ url: 'http://fleet.internal:8080', token });
 * const { id } = await fleet.add('solution-check', { solution: { content } }, { key: 'night-3/7' });
 * const { status } = await fleet.result('solution-check', id);
 */
export class FleetHttpClient {
  readonly #options: ClientOptions;

  /** @throws UsageError `usage` for an address or token that cannot be used; it shows neither. */
  constructor(options: ClientOptions) {
    this.#options = checkedOptions(options);
  }

  /** Submits one job. @throws FleetError with the gateway's code, `invalid-payload` with the field at fault among them. */
  add<K extends KindRef>(
    kind: K,
    payload: PayloadInputOf<K>,
    options: HttpAddOptions = {},
  ): Promise<Submitted> {
    const path = `/v1/jobs/${encodeURIComponent(kindNameOf(kind))}`;
    return this.#post(path, { payload, ...options }) as Promise<Submitted>;
  }

  /** Submits many jobs; each is accepted or rejected by itself, in the same order. */
  async addBatch(jobs: readonly HttpBatchItem[]): Promise<(Submitted | { readonly error: FleetError })[]> {
    const answer = (await this.#post('/v1/jobs:batch', {
      jobs: jobs.map(({ kind, ...job }) => ({ kind: kindNameOf(kind), ...job })),
    })) as {
      jobs: (Submitted | { error: unknown })[];
    };
    return answer.jobs.map((job) => {
      const error = 'error' in job ? errorOfProblem(job.error) : undefined;
      return error === undefined ? (job as Submitted) : { error };
    });
  }

  addRefinementStep(
    step: RefinementStep,
    options: HttpAddOptions = {},
  ): Promise<{ readonly extract: Submitted; readonly summarize: Submitted }> {
    return this.#post('/v1/flows/refinement', { ...step, ...options }) as Promise<{
      extract: Submitted;
      summarize: Submitted;
    }>;
  }

  addGuardedEvaluation(
    request: GuardedEvaluation,
    options: HttpAddOptions = {},
  ): Promise<{ readonly evaluation: Submitted; readonly check: Submitted }> {
    return this.#post('/v1/flows/guarded-evaluation', { ...request, ...options }) as Promise<{
      evaluation: Submitted;
      check: Submitted;
    }>;
  }

  addCandidateBatch(
    batch: CandidateBatch,
    options: HttpAddOptions = {},
  ): Promise<{
    readonly evaluations: readonly { readonly evaluation: Submitted; readonly check: Submitted }[];
    readonly afterAll?: Submitted;
  }> {
    return this.#post('/v1/flows/candidate-batch', { ...batch, ...options }) as Promise<{
      evaluations: { evaluation: Submitted; check: Submitted }[];
      afterAll?: Submitted;
    }>;
  }

  /** The job as it is now. @throws FleetError `job-not-found`. */
  job(id: string): Promise<JobView> {
    return this.#get(`/v1/jobs/${encodeURIComponent(id)}`) as Promise<JobView>;
  }

  /**
   * Waits for the end of a job and its follow-ups, whatever it is, by long requests.
   * @param options.follow false: returns when the job has its result, and does not wait for its follow-ups.
   */
  async wait(id: string, { follow = true }: Pick<WaitOptions, 'follow'> = {}): Promise<JobView> {
    const path = `/v1/jobs/${encodeURIComponent(id)}?wait=${MAX_POLL}${follow ? '' : '&follow=false'}`;
    for (;;) {
      const view = (await this.#get(path)) as JobView;
      if (ENDED.includes(view.state) || (!follow && view.followUps !== undefined)) return view;
    }
  }

  /**
   * Waits for the result of a job and validates it. That of a kind of one's own is validated if its definition is passed.
   * @throws FleetError with the job's own code where it failed or was cancelled.
   */
  async result<K extends KindRef>(
    kind: K,
    id: string,
    options: Pick<WaitOptions, 'follow'> = {},
  ): Promise<ResultOf<K>> {
    const view = await this.wait(id, options);
    if (view.error !== undefined) throw failureError(view.error, id);
    const contract = contractOf(kind);
    if (contract === undefined) return view.result as ResultOf<K>;
    const { data, error } = readResult(contract.result, view.result);
    if (error !== undefined) throw error;
    return data as ResultOf<K>;
  }

  /** Cancels a job, and the children it waits for. */
  cancel(id: string): Promise<JobView> {
    return sendJson(this.#options, 'DELETE', `/v1/jobs/${encodeURIComponent(id)}`) as Promise<JobView>;
  }

  /** Runs a failed job again. */
  retry(id: string): Promise<JobView> {
    return this.#post(`/v1/jobs/${encodeURIComponent(id)}/retry`) as Promise<JobView>;
  }

  #get(path: string): Promise<unknown> {
    return sendJson(this.#options, 'GET', path);
  }

  #post(path: string, body?: unknown): Promise<unknown> {
    return sendJson(this.#options, 'POST', path, body);
  }
}
