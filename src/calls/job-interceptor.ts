import { randomUUID } from 'node:crypto';
import { messageOf, RedisError } from '../errors.js';
import type { EndedCall, SentCall } from '../queues/call-record.js';
import { reclaimLock } from '../queues/reclaim-lock.js';
import { inFlightKey, limiterKey, promptPrefixKey, spendBase } from '../queues/redis-keys.js';
import { saysFull } from '../queues/redis-refusal.js';
import type { Reuse } from '../queues/reuse.js';
import { replyList, replyText, runScript, type Script, type ScriptReply } from '../queues/run-script.js';
import type { RunForAttempt } from './attempt-scripts.js';
import { JobLines } from './batches/job-lines.js';
import { USE_LINE } from './batches/line-scripts.js';
import { type CallEstimate, estimateCall, toNano } from './budget/estimate.js';
import { noRoom } from './budget/no-room.js';
import type { CallControl } from './call-control.js';
import { CallDeferred } from './call-deferred.js';
import type { CallInterceptor, PlannedCall, RecordedAnswer } from './call-interceptor.js';
import {
  ADMIT_CALL,
  type AdmittedCall,
  OPEN_LEDGER,
  PARK_CALL,
  SETTLE_CALL,
  type SettledNumbers,
} from './call-scripts.js';
import { waitFor } from './clock.js';
import { JobActivity } from './job-activity.js';
import { identityOf, JobLedger } from './ledger/job-ledger.js';
import { packAnswer } from './ledger/stored-answer.js';
import { noteBlockedModel } from './limiter/blocked-models.js';
import { keepProbeAlive } from './limiter/keep-probe-alive.js';
import { limitsOf } from './limiter/model-limits.js';
import { cooldownMs, DIMENSIONS, learnedLimits } from './limiter/rate-headers.js';
import type { TokenCounts } from './message.js';
import type { CallOutcome, OutcomeClass } from './outcome.js';
import { type CachedPrefix, cachedPrefix } from './prompt-cache/cached-prefix.js';
import { SentPrefix } from './prompt-cache/sent-prefix.js';
import { brokenTooOften, callInDoubt, lostJob, waitedTooLong } from './refusals.js';
import { MAX_BROKEN_ANSWERS, opensCircuit } from './retry-table.js';
import { KnownAnswers } from './reuse/known-answers.js';
import { underWayKey } from './reuse/under-way.js';
import { billedTokens, settledCall } from './settled-call.js';

/** The job whose calls an interceptor handles. */
export interface CallingJob {
  /** Key of the job's hash. */
  readonly key: string;
  /** Token with which this worker owns the job's lock. */
  readonly token: string;
  /** Whose answers it may use besides its own; default: as the worker is configured. */
  readonly reuse?: Reuse;
  /** The tenant that its submission names: only jobs of the same one may use its answers, and it theirs. */
  readonly namedTenant?: string;
  /** The pipeline run whose budget pays. */
  readonly run?: string;
  /** Budget of that run, in US dollars, where the job names one. */
  readonly runBudgetUsd?: number;
  /** By when it has to end, in milliseconds since 1970, if it can wait: then its calls may be sent in batches. */
  readonly deadline?: number;
  /** Aborted when the job must stop. */
  readonly signal: AbortSignal;
  /** False if no earlier attempt has sent a call: then the ledger need not be read. */
  readonly hasLedger?: boolean;
  readonly warn: (message: string) => void;
}

/** A call that was admitted and has not ended. */
interface CallInFlight {
  readonly number: number;
  readonly sent: SentCall;
  readonly sentAt: number;
  /** Stops renewing it as the half-open probe, if it is one. */
  readonly stopRenewing: () => void;
  /** It counts no longer as under way. */
  readonly stopCounting: () => void;
  /** Undefined if other calls never wait for it. */
  readonly prefix: SentPrefix | undefined;
  readonly estimate: CallEstimate;
}

