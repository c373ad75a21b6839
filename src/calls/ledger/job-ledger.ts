import type { EndedCall, SentCall } from '../../queues/call-record.js';
import { EndedCallSchema, LEDGER_FIELD, SentCallSchema } from '../../queues/call-record.js';
import { type RecordReading, readRecord } from '../../queues/read-record.js';
import { replyText, type ScriptReply } from '../../queues/run-script.js';
import type { PlannedCall } from '../call-interceptor.js';
import type { ReceivedMessage } from '../message.js';
import type { OutcomeClass } from '../outcome.js';
import { unpackAnswer } from './stored-answer.js';

/** A call of the ledger, as one attempt sees it. */
interface Entry {
  readonly number: number;
  readonly sent: SentCall;
  readonly state: EndedCall['state'] | 'open' | 'in-batch';
  /** Whether the provider may have charged for it. */
  readonly billed: boolean;
  readonly answer: Buffer | undefined;
  /** How it ended. */
  readonly outcome: string | undefined;
  /** Whether the job was parked for it, so that a person decides. */
  readonly parked: boolean;
  /** Its line, if it was sent in a batch. */
  readonly line: string | undefined;
  /** Whether it has an answer from a batch that no attempt has used yet. */
  readonly isNew: boolean;
}

/** An answer of the ledger. */
export interface LedgerAnswer {
  readonly number: number;
  readonly message: ReceivedMessage;
  /** Whether it came in a batch, and no attempt has used it yet. */
  readonly isNew: boolean;
}

/** What the script that opens a ledger returns of each call. */
const FIELDS = 6;

/** Outcomes that the same request has every time. */
const NEVER_SUCCEEDS: ReadonlySet<string> = new Set<OutcomeClass>(['bad-request', 'context-exceeded']);
/** Outcomes that the request itself can cause, and how many of them count as caused by it. */
const SLOW: ReadonlySet<string> = new Set<OutcomeClass>(['timeout', 'idle']);
const MAX_TIMEOUTS = 3;
/** States of a call without a whole answer. */
const BROKEN: ReadonlySet<Entry['state']> = new Set<Entry['state']>(['failed', 'in-doubt']);

/**
 * The job's ledger in the memory of one attempt. Only the attempt that owns the job's lock writes to the ledger, so what
 * was read when it began and what it wrote since is complete: looking up an answer takes no round trip.
 */
export class JobLedger {
  readonly #onBroken: (record: string, why: string) => void;
  readonly #entries = new Map<number, Entry>();
  /** Numbers of the calls that this attempt has used or sent: the same request made twice gets two answers. */
  readonly #used = new Set<number>();
  #last = 0;

