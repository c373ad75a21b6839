import { type FleetError, GatewayError } from '../errors.js';
import { type OptionNames, rejectUnknownOptions } from '../known-options.js';
import type { DisagreementFilter } from '../producers/disagreements.js';
import type { CandidateBatch } from '../producers/flows/candidate-batch.js';
import type { GuardedEvaluation } from '../producers/flows/guarded-evaluation.js';
import type { RefinementStep } from '../producers/flows/refinement-step.js';
import type { JobState } from '../producers/job-view.js';
import type { WaitOptions } from '../producers/wait-for-job.js';
import type { JobKind } from '../queues/kind.js';
import { readResult } from '../queues/read-result.js';
import {
  BUILT_IN_CONTRACTS,
  type KindName,
  type KindRef,
  kindNameOf,
  type PayloadInputOf,
  type ResultOf,
} from '../queues/registry.js';
import { HTTP_ADD_OPTIONS, type HttpAddOptions } from './add-options.js';
import type {
  AcceptedAnswer,
  HttpDisagreement,
  HttpHealth,
  HttpJob,
  HttpRun,
  RequestBody,
  Submitted,
} from './answers.js';
import { claimEvaluation, type HttpClaim, type HttpClaimOptions } from './claims.js';
import { type ClientOptions, checkedOptions } from './client-options.js';
import { GatewayConnection } from './connection.js';
import { HttpDeadLetters } from './dead-letters.js';
import { followJob, type HttpEventOptions, type HttpJobEvent } from './job-events.js';
import { HttpKnownSolutions } from './known-solutions.js';
import { MAX_POLL_MS } from './polling.js';
import { errorOfCode, errorOfProblem } from './problem.js';

export interface HttpBatchItem<K extends KindRef = KindRef> extends HttpAddOptions {
  readonly kind: K;
  readonly payload: PayloadInputOf<K>;
}

/** Which jobs a list shows, newest first. */
export interface HttpJobQuery {
  /** Name of a kind, or of a pipeline queue. */
  readonly kind?: KindName;
  readonly state?: JobState;
  /** Only jobs of this pipeline run (`tags.run`). */
  readonly run?: string;
  /** At most so many jobs; default: 100. */
  readonly limit?: number;
}

const BATCH_ITEM: OptionNames<HttpBatchItem> = { ...HTTP_ADD_OPTIONS, kind: true, payload: true };
const JOB_QUERY: OptionNames<HttpJobQuery> = { kind: true, state: true, run: true, limit: true };
const WAIT: OptionNames<Pick<WaitOptions, 'follow'>> = { follow: true };
const DISAGREEMENT_QUERY: OptionNames<DisagreementFilter> = { run: true, limit: true };
const RUN_QUERY: OptionNames<{ readonly limit?: number }> = { limit: true };

/** The route of a kind; those of all kinds are alike. */
type SubmitPath = '/v1/jobs/solution-check';

/** The contract of a kind; undefined for the name of a kind of one's own. */
function contractOf(kind: KindRef): JobKind | undefined {
  if (typeof kind !== 'string') return kind;
  return BUILT_IN_CONTRACTS.has(kind) ? BUILT_IN_CONTRACTS.get(kind) : undefined;
}

const ENDED: readonly JobState[] = ['completed', 'failed', 'cancelled'];

/**
 * The fleet over HTTP, with the same types as the Redis producers. For programs that reach a gateway but no Redis. It has a
 * method for every operation of the gateway's OpenAPI document, from which its types are generated.
 *
 * Every method throws a FleetError with the code of the gateway's refusal, and `gateway-unreachable` if none answers. An
 * option that does not exist is `invalid-payload` with its name.
 *
 * @example
 * const fleet = new FleetHttpClient({ url: 'http://fleet.internal:8080', token });
 * const { id } = await fleet.add('solution-check', { solution: { content } }, { key: 'night-3/7' });
 * const { status } = await fleet.result('solution-check', id);
 */
export class FleetHttpClient {
  /** Jobs that failed for good. */
  readonly deadLetters: HttpDeadLetters;
  /** The known solutions that contamination checks compare answers with. */
  readonly known: HttpKnownSolutions;
  readonly #gateway: GatewayConnection;