/** A call as it is to be sent. */
interface CallToSend {
  readonly number: number;
  readonly sent: SentCall;
  readonly estimate: CallEstimate;
  /** The prefix for which it waits until the provider has cached it. */
  readonly prefix: CachedPrefix | undefined;
  readonly maxCacheWaitMs: number;
}

/** A call that cannot be sent yet. */
interface CallWait {
  /** When it is tried again if the job keeps its slot, in milliseconds. */
  readonly tryInMs: number;
  /** What it throws if the job does not keep its slot. */
  readonly deferred: CallDeferred;
  readonly isForCache: boolean;
}

/** The reply of `OPEN_LEDGER` for a job without a ledger. */
const NO_CALLS: readonly ScriptReply[] = [Buffer.from('open')];
/** How long a job that must stop waits for a Redis that does not answer. */
const SHUTDOWN_GRACE_MS = 5_000;
/** Callers that wait for the same moment come back spread over at most so many milliseconds after it. */
const MAX_SPREAD_MS = 5_000;
const NO_CREDIT = 'no-credit' satisfies OutcomeClass;
/** What the admission says of a call that waits for the provider to cache its prompt prefix. */
const PROMPT_CACHE = 'prompt-cache';
/** How long a job waits in the queue for that before it tries again: the processor begins from the start then. */
const CACHE_DELAY_MS = 1_000;

/**
 * Passes the calls of one attempt through the job's ledger, the model's limiter and the budgets. It reads the ledger of
 * earlier attempts once, if there were any. A recorded answer is returned without a round trip. Any other call takes two:
 * one writes the call to the ledger and reserves its tokens and its cost, one writes its answer and cost. Both do nothing
 * once another worker owns the job's lock.
 */
export class JobInterceptor implements CallInterceptor {
  readonly #control: CallControl;
  readonly #job: CallingJob;
  readonly name = 'job';
  /** Id of this attempt in the ledger. */
  readonly #by: string;
  /** By identity: calls of one job may be under way at the same time, each in its own conversation. */
  readonly #inFlight = new Map<string, CallInFlight>();
  #ledger: Promise<JobLedger> | undefined;
  readonly #lines: JobLines;
  readonly #known: KnownAnswers;
  /** Calls whose answers from batches this attempt uses first, with their numbers. */
  readonly #fromBatch = new Map<string, number>();
  readonly #activity = new JobActivity();

  constructor(control: CallControl, job: CallingJob) {
    this.#control = control;
    this.#job = job;

    this.#by = `${job.token}#${randomUUID()}`;
    const run: RunForAttempt = (script, keys, args, signal) => this.#script(script, keys, args, signal);
    this.#lines = new JobLines(control, job, run);
    this.#known = new KnownAnswers(control, job, run);
  }

  /**
   * @throws CallRefusedError `budget-exhausted`, `quota-exhausted`, `call-in-doubt`; JobError `lock-lost`; RedisError
   *   `redis-full`; CallDeferred if the job must wait in the queue; the signal's reason when it is aborted.
   */
  async admit(
    call: PlannedCall,
    signal: AbortSignal = this.#job.signal,
  ): Promise<RecordedAnswer | undefined> {
    try {
      return await this.#activity.during(() => this.#admit(call, signal));
    } catch (thrown) {
      // The next attempt would not get the answers that this one waits for, and would pay for them again.
      if (thrown instanceof CallDeferred) await this.#activity.untilIdle(signal);
      throw thrown;
    }
  }

  converse(): () => void {
    return this.#activity.converse();
  }

