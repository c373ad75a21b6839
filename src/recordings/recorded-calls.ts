import type { CallInterceptor, PlannedCall, RecordedAnswer } from '../calls/call-interceptor.js';
import { JobLedger } from '../calls/ledger/job-ledger.js';
import { packAnswer } from '../calls/ledger/stored-answer.js';
import type { ReceivedMessage } from '../calls/message.js';
import { CallFault } from '../calls/outcome.js';
import { isPassing } from '../calls/retry-table.js';
import type { CallRequest, Provider, Transport } from '../calls/transport.js';
import { UsageError } from '../errors.js';
import type { RecordedCall, RecordedRequest, Recording } from './recording.js';

/** Requests are recognized by their step and turn alone: prompts may have changed since. */
const ANY_REQUEST = '';

/**
 * Answers calls from a recording, as the last attempt of the job got its answers: some from the ledger, for earlier attempts or
 * other jobs had paid for them, and some from the provider.
 */
export class RecordedCalls implements CallInterceptor {
  readonly name = 'recording';
  readonly requests: RecordedRequest[] = [];
  readonly #calls: readonly RecordedCall[];
  readonly #ledger: JobLedger;
  /** Unusable answers of the last conversation that were returned. */
  readonly #used = new Set<RecordedCall>();
  /** Answers that broke off after they were billed, in the last attempt. */
  readonly #broken: Set<RecordedCall>;
  #reusable: number;
  #missing: string | undefined;
  readonly #planned = new WeakMap<CallRequest, PlannedCall>();

  constructor({ calls, end }: Pick<Recording, 'calls' | 'end'>) {
    this.#calls = calls;
    this.#ledger = new JobLedger(calls.flatMap(ledgerFields));
    const usage = usageIn(end);
    this.#reusable = Math.max(0, usage.reusedCalls - calls.filter(({ reused }) => reused).length);
    const answers = calls.filter(({ answer }) => answer !== undefined).length;
    const broken = calls.filter(isBilledFailure);
    const count = Math.max(0, usage.calls + usage.reusedCalls - answers);
    this.#broken = new Set(broken.slice(broken.length - Math.min(count, broken.length)));
  }

  /** @throws UsageError if a call had no answer: then how the job ended says nothing. */
  assertComplete(): void {
    if (this.#missing !== undefined) throw new UsageError('usage', this.#missing, { field: 'calls' });
  }

  async admit(call: PlannedCall): Promise<RecordedAnswer | undefined> {
    this.#planned.set(call.request, call);
    this.#note(call);
    const isOfOtherJob = this.#calls.some((each) => each.reused && isSame(each, call));
    if (this.#reusable === 0 && !isOfOtherJob) return undefined;
    const answer = this.#answerTo(call);
    if (answer === undefined) return undefined;
    if (!isOfOtherJob) this.#reusable -= 1;
    return { message: answer };
  }

  /** The provider, without a network. */
  transport(provider: Provider): Transport {
    return {
      provider,
      send: async (request) => {
        const call = this.#planned.get(request);
        if (call === undefined) throw new TypeError('a request was sent without its admission');
        const message = this.#send(call);
        return { status: 200, headers: {}, message: async () => message };
      },
    };
  }

  #send(call: PlannedCall): ReceivedMessage {
    const broken = this.#calls.find((each) => this.#broken.has(each) && isSame(each, call));
    if (broken !== undefined) {
      this.#broken.delete(broken);
      throw faultOf(broken);
    }
    const answer = this.#answerTo(call);
    if (answer !== undefined) return answer;
    const last = this.#calls.findLast((each) => isSame(each, call));
    if (last !== undefined && last.answer === undefined) throw faultOf(last);
    this.#missing ??= `the recording has no answer to call ${call.turn} of ${call.step}; the job makes other calls now`;
    throw new CallFault({ class: 'bad-request', detail: this.#missing });
  }

  /** What the ledger of the job gives its last attempt; else the answers with which its last conversation failed. */
  #answerTo(call: PlannedCall): ReceivedMessage | undefined {
    const { step, turn } = call;
    const found = this.#ledger.takeAnswer({ ...call, digest: ANY_REQUEST });
    if (found !== undefined) return found.message;
    const last = this.#calls.findLast(
      (each) => isSame(each, { step, turn }) && each.state === 'unusable' && !this.#used.has(each),
    );
    if (last?.answer === undefined) return undefined;
    this.#used.add(last);
    return messageOf(last.answer);
  }

  #note({ step, turn, request: { system, messages } }: PlannedCall): void {
    const texts = typeof system === 'string' ? [system] : (system ?? []).map(({ text }) => text);
    this.requests.push({
      step,
      turn,
      system: texts.join('\n\n'),
      messages: messages.map(({ role, content }) => ({ role, content })),
    });
  }
}

function isSame(
  call: Pick<RecordedCall, 'step' | 'turn'>,
  { step, turn }: Pick<PlannedCall, 'step' | 'turn'>,
): boolean {
  return call.step === step && call.turn === turn;
}

/** In place, such a call is sent again. Any other failure ends its attempt. */
function isBilledFailure({ answer, tokens, outcome, detail = '' }: RecordedCall): boolean {
  return answer === undefined && tokens !== undefined && isPassing({ class: outcome, detail });
}

function faultOf({ outcome, detail, tokens }: RecordedCall): CallFault {
  return new CallFault({
    class: outcome,
    detail: detail ?? outcome,
    ...(tokens === undefined ? {} : { tokens }),
  });
}

function messageOf({ id, model, refusal, ...rest }: NonNullable<RecordedCall['answer']>): ReceivedMessage {
  return { ...rest, id, model, refusal };
}

/** What the ledger stores of a call. */
function ledgerFields({ step, turn, model, state, outcome, tokens, answer }: RecordedCall) {
  const sent = { step, turn, digest: ANY_REQUEST, model, sends: 1, likelyUsd: null };
  const end = { state, at: 0, outcome, ...(tokens === undefined ? {} : { tokens }) };
  const packed = answer === undefined ? null : packAnswer(messageOf(answer));
  return [Buffer.from(JSON.stringify(sent)), Buffer.from(JSON.stringify(end)), packed, null, null, null];
}

function usageIn(end: Recording['end']): { readonly calls: number; readonly reusedCalls: number } {
  const usage =
    'result' in end ? (end.result.usage as { calls?: number; reusedCalls?: number } | undefined) : undefined;
  return { calls: usage?.calls ?? 0, reusedCalls: usage?.reusedCalls ?? 0 };
}