  /**
   * @param fields for each call: what was sent, how it ended, the answer, whether the job was parked for it, its line in a
   *   batch, the attempt that used the answer of that line
   * @param onBroken called for each record that cannot be understood: it is damaged, or another version wrote it
   */
  constructor(
    fields: readonly ScriptReply[],
    onBroken: (record: string, why: string) => void = () => undefined,
  ) {
    this.#onBroken = onBroken;

    for (let at = 0; at < fields.length; at += FIELDS) {
      this.#last += 1;
      const sent = readRecord(SentCallSchema, replyText(fields[at]));
      const end = readRecord(EndedCallSchema, replyText(fields[at + 1]));
      const answer = fields[at + 2];
      const line = replyText(fields[at + 4]);
      if (sent?.broken !== undefined) onBroken(`${LEDGER_FIELD}:${this.#last}`, sent.broken);
      if (end?.broken !== undefined) onBroken(`${LEDGER_FIELD}:${this.#last}:end`, end.broken);
      // Which call it was is lost: its number stays in use, and the call is sent again under another one.
      if (sent?.value === undefined) continue;
      this.#entries.set(this.#last, {
        number: this.#last,
        sent: sent.value,
        state: stateOf(end, line),
        billed: end?.value === undefined || end.value.state === 'in-doubt' || end.value.tokens !== undefined,
        answer: Buffer.isBuffer(answer) ? answer : undefined,
        outcome: end?.value?.outcome,
        parked: fields[at + 3] !== null && fields[at + 3] !== undefined,
        line,
        isNew: line !== undefined && Buffer.isBuffer(answer) && replyText(fields[at + 5]) === undefined,
      });
    }
  }

  /** Calls in doubt: how they ended is not known. */
  get inDoubt(): readonly SentCall[] {
    return [...this.#entries.values()].filter(({ state }) => state === 'in-doubt').map(({ sent }) => sent);
  }

  /**
   * The next recorded answer to a call that this attempt has not used yet. An unusable answer counts if the conversation
   * continued after it: this attempt needs it to continue, and another call would cost money again. It also counts if the
   * conversation is held only once, or if it came in a batch and no attempt has seen it. A call whose answer cannot be understood is in doubt from then on: it is paid for,
   * and its answer is lost.
   */
  takeAnswer(call: PlannedCall): LedgerAnswer | undefined {
    for (const entry of this.#of(call)) {
      if (this.#used.has(entry.number)) continue;
      const counts = entry.state === 'unusable' && (entry.isNew || call.once === true || this.#wentOn(entry));
      if (entry.state !== 'answered' && !counts) continue;
      const { value, broken } = unpackAnswer(entry.answer ?? Buffer.alloc(0));
      if (value === undefined) this.#onBroken(`${LEDGER_FIELD}:${entry.number}:answer`, broken);
      if (value !== undefined || entry.state === 'unusable') this.#used.add(entry.number);
      else this.#entries.set(entry.number, { ...entry, state: 'in-doubt', answer: undefined });
      if (value === undefined) continue;
      this.#entries.set(entry.number, { ...entry, isNew: false });
      return { number: entry.number, message: value, isNew: entry.isNew };
    }
    return undefined;
  }

  /**
   * Whether the conversation continued after this call and did not end without a usable answer. One that did starts again
   * from the beginning: otherwise every retry would replay the same unusable answers.
   */
  #wentOn({ number, sent }: Entry): boolean {
    let last: Entry | undefined;
    let slow = 0;
    for (const later of this.#inOrder()) {
      if (later.number <= number || later.sent.step !== sent.step) continue;
      // Here the conversation started again.
      if (later.sent.turn === 1) break;
      last = later;
      if (SLOW.has(later.outcome ?? '')) slow += 1;
    }
    if (last === undefined || last.state === 'unusable') return false;
    if (last.state !== 'answered' && slow >= MAX_TIMEOUTS) return false;
    return last.state !== 'failed' || !NEVER_SUCCEEDS.has(last.outcome ?? '');
  }

  /** The line for which a call like this one waits. */
  lineOf(call: PlannedCall): string | undefined {
    return this.#of(call).findLast(({ state }) => state === 'in-batch')?.line;
  }

  /** Whether a call like this one was ever queued for a batch. */
  wasQueued(call: PlannedCall): boolean {
    return this.#of(call).some(({ line }) => line !== undefined);
  }

  /** Whether a call like this one was ever sent by itself. */
  wasSent(call: PlannedCall): boolean {
    return this.#of(call).some(({ line }) => line === undefined);
  }

  /** Notes that the line of a call was removed before it was sent. */
  removed(call: PlannedCall, line: string): void {
    const entry = this.#of(call).find((each) => each.line === line);
    if (entry !== undefined) this.#entries.set(entry.number, { ...entry, state: 'failed', billed: false });
  }

  /** How many calls like this one, at the end of the ledger, were billed, or may have been, although their answer broke off. */
  brokenInARow(call: PlannedCall): number {
    const calls = this.#of(call);
    const whole = calls.findLastIndex(({ state, billed }) => !BROKEN.has(state) || !billed);
    return calls.length - 1 - whole;
  }

  /** Whether the job has an answer to this request, whatever asked for it: who asks again wants another answer. */
  hasAnswerTo({ digest }: PlannedCall): boolean {
    return [...this.#entries.values()].some(
      ({ sent, state }) => state === 'answered' && sent.digest === digest,
    );
  }

  /** Number of a call like this one that is in doubt and for which the job was not parked yet. */
  callToPark(call: PlannedCall): number | undefined {
    return this.#of(call).find(({ state, parked }) => state === 'in-doubt' && !parked)?.number;
  }

  /** The number and content under which a call is sent: those of the last time it was sent by itself, if that cost nothing. */
  plan(call: PlannedCall, likelyUsd: number | null): { readonly number: number; readonly sent: SentCall } {
    const before = this.#of(call).at(-1);
    const isFree = before?.state === 'failed' && !before.billed && before.line === undefined;
    const again = isFree ? before : undefined;
    // A new number is taken at once: another conversation of the job may plan a call before this one is sent.
    if (again === undefined) this.#last += 1;
    return {
      number: again?.number ?? this.#last,
      sent: {
        step: call.step,
        turn: call.turn,
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
      parked: false,
      line: undefined,
      isNew: false,
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

  /** Notes that an answer of another job was written. */
  taken(call: PlannedCall, number: number, sent: SentCall, end: EndedCall, answer: Buffer): void {
    this.sent(number, sent);
    this.ended(call, number, end, answer);
  }

  #of(call: PlannedCall): Entry[] {
    const identity = identityOf(call);
    return this.#inOrder().filter(({ sent }) => identityOf(sent) === identity);
  }

  #inOrder(): Entry[] {
    return [...this.#entries.values()].sort((a, b) => a.number - b.number);
  }
}

function stateOf(end: RecordReading<EndedCall> | undefined, line: string | undefined): Entry['state'] {
  if (end !== undefined) return end.value?.state ?? 'in-doubt';
  return line === undefined ? 'open' : 'in-batch';
}

/** Step, turn and digest: together they identify a call in every attempt of the job. */
export function identityOf({ step, turn, digest }: Pick<PlannedCall, 'step' | 'turn' | 'digest'>): string {
  return `${turn} ${digest} ${step}`;
}