  async #admit(call: PlannedCall, signal: AbortSignal): Promise<RecordedAnswer | undefined> {
    this.#ledger ??= this.#open(signal);
    const ledger = await this.#ledger;
    const recorded = ledger.takeAnswer(call);
    if (recorded !== undefined) {
      const { number, message, isNew } = recorded;
      if (isNew) this.#fromBatch.set(identityOf(call), number);
      return isNew ? { message, fromBatch: true } : { message };
    }
    const mayBatch = this.#lines.couldWait(call, ledger);
    const known = await this.#known.take(call, ledger, () => ledger.plan(call, 0), mayBatch, signal);
    if (known !== undefined) return { message: known };
    await this.#parkCallInDoubt(call, ledger, signal);
    const estimate = estimateCall(call.request, call.prices);
    const awaited = this.#known.isAwaited(call) ? this.#known.keyOf(call) : undefined;
    await this.#lines.await(call, ledger, estimate, signal, awaited);
    const plan = ledger.plan(call, estimate.likelyUsd);
    const { cacheWaitMs } = this.#control;
    const prefix = cacheWaitMs > 0 ? cachedPrefix(call) : undefined;
    // Only its first send waits: a wait in the queue would make the retries of a failing provider begin from the start.
    const maxCacheWaitMs = ledger.wasSent(call) ? 0 : cacheWaitMs;
    let remainingWaitMs = this.#control.shortWaitMs;
    // A job that had another call under way does not leave its answer behind for a wait of some seconds.
    let keepsSlot = this.#inFlight.size > 0;
    for (;;) {
      const wait = await this.#tryToSend(call, { ...plan, estimate, prefix, maxCacheWaitMs }, signal);
      if (wait === undefined) break;
      keepsSlot ||= this.#inFlight.size > 0;
      if (wait.tryInMs > remainingWaitMs && !(wait.isForCache && keepsSlot)) throw wait.deferred;
      remainingWaitMs -= wait.tryInMs;
      await waitFor(wait.tryInMs, this.#control.clock, signal);
    }
    ledger.sent(plan.number, plan.sent);
    return undefined;
  }

  begin(call: PlannedCall, tokens: TokenCounts): void {
    this.#inFlight.get(identityOf(call))?.prefix?.begun(tokens);
  }

