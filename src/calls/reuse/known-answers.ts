import type { EndedCall, SentCall } from '../../queues/call-record.js';
import { EndedCallSchema } from '../../queues/call-record.js';
import { parseJobKey } from '../../queues/job-key.js';
import { readRecord } from '../../queues/read-record.js';
import { batchBase, inFlightKey } from '../../queues/redis-keys.js';
import { replyText } from '../../queues/run-script.js';
import type { RunForAttempt } from '../attempt-scripts.js';
import { toNano } from '../budget/estimate.js';
import type { CallControl } from '../call-control.js';
import { CallDeferred } from '../call-deferred.js';
import type { PlannedCall } from '../call-interceptor.js';
import { waitFor } from '../clock.js';
import type { CallingJob } from '../job-interceptor.js';
import { identityOf, type JobLedger } from '../ledger/job-ledger.js';
import { unpackAnswer } from '../ledger/stored-answer.js';
import type { ReceivedMessage } from '../message.js';
import { lostJob } from '../refusals.js';
import { keyOfAnswer } from './answer-key.js';
import { FIND_ANSWER, TAKE_ANSWER } from './answer-scripts.js';
import { underWayKey } from './under-way.js';

/** Longest time that a job waits for the calls of other jobs before it sends its own, in milliseconds. */
const MAX_WAIT_MS = 600_000;

/** An answer that another job has paid for, as it is found. */
interface FoundAnswer {
  readonly bytes: Buffer;
  readonly message: ReceivedMessage;
  /** How the call ended that it answered. */
  readonly end: EndedCall;
  /** The job that paid for it. */
  readonly jobId: string;
}

/** The answers of other jobs to the calls of one attempt, if its submission allows them. */
export class KnownAnswers {
  readonly #control: CallControl;
  readonly #job: CallingJob;
  readonly #run: RunForAttempt;
  /** By the digests of the requests that this attempt has looked for: which call asked. */
  readonly #requested = new Map<string, string>();

  constructor(control: CallControl, job: CallingJob, run: RunForAttempt) {
    this.#control = control;
    this.#job = job;
    this.#run = run;
  }

  /** Where other jobs find the answer to a call. */
  keyOf(call: PlannedCall): string {
    return keyOfAnswer(this.#control.prefix, this.#job.namedTenant, call);
  }

  /** Whether other jobs wait for the answer to a call of this attempt. */
  isAwaited({ digest }: PlannedCall): boolean {
    return this.#requested.has(digest);
  }

  /**
   * The answer of another job to the same request, once it is in the ledger of this one; undefined if this job has to ask. A job
   * that asks the same again wants another answer.
   *
   * @param mayBatch Whether the call could wait for a batch.
   * @throws CallDeferred while another job asks; JobError `lock-lost`.
   */
  async take(
    call: PlannedCall,
    ledger: JobLedger,
    plan: () => { readonly number: number; readonly sent: SentCall },
    mayBatch: boolean,
    signal: AbortSignal,
  ): Promise<ReceivedMessage | undefined> {
    if (!this.#allows(call, ledger)) return undefined;
    this.#requested.set(call.digest, identityOf(call));
    const found = await this.#find(call, mayBatch, signal);
    if (found === undefined) return undefined;
    const { number, sent } = plan();
    const { costUsd = null } = found.end;
    const end: EndedCall = {
      state: 'answered',
      at: this.#control.clock.now(),
      outcome: 'answered',
      reused: { jobId: found.jobId, costUsd },
    };
    const { key, run } = this.#job;
    const [status] = await this.#run(
      TAKE_ANSWER,
      [key, `${key}:lock`, inFlightKey(this.#control.prefix)],
      [number, JSON.stringify(sent), JSON.stringify(end), found.bytes, run ?? '', toNano(costUsd ?? 0)],
      signal,
    );
    if (replyText(status) !== 'written') throw lostJob();
    ledger.taken(call, number, sent, end, found.bytes);
    return found.message;
  }

  #allows(call: PlannedCall, ledger: JobLedger): boolean {
    if ((this.#job.reuse ?? this.#control.reuse) !== 'fleet' || call.independent) return false;
    const identity = identityOf(call);
    if ((this.#requested.get(call.digest) ?? identity) !== identity) return false;
    // The answer to its own line is on the way.
    return !ledger.hasAnswerTo(call) && ledger.lineOf(call) === undefined;
  }

  async #find(call: PlannedCall, mayBatch: boolean, signal: AbortSignal): Promise<FoundAnswer | undefined> {
    const { clock, prefix, shortWaitMs } = this.#control;
    const { key, warn } = this.#job;
    const answer = this.keyOf(call);
    let remainingWaitMs = shortWaitMs;
    for (;;) {
      const [status, ...values] = await this.#run(
        FIND_ANSWER,
        [key, `${key}:lock`, answer, underWayKey(answer)],
        [call.digest, MAX_WAIT_MS, mayBatch ? '1' : '', batchBase(prefix)],
        signal,
      );
      switch (replyText(status)) {
        case 'ask':
          return undefined;
        case 'known': {
          const [bytes, ended, payer] = values;
          const { value, broken } = unpackAnswer(Buffer.isBuffer(bytes) ? bytes : Buffer.alloc(0));
          const end = readRecord(EndedCallSchema, replyText(ended))?.value;
          if (value !== undefined && end !== undefined && Buffer.isBuffer(bytes))
            return { bytes, message: value, end, jobId: parseJobKey(replyText(payer) ?? '').id };
          warn(
            `${call.step}: the answer of another job cannot be understood, so the call is sent: ${broken ?? 'how its call ended is damaged'}`,
          );
          return undefined;
        }
        case 'wait':
          break;
        default:
          throw lostJob();
      }
      const waitMs = Number(values[0]);
      if (waitMs > remainingWaitMs) throw deferred(call, waitMs, replyText(values[1]) === 'batch');
      remainingWaitMs -= waitMs;
      await waitFor(waitMs, clock, signal);
    }
  }
}

function deferred({ step }: PlannedCall, waitMs: number, inBatch: boolean): CallDeferred {
  const where = inBatch ? ' in a batch' : '';
  return new CallDeferred(
    waitMs,
    `${step}: another job asks the same${where}, and its answer serves this one too`,
  );
}