  /** @throws UsageError `usage` for an address or token that cannot be used; it shows neither. */
  constructor(options: ClientOptions) {
    this.#gateway = new GatewayConnection(checkedOptions(options));
    this.deadLetters = new HttpDeadLetters(this.#gateway);
    this.known = new HttpKnownSolutions(this.#gateway);
  }

  /** Submits one job. @throws FleetError with the gateway's code, `invalid-payload` with the field at fault among them. */
  async add<K extends KindRef>(
    kind: K,
    payload: PayloadInputOf<K>,
    options: HttpAddOptions = {},
  ): Promise<Submitted> {
    rejectUnknownOptions(options, HTTP_ADD_OPTIONS);
    const path = `/v1/jobs/${encodeURIComponent(kindNameOf(kind))}` as SubmitPath;
    const body = { payload, ...options } as RequestBody<'submit-solution-check'>;
    // A request that does not wait is answered before the job has ended.
    return (await this.#gateway.send((api) => api.POST(path, { body }))) as Submitted;
  }

  /** Submits many jobs; each is accepted or rejected by itself, in the same order. */
  async addBatch(jobs: readonly HttpBatchItem[]): Promise<(Submitted | { readonly error: FleetError })[]> {
    for (const [at, job] of jobs.entries()) rejectUnknownOptions(job, BATCH_ITEM, `jobs[${at}]`);
    const items = jobs.map(({ kind, ...job }) => ({ kind: kindNameOf(kind), ...job }));
    const answer = await this.#gateway.send((api) =>
      api.POST('/v1/jobs:batch', { body: { jobs: items } as RequestBody<'submit-batch'> }),
    );
    return answer.jobs.map((job) => {
      if (!('error' in job)) return job;
      const error = errorOfProblem(job.error);
      return { error: error ?? new GatewayError('the gateway refused the job without saying why') };
    });
  }

  /** Summarizes an ablation study, then extracts the block with most impact and a plan for it. */
  async addRefinementStep(
    step: RefinementStep,
    options: HttpAddOptions = {},
  ): Promise<{ readonly extract: Submitted; readonly summarize: Submitted }> {
    rejectUnknownOptions(options, HTTP_ADD_OPTIONS);
    const body = { ...step, ...options } as RequestBody<'add-refinement-step'>;
    const answer = await this.#gateway.send((api) => api.POST('/v1/flows/refinement', { body }));
    return answer as AcceptedAnswer<'add-refinement-step'>;
  }

  /** An evaluation that starts after the check of its script; `claim` takes it. */
  async addGuardedEvaluation(
    request: GuardedEvaluation,
    options: HttpAddOptions = {},
  ): Promise<{ readonly evaluation: Submitted; readonly check: Submitted }> {
    rejectUnknownOptions(options, HTTP_ADD_OPTIONS);
    const body = { ...request, ...options } as RequestBody<'add-guarded-evaluation'>;
    const answer = await this.#gateway.send((api) => api.POST('/v1/flows/guarded-evaluation', { body }));
    return answer as AcceptedAnswer<'add-guarded-evaluation'>;
  }

  /** Guarded evaluations of many candidates, in their order, and a job after them all. */
  addCandidateBatch(
    batch: CandidateBatch,
    options: HttpAddOptions = {},
  ): Promise<{
    readonly evaluations: readonly { readonly evaluation: Submitted; readonly check: Submitted }[];
    readonly afterAll?: Submitted;
  }> {
    rejectUnknownOptions(options, HTTP_ADD_OPTIONS);
    const body = { ...batch, ...options } as RequestBody<'add-candidate-batch'>;
    return this.#gateway.send((api) => api.POST('/v1/flows/candidate-batch', { body }));
  }

  /** The job as it is now. @throws FleetError `job-not-found`. */
  job(id: string): Promise<HttpJob> {
    return this.#gateway.send((api) => api.GET('/v1/jobs/{id}', { params: { path: { id } } }));
  }

  /** Jobs without their results, newest first (without a run: within their kind). */
  async jobs(query: HttpJobQuery = {}): Promise<readonly HttpJob[]> {
    rejectUnknownOptions(query, JOB_QUERY);
    const { jobs } = await this.#gateway.send((api) => api.GET('/v1/jobs', { params: { query } }));
    return jobs;
  }

  /**
   * Everything of one pipeline run, which is what the tag `run` names: jobs as trees, states, cost.
   * @param options.limit At most so many jobs; the sums are over all. Default: 1,000.
   */
  run(run: string, options: { readonly limit?: number } = {}): Promise<HttpRun> {
    rejectUnknownOptions(options, RUN_QUERY);
    return this.#gateway.send((api) =>
      api.GET('/v1/runs/{run}', { params: { path: { run }, query: options } }),
    );
  }

  /**
   * Scripts of which static analysis was certain, and of which the agent, asked for comparison, said something else: newest first.
   * @param query.limit Default: 100.
   */
  async disagreements(query: DisagreementFilter = {}): Promise<readonly HttpDisagreement[]> {
    rejectUnknownOptions(query, DISAGREEMENT_QUERY);
    const { disagreements } = await this.#gateway.send((api) =>
      api.GET('/v1/disagreements', { params: { query } }),
    );
    return disagreements;
  }