  /** @throws JobError `lock-lost`. */
  async use(call: PlannedCall, outcome: CallOutcome): Promise<void> {
    const identity = identityOf(call);
    const number = this.#fromBatch.get(identity);
    if (number === undefined) return;
    this.#fromBatch.delete(identity);
    const { end } = settledCall(outcome, call, this.#control.clock.now());
    const { key, token } = this.#job;
    const corrected = outcome.class === 'answered' ? '' : JSON.stringify(end);
    const { client, answerTtlMs } = this.#control;
    const args = [token, this.#by, number, corrected, this.#known.keyOf(call), answerTtlMs];
    const written = runScript(client, USE_LINE, [key, `${key}:lock`], args);
    if ((await this.#orAborted(written, this.#job.signal)) !== 1) throw lostJob();
  }

  /** Records open calls of earlier attempts as in doubt, and releases what they reserved. */
  async recordCallsInDoubt(): Promise<void> {
    this.#ledger ??= this.#open(this.#job.signal);
    await this.#ledger;
  }

  /** If it cannot be written, other jobs find the answer unusable too. */
  async withdraw(call: PlannedCall): Promise<void> {
    await this.#orAborted(this.#control.client.del(this.#known.keyOf(call)), this.#job.signal);
  }

  /** A later interceptor rejected the call: it is recorded as never sent. */
  async release(call: PlannedCall): Promise<void> {
    if (!this.#inFlight.has(identityOf(call))) return;
    await this.settle(call, {
      class: 'cancelled',
      detail: 'another interceptor rejected it',
      neverSent: true,
    });
  }

  shouldDelayRetry(outcome: CallOutcome): boolean {
    return opensCircuit(outcome);
  }

  /** @throws JobError `lock-lost`; CallRefusedError `quota-exhausted`, `answers-broken-off`. */
  async settle(call: PlannedCall, outcome: CallOutcome): Promise<void> {
    await this.#activity.during(() => this.#settle(call, outcome));
  }

  async #settle(call: PlannedCall, outcome: CallOutcome): Promise<void> {
    const identity = identityOf(call);
    const inFlight = this.#inFlight.get(identity);
    if (inFlight === undefined) throw new RangeError(`${call.step}: call ${call.turn} was not admitted`);
    this.#inFlight.delete(identity);
    inFlight.stopRenewing();
    inFlight.stopCounting();
    inFlight.prefix?.ended(outcome.tokens);
    const { end, billed, costNano, assumedNano } = settledCall(outcome, call, this.#control.clock.now());
    const answer = outcome.message === undefined ? undefined : packAnswer(outcome.message);
    const numbers: SettledNumbers = {
      number: inFlight.number,
      billed,
      cost: costNano ?? false,
      assumed: assumedNano ?? false,
      tokens: billedTokens(end),
      ...this.#limiterNumbers(call, outcome, inFlight, end),
    };
    const [status, value] = await this.#script(SETTLE_CALL, this.#callKeys(call), [
      JSON.stringify(numbers),
      JSON.stringify(end),
      answer ?? '',
      outcome.message?.model ?? call.model,
      this.#known.keyOf(call),
      this.#control.answerTtlMs,
      this.#known.isAwaited(call) ? underWayKey(this.#known.keyOf(call)) : '',
    ]);
    if (replyText(status) === 'lost') throw lostJob();
    if (numbers.says === 'blocked') this.#noteBlocked(call.model);
    const ledger = await this.#ledger;
    ledger?.ended(call, inFlight.number, end, answer);
    const broken = ledger?.brokenInARow(call) ?? 0;
    // The ledger counts those of all attempts: the next attempt may have as many.
    if (opensCircuit(outcome) && broken > 0 && broken % MAX_BROKEN_ANSWERS === 0)
      throw brokenTooOften(call, MAX_BROKEN_ANSWERS, outcome.detail);
    if (replyText(status) === 'late') throw waitedTooLong(call, Number(value));
  }

  /** For metrics: a model without credit has no cost of today by which it would be found. No call depends on it. */
  #noteBlocked(model: string): void {
    noteBlockedModel(this.#control.client, this.#control.prefix, model).catch((thrown: unknown) => {
      this.#job.warn(`metrics may not show that ${model} is blocked: ${messageOf(thrown)}`);
    });
  }

  async #open(signal: AbortSignal): Promise<JobLedger> {
    const { key } = this.#job;
    const keys = [key, `${key}:lock`, inFlightKey(this.#control.prefix)];
    const [status, ...fields] =
      this.#job.hasLedger === false ? NO_CALLS : await this.#script(OPEN_LEDGER, keys, [], signal);
    if (replyText(status) !== 'open') throw lostJob();
    const ledger = new JobLedger(fields, (record, why) =>
      this.#job.warn(
        `the record ${record} of the job ${key} cannot be understood: ${why}; the call is in doubt, and is sent again if it is needed`,
      ),
    );
    for (const { step, turn, likelyUsd } of ledger.inDoubt) {
      const price = likelyUsd === null ? 'at an unknown price' : `at about $${likelyUsd.toFixed(4)}`;
      this.#job.warn(
        `${step}: call ${turn} of an earlier attempt is in doubt: it may have been billed, ${price}`,
      );
    }
    return ledger;
  }

