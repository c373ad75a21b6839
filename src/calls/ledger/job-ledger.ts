import type { EndedCall, SentCall } from '../../queues/call-record.js';
import { EndedCallSchema, LEDGER_FIELD, SentCallSchema } from '../../queues/call-record.js';
import { readRecord } from '../../queues/read-record.js';
import { replyText, type ScriptReply } from '../../queues/run-script.js';
import type { PlannedCall } from '../call-gate.js';
import type { ReceivedMessage } from '../message.js';
import { unpackAnswer } from './kept-answer.js';

/** A call of the ledger, as one run of the job sees it. */
interface Entry {
  readonly number: number;
  readonly sent: SentCall;
  readonly state: EndedCall['state'] | 'open';
  /** Whether the provider may have charged for it. */
  readonly billed: boolean;
  readonly answer: Buffer | undefined;
  /** A person has been asked about it. */
  readonly asked: boolean;
}

/**
 * What one run of a job knows of the job's ledger. Only the run that holds the job's lock writes there, so what was
 * read when it began, and what it wrote since, is all there is: looking an answer up takes no round trip.
 */
export class JobLedger {
  readonly #entries = new Map<number, Entry>();
  /** How many answers to each question this run has used: the same question asked twice gets two answers. */
  readonly #used = new Map<string, number>();
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
        state: end === undefined ? 'open' : (end.value?.state ?? 'unknown'),
        billed: end?.value === undefined || end.value.state === 'unknown' || end.value.tokens !== undefined,
        answer: Buffer.isBuffer(answer) ? answer : undefined,
        asked: fields[at + 3] !== null && fields[at + 3] !== undefined,
      });
    }
  }

  /** Calls whose end nobody knows. */
  get unknown(): readonly SentCall[] {
    return [...this.#entries.values()].filter(({ state }) => state === 'unknown').map(({ sent }) => sent);
  }

  /**
   * The next answer to a call that this run has not used yet. A call whose answer cannot be understood counts as
   * unknown from then on: it is paid for, and what it brought is lost.
   */
  takeAnswer(call: PlannedCall): ReceivedMessage | undefined {
    const used = this.#used.get(keyOf(call)) ?? 0;
    for (;;) {
      const entry = this.#of(call).filter(({ state }) => state === 'answered')[used];
      if (entry === undefined) return undefined;
      const { value, broken } = unpackAnswer(entry.answer ?? Buffer.alloc(0));
      if (value !== undefined) {
        this.#used.set(keyOf(call), used + 1);
        return value;
      }
      this.onBroken(`${LEDGER_FIELD}:${entry.number}:answer`, broken);
      this.#entries.set(entry.number, { ...entry, state: 'unknown', answer: undefined });
    }
  }

  /** A call like this one whose end is unknown and about which nobody was asked yet; its number. */
  unansweredQuestion(call: PlannedCall): number | undefined {
    return this.#of(call).find(({ state, asked }) => state === 'unknown' && !asked)?.number;
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
        sendings: (again?.sent.sendings ?? 0) + 1,
        likelyUsd,
      },
    };
  }

  /** Notes what was written. */
  sent(number: number, sent: SentCall): void {
    this.#entries.set(number, { number, sent, state: 'open', billed: true, answer: undefined, asked: false });
  }

  /** Notes what was written; an answer of this run counts as used by it. */
  ended(call: PlannedCall, number: number, end: EndedCall, answer: Buffer | undefined): void {
    const entry = this.#entries.get(number);
    if (entry === undefined) throw new RangeError(`call ${number} was not sent`);
    const billed = end.state === 'unknown' || end.tokens !== undefined;
    this.#entries.set(number, { ...entry, state: end.state, billed, answer });
    if (end.state === 'answered') this.#used.set(keyOf(call), (this.#used.get(keyOf(call)) ?? 0) + 1);
  }

  #of(call: PlannedCall): Entry[] {
    return [...this.#entries.values()]
      .filter(({ sent }) => keyOf(sent) === keyOf(call))
      .sort((a, b) => a.number - b.number);
  }
}

/** Step, number and digest: together they are a call's identity in every run of the job. */
function keyOf({ step, ask, digest }: Pick<PlannedCall, 'step' | 'ask' | 'digest'>): string {
  return JSON.stringify([step, ask, digest]);
}
