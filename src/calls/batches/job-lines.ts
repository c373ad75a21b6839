import { deflateRawSync } from 'node:zlib';
import { batchBase, inFlightKey } from '../../queues/redis-keys.js';
import { replyText } from '../../queues/run-script.js';
import type { RunForAttempt } from '../attempt-scripts.js';
import { type CallEstimate, toNano } from '../budget/estimate.js';
import { noRoom } from '../budget/no-room.js';
import type { CallControl } from '../call-control.js';
import { CallDeferred } from '../call-deferred.js';
import type { PlannedCall } from '../call-interceptor.js';
import { BATCH_PRICE } from '../cost.js';
import type { CallingJob } from '../job-interceptor.js';
import type { JobLedger } from '../ledger/job-ledger.js';
import { lostJob } from '../refusals.js';
import { underWayKey } from '../reuse/under-way.js';
import { type BatchTiming, DEFAULT_BATCH_TIMING } from './batch-timing.js';
import { removedEnd } from './line-outcome.js';
import { LEAVE_LINE, QUEUE_LINE } from './line-scripts.js';

/** The calls of one attempt that wait for batches. */
export class JobLines {
  readonly #control: CallControl;
  readonly #job: CallingJob;
  readonly #run: RunForAttempt;
  #hasWarned = false;

  constructor(control: CallControl, job: CallingJob, run: RunForAttempt) {
    this.#control = control;
    this.#job = job;
    this.#run = run;
  }

  /** Whether a call would be queued for a batch, if it were not known already. */
  couldWait(call: PlannedCall, ledger: JobLedger): boolean {
    const { deadline } = this.#job;
    const timing = this.#control.batches;
    if (deadline === undefined || timing === undefined || !hasBatches(call)) return false;
    return this.#mayWait(call, ledger, timing, deadline);
  }

  /**
   * Returns if the call is to be sent now, by itself.
   * @param answer Where other jobs find its answer; undefined if none waits for it.
   * @throws CallDeferred while it waits for a batch; CallRefusedError `budget-exhausted`; JobError `lock-lost`.
   */
  async await(
    call: PlannedCall,
    ledger: JobLedger,
    estimate: CallEstimate,
    signal: AbortSignal,
    answer: string | undefined,
  ): Promise<void> {
    const { deadline = 0 } = this.#job;
    const line = ledger.lineOf(call);
    const timing = this.#control.batches;
    if (line !== undefined) {
      const marginMs = timing?.marginMs ?? 0;
      return this.#awaitLine(
        call,
        ledger,
        line,
        { leaveAt: deadline - 2 * marginMs, sendAt: deadline - marginMs },
        signal,
      );
    }
    if (this.#job.deadline === undefined) return;
    if (timing === undefined || !hasBatches(call)) {
      if (!this.#mayWait(call, ledger, DEFAULT_BATCH_TIMING, deadline)) return;
      this.#warnOnce(
        'its deadline changes nothing: the agents of this worker have no batches, so its calls are sent at once',
      );
      return;
    }
    if (!this.#mayWait(call, ledger, timing, deadline)) return;
    await this.#queue(call, ledger, estimate, signal, answer);
    throw this.#deferred(call, deadline - 2 * timing.marginMs);
  }

  /** A conversation continues without batches, and what did not succeed in a batch is sent by itself. */
  #mayWait(call: PlannedCall, ledger: JobLedger, timing: BatchTiming, deadline: number): boolean {
    const leftMs = deadline - 2 * timing.marginMs - this.#control.clock.now();
    return call.turn === 1 && leftMs >= timing.minMs && !ledger.wasQueued(call);
  }

  async #queue(
    call: PlannedCall,
    ledger: JobLedger,
    estimate: CallEstimate,
    signal: AbortSignal,
    answer: string | undefined,
  ): Promise<void> {
    const { prefix, budgetUsd } = this.#control;
    const { key, run, runBudgetUsd } = this.#job;
    const likelyUsd = estimate.likelyUsd === null ? null : estimate.likelyUsd * BATCH_PRICE;
    const { number, sent } = ledger.plan(call, likelyUsd);
    const request = JSON.stringify(call.request);
    const maxCost = Math.ceil(estimate.maxNano * BATCH_PRICE);
    const numbers = {
      number,
      maxCost,
      likelyCost: Math.ceil(estimate.likelyNano * BATCH_PRICE),
      budgets: [budgetUsd, runBudgetUsd].map((usd) => (usd === undefined ? false : toNano(usd))),
    };
    const reply = await this.#run(
      QUEUE_LINE,
      [key, `${key}:lock`, inFlightKey(prefix)],
      [
        JSON.stringify(numbers),
        JSON.stringify(sent),
        run ?? '',
        batchBase(prefix),
        deflateRawSync(request, { level: 1 }),
        Buffer.byteLength(request),
        call.step,
        call.turn,
        call.model,
        answer === undefined ? '' : underWayKey(answer),
      ],
      signal,
    );
    const status = replyText(reply[0]);
    if (status === 'lost') throw lostJob();
    if (status !== 'queued') throw noRoom(call, reply, maxCost);
  }

  async #awaitLine(
    call: PlannedCall,
    ledger: JobLedger,
    line: string,
    { leaveAt, sendAt }: { readonly leaveAt: number; readonly sendAt: number },
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, prefix } = this.#control;
    const { key, warn } = this.#job;
    if (clock.now() < leaveAt) throw this.#deferred(call, leaveAt);
    const ended = JSON.stringify(removedEnd('its deadline nears', clock.now()));
    const reply = await this.#run(LEAVE_LINE, [key, `${key}:lock`], [batchBase(prefix), line, ended], signal);
    switch (replyText(reply[0])) {
      case 'lost':
        throw lostJob();
      case 'ended':
        // After this attempt read the ledger.
        throw new CallDeferred(0, `${call.step}: its batch has ended`);
      case 'removed':
        ledger.removed(call, line);
        warn(`${call.step}: the deadline nears and the call was in no batch yet, so it is sent by itself`);
        return;
      default:
        if (clock.now() < sendAt) throw this.#deferred(call, sendAt);
        warn(
          `${call.step}: the deadline nears and its batch has not ended, so the call is sent by itself; the answer of the batch may be billed too`,
        );
    }
  }

  #deferred({ step }: PlannedCall, until: number): CallDeferred {
    const waitMs = Math.max(0, until - this.#control.clock.now());
    return new CallDeferred(
      waitMs,
      `${step}: in a batch, at half the price, until ${new Date(until).toISOString()} at the latest`,
    );
  }

  #warnOnce(message: string): void {
    if (!this.#hasWarned) this.#job.warn(message);
    this.#hasWarned = true;
  }
}

function hasBatches({ provider = 'anthropic' }: PlannedCall): boolean {
  return provider === 'anthropic';
}