  async #parkCallInDoubt(call: PlannedCall, ledger: JobLedger, signal: AbortSignal): Promise<void> {
    if (this.#control.callsInDoubt !== 'park') return;
    const number = ledger.callToPark(call);
    if (number === undefined) return;
    const { key, token } = this.#job;
    const written = runScript(this.#control.client, PARK_CALL, [key, `${key}:lock`], [token, number]);
    if ((await this.#orAborted(written, signal)) !== 1) throw lostJob();
    throw callInDoubt(call);
  }

  /** Undefined if the call is admitted; else what it waits for. */
  async #tryToSend(
    call: PlannedCall,
    { number, sent, estimate, prefix, maxCacheWaitMs }: CallToSend,
    signal: AbortSignal,
  ): Promise<CallWait | undefined> {
    const { budgetUsd, callWaitMs } = this.#control;
    const { run, runBudgetUsd } = this.#job;
    const numbers: AdmittedCall = {
      number,
      maxCost: estimate.maxNano,
      likelyCost: estimate.likelyNano,
      budgets: [limit(budgetUsd && toNano(budgetUsd)), limit(runBudgetUsd && toNano(runBudgetUsd))],
      reserved: rateReservation(estimate),
      limits: this.#configured(call.model),
      maxWaitMs: limit(callWaitMs),
      maxCacheWaitMs,
    };
    const prefixKey = prefix && promptPrefixKey(this.#control.prefix, prefix.digest);
    const reply = await this.#script(
      ADMIT_CALL,
      [...this.#callKeys(call), ...(prefixKey === undefined ? [] : [prefixKey])],
      [JSON.stringify(numbers), JSON.stringify(sent), run ?? ''],
      signal,
    );
    const [status, ...values] = reply;
    switch (replyText(status)) {
      case 'sent':
        this.#inFlight.set(identityOf(call), {
          number,
          sent,
          sentAt: Number(values[0]),
          stopCounting: this.#activity.begin(),
          stopRenewing:
            values[1] === 1
              ? keepProbeAlive(this.#control, call.model, this.#by, this.#job.warn)
              : () => undefined,
          prefix:
            prefix && prefixKey
              ? new SentPrefix(
                  this.#control,
                  {
                    key: prefixKey,
                    ttlMs: prefix.ttlMs,
                    call: `${this.#by} ${number}`,
                    isFirst: values[2] === 1,
                  },
                  this.#job.warn,
                )
              : undefined,
          estimate,
        });
        return undefined;
      case 'wait':
        return this.#wait(call.model, Number(values[0]), replyText(values[1]) ?? '');
      case 'busy':
      case 'over':
        return waitOf(noRoom(call, reply, estimate.maxNano));
      case 'late':
        throw waitedTooLong(call, Number(values[0]));
      default:
        throw lostJob();
    }
  }

  #wait(model: string, ms: number, why: string): CallWait {
    if (why === PROMPT_CACHE) {
      const deferred = new CallDeferred(CACHE_DELAY_MS, `${model}: waits for the prompt cache`);
      return { tryInMs: ms, deferred, isForCache: true };
    }
    return waitOf(this.#limiterWait(model, ms, why));
  }

  #limiterWait(model: string, ms: number, why: string): CallDeferred {
    // Callers that wait for the same moment must not all return in the same millisecond.
    const waitMs = Math.ceil(ms + Math.random() * Math.min(ms / 20, MAX_SPREAD_MS));
    const until = new Date(this.#control.clock.now() + ms).toISOString();
    if (why === NO_CREDIT)
      return new CallDeferred(waitMs, `${noCredit(model)}; tried again at ${until}`, true);
    if (ms <= this.#control.quotaParkMs) return new CallDeferred(waitMs, `${model}: ${why}`);
    return new CallDeferred(waitMs, `quota exhausted until ${until} (${model})`, true);
  }

  #callKeys(call: PlannedCall): string[] {
    const { prefix } = this.#control;
    const { key } = this.#job;
    return [key, `${key}:lock`, inFlightKey(prefix), limiterKey(prefix, call.model)];
  }

  #configured(model: string): (number | false)[] {
    const limits = limitsOf(model, this.#control.limits);
    return DIMENSIONS.map((dimension) => limit(limits[dimension]));
  }

  #limiterNumbers(
    call: PlannedCall,
    outcome: CallOutcome,
    { sentAt, estimate }: CallInFlight,
    { tokens }: EndedCall,
  ): Omit<SettledNumbers, 'number' | 'billed' | 'cost' | 'assumed' | 'tokens'> {
    const headers = outcome.headers ?? {};
    const learned = learnedLimits(headers);
    const blocked = opensCircuit(outcome);
    const hasCredit = outcome.class !== NO_CREDIT;
    const { quotaParkMs, callWaitMs, clock } = this.#control;
    const blockedMs = hasCredit ? cooldownMs(headers, clock.now()) : quotaParkMs;
    const input = tokens === undefined ? 0 : tokens.inputTokens + tokens.cacheWriteTokens;
    return {
      says: blocked ? 'blocked' : wasTaken(outcome) ? 'answered' : 'other',
      blockedMs: limit(blocked ? blockedMs : undefined),
      outcome: outcome.class,
      sentAt,
      learned: DIMENSIONS.flatMap((name) => [limit(learned[name].limit), limit(learned[name].remaining)]),
      reserved: rateReservation(estimate),
      used: [outcome.neverSent ? 0 : 1, input, tokens?.outputTokens ?? 0],
      limits: this.#configured(call.model),
      // No job ends because somebody has to pay.
      maxWaitMs: limit(hasCredit ? callWaitMs : undefined),
    };
  }

  #time(): number | string {
    return this.#control.now?.() ?? '';
  }

