import type { EndedCall, SentCall } from '../../queues/call-record.js';
import { EndedCallSchema, LEDGER_FIELD, SentCallSchema } from '../../queues/call-record.js';
import { readRecord } from '../../queues/read-record.js';
import { replyText, type ScriptReply } from '../../queues/run-script.js';
import type { PlannedCall } from '../call-interceptor.js';
import type { ReceivedMessage } from '../message.js';
import type { OutcomeClass } from '../outcome.js';
import { unpackAnswer } from './kept-answer.js';

/** A call of the ledger, as one run of the job sees it. */
interface Entry {
  readonly number: number;
  readonly sent: SentCall;
  readonly state: EndedCall['state'] | 'open';
  /** Whether the provider may have charged for it. */
  readonly billed: boolean;
  readonly answer: Buffer | undefined;
  /** How it ended. */
  readonly outcome: string | undefined;
  /** A person has been asked about it. */
  readonly asked: boolean;
}

/** Ends of a call that the same request comes to every time. */
const HOPELESS: ReadonlySet<string> = new Set<OutcomeClass>(['bad-request', 'context-exceeded']);
/** Ends that can be the request's own doing, and how many of them are taken for it. */
const SLOW: ReadonlySet<string> = new Set<OutcomeClass>(['timeout', 'idle']);
const MAX_TIMEOUTS = 3;

/**
 * What one run of a job knows of the job's ledger. Only the run that holds the job's lock writes there, so what was
 * read when it began, and what it wrote since, is all there is: looking an answer up takes no round trip.
 */
export class JobLedger {
  readonly #entries = new Map<number, Entry>();
  /** Numbers of the calls that this run has used or made: the same question asked twice gets two answers. */
  readonly #used = new Set<number>();
  #last = 0;

  /**
   * @param fields what was asked, how it ended, the answer, whether a person was asked: for each call in turn
   * @param onBroken told of each record that cannot be understood, since it is damaged or of another version's making
   */
  constructor(
    fields: readonly ScriptReply[],
    private readonly onBroken: (record: string, why: string) => void = () => undefined,
  ) {
    for (let at = 0; at < fields.length; at += 4) {
      this.#last += 1;
      const sent = readRecord(SentCallSchema, replyText(fields[at]));
      const end = readRecord(EndedCallSchema, replyText(fields[at + 1]));
      const answer = fields[at + 2];
      if (sent?.broken !== undefined) onBroken(`${LEDGER_FIELD}:${this.#last}`, sent.broken);
      if (end?.broken !== undefined) onBroken(`${LEDGER_FIELD}:${this.#last}:end`, end.broken);
      // Nobody can tell any more which call it was: its number stays taken, and whatever asks now asks anew.
      if (sent?.value === undefined) continue;
      this.#entries.set(this.#last, {
        number: this.#last,
        sent: sent.value,
        state: end === undefined ? 'open' : (end.value?.state ?? 'in-doubt'),
        billed: end?.value === undefined || end.value.state === 'in-doubt' || end.value.tokens !== undefined,
        answer: Buffer.isBuffer(answer) ? answer : undefined,
        outcome: end?.value?.outcome,
        asked: fields[at + 3] !== null && fields[at + 3] !== undefined,
      });
    }
  }

  /** Calls in doubt: nobody knows how they ended. */
  get inDoubt(): readonly SentCall[] {
    return [...this.#entries.values()].filter(({ state }) => state === 'in-doubt').map(({ sent }) => sent);
  }

  /**
   * The next answer to a call that this run has not used yet; also one that could not be used, where the question went on
   * after it: whoever goes on with the question needs it, and asking anew would be paid again. A call whose answer
   * cannot be understood is in doubt from then on: it is paid for, and what it brought is lost.
   */
  takeAnswer(call: PlannedCall): ReceivedMessage | undefined {
    for (const entry of this.#of(call)) {
      if (this.#used.has(entry.number)) continue;
      if (entry.state !== 'answered' && !(entry.state === 'unusable' && this.#wentOn(entry))) continue;
      const { value, broken } = unpackAnswer(entry.answer ?? Buffer.alloc(0));
      if (value === undefined) this.onBroken(`${LEDGER_FIELD}:${entry.number}:answer`, broken);
      if (value !== undefined || entry.state === 'unusable') this.#used.add(entry.number);
      else this.#entries.set(entry.number, { ...entry, state: 'in-doubt', answer: undefined });
      if (value !== undefined) return value;
    }
    return undefined;
  }

  /**
   * Whether the question was asked on after this call and has not come to its end without a usable answer. One that has
   * is asked from the beginning: what was no answer the last time must not be all that a retry is ever given.
   */
  #wentOn({ number, sent }: Entry): boolean {
    let last: Entry | undefined;
    let slow = 0;
    for (const later of this.#inOrder()) {
      if (later.number <= number || later.sent.step !== sent.step) continue;
      // From here on the question was asked anew.
      if (later.sent.ask === 1) break;
      last = later;
      if (SLOW.has(later.outcome ?? '')) slow += 1;
    }
    if (last === undefined || last.state === 'unusable') return false;
    if (last.state !== 'answered' && slow >= MAX_TIMEOUTS) return false;
    return last.state !== 'failed' || !HOPELESS.has(last.outcome ?? '');
  }

  /** A call like this one that is in doubt and about which nobody was asked yet; its number. */
  unansweredQuestion(call: PlannedCall): number | undefined {
    return this.#of(call).find(({ state, asked }) => state === 'in-doubt' && !asked)?.number;
  }

  /** The number and content under which a call is sent: that of its last sending, where this cost nothing. */
  plan(call: PlannedCall, likelyUsd: number | null): { readonly number: number; readonly sent: SentCall } {
    const before = this.#of(call).at(-1);
    const again = before?.state === 'failed' && !before.billed ? before : undefined;
    // A new number is taken at once: another question of the job may plan a call before this one is sent.
    if (again === undefined) this.#last += 1;
    return {
      number: again?.number ?? this.#last,
      sent: {
        step: call.step,
        ask: call.ask,
        digest: call.digest,
        model: call.model,
        sends: (again?.sent.sends ?? 0) + 1,
        likelyUsd,
      },
    };
  }

  /** Notes what was written. */
  sent(number: number, sent: SentCall): void {
    this.#entries.set(number, {
      number,
      sent,
      state: 'open',
      billed: true,
      answer: undefined,
      outcome: undefined,
      asked: false,
    });
    this.#used.add(number);
  }

  /** Notes what was written. */
  ended({ step }: PlannedCall, number: number, end: EndedCall, answer: Buffer | undefined): void {
    const entry = this.#entries.get(number);
    if (entry === undefined) throw new RangeError(`${step}: call ${number} was not sent`);
    const billed = end.state === 'in-doubt' || end.tokens !== undefined;
    this.#entries.set(number, { ...entry, state: end.state, billed, answer, outcome: end.outcome });
  }

  #of(call: PlannedCall): Entry[] {
    const identity = identityOf(call);
    return this.#inOrder().filter(({ sent }) => identityOf(sent) === identity);
  }

  #inOrder(): Entry[] {
    return [...this.#entries.values()].sort((a, b) => a.number - b.number);
  }
}

/** Step, number and digest: together they are a call's identity in every run of the job. */
export function identityOf({ step, ask, digest }: Pick<PlannedCall, 'step' | 'ask' | 'digest'>): string {
  return `${ask} ${digest} ${step}`;
}