  /**
   * Waits for the end of a job and its follow-ups, whatever it is, by long requests. Once the gateway has answered, a lost
   * connection is opened again for as long as a rejected request is retried.
   * @param options.follow false: returns when the job has its result, and does not wait for its follow-ups.
   */
  async wait(id: string, options: Pick<WaitOptions, 'follow'> = {}): Promise<HttpJob> {
    rejectUnknownOptions(options, WAIT);
    const follow = options.follow ?? true;
    const query = { wait: `${MAX_POLL_MS}ms`, ...(follow ? {} : { follow: 'false' }) };
    const ask = () =>
      this.#gateway.send((api) => api.GET('/v1/jobs/{id}', { params: { path: { id }, query } }));
    let view = await ask();
    for (;;) {
      if (ENDED.includes(view.state) || (!follow && view.followUps !== undefined)) return view;
      view = await this.#gateway.whileAway(ask);
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
    if (view.error !== undefined) throw errorOfCode(view.error.code, view.error.message, { jobId: id });
    const contract = contractOf(kind);
    if (contract === undefined) return view.result as ResultOf<K>;
    const { data, error } = readResult(contract.result, view.result);
    if (error !== undefined) throw error;
    return data as ResultOf<K>;
  }

  /**
   * What happens to a job, until its end; each event once. A lost connection is opened again, for as long as a rejected
   * request is retried.
   * @param options.after Id of the last event that is already known.
   * @throws FleetError `job-not-found`.
   */
  events(id: string, options: HttpEventOptions = {}): AsyncGenerator<HttpJobEvent, void, void> {
    return followJob(this.#gateway, id, options);
  }

  /** Cancels a job, and the children it waits for. */
  cancel(id: string): Promise<HttpJob> {
    return this.#gateway.send((api) => api.DELETE('/v1/jobs/{id}', { params: { path: { id } } }));
  }

  /** Runs a failed job again. */
  retry(id: string): Promise<HttpJob> {
    return this.#gateway.send((api) => api.POST('/v1/jobs/{id}/retry', { params: { path: { id } } }));
  }

  /**
   * Takes the next evaluation of a pipeline queue, with its checked script; undefined if none comes in time. Extend its lease
   * before it runs out, and complete or fail it; otherwise the next program that claims gets it.
   */
  claim(queue: string, options: HttpClaimOptions = {}): Promise<HttpClaim | undefined> {
    return claimEvaluation(this.#gateway, queue, options);
  }

  /** Whether the gateway works. It answers without a token, and is asked once: a sick gateway is an answer. */
  health(): Promise<HttpHealth> {
    return this.#gateway.ask((api, fetch) => api.GET('/healthz', { fetch }));
  }

  /** Whether the gateway wants requests: as `health`, and `unavailable` while it stops. */
  readiness(): Promise<HttpHealth> {
    return this.#gateway.ask((api, fetch) => api.GET('/readyz', { fetch }));
  }

  /** The metrics, in the text format of Prometheus. */
  metrics(): Promise<string> {
    return this.#gateway.send((api) => api.GET('/metrics', { parseAs: 'text' }));
  }

  /** The OpenAPI document of the gateway, with the routes of its own kinds. */
  openApi(): Promise<{ readonly openapi: string }> {
    return this.#gateway.send((api) => api.GET('/v1/openapi.json'));
  }
}