  async #script(
    script: Script,
    keys: readonly string[],
    args: readonly (number | string | Buffer)[],
    signal: AbortSignal = this.#job.signal,
  ): Promise<readonly ScriptReply[]> {
    const leading = [this.#job.token, this.#by, spendBase(this.#control.prefix), this.#time()];
    const run = () => runScript(this.#control.client, script, keys, [...leading, ...args]);
    try {
      return replyList(await this.#orAborted(this.#asOwner(run), signal));
    } catch (thrown) {
      throw saysFull(thrown)
        ? new RedisError('redis-full', 'Redis has no memory left', { cause: thrown })
        : thrown;
    }
  }

  /** Runs a script once more if it found no lock: while Redis was away, the lock ran out and could not be renewed. */
  async #asOwner(run: () => Promise<ScriptReply>): Promise<ScriptReply> {
    const reply = await run();
    if (!Array.isArray(reply) || replyText(reply[0]) !== 'lost') return reply;
    const { key, token } = this.#job;
    return (await reclaimLock(this.#control.client, key, token)) ? run() : reply;
  }

  /** Waits until Redis answers again; a job that must stop waits only for a grace period. */
  #orAborted<T>(reply: Promise<T>, signal: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      let cancel: (() => void) | undefined;
      const onAbort = () => {
        cancel = this.#control.clock.after(SHUTDOWN_GRACE_MS, () => settle(() => reject(signal.reason)));
      };
      const settle = (finish: () => void) => {
        cancel?.();
        signal.removeEventListener('abort', onAbort);
        finish();
      };
      if (signal.aborted) onAbort();
      else signal.addEventListener('abort', onAbort, { once: true });
      reply.then(
        (value) => settle(() => resolve(value)),
        (thrown: unknown) => settle(() => reject(thrown)),
      );
    });
  }
}

function waitOf(deferred: CallDeferred): CallWait {
  return { tryInMs: deferred.waitMs, deferred, isForCache: false };
}

function noCredit(model: string): string {
  return `the account at the provider has no credit left, so calls of ${model} wait`;
}

/** A limit as the scripts take it: JSON has no number for "none". */
function limit(value: number | undefined): number | false {
  return value !== undefined && Number.isFinite(value) ? value : false;
}

/** Requests, input and output tokens that the limiter reserves for a call. */
function rateReservation({ inputTokens, outputTokens }: CallEstimate): number[] {
  return [1, inputTokens, outputTokens];
}

/** Whether the provider processed the call, with whatever result: then it is not overloaded. */
function wasTaken({ message, status }: CallOutcome): boolean {
  return message !== undefined || (status !== undefined && status < 500 && status !== 429);
}
