import { TenantQueue } from '../tenant-queue.js';
import type { InterpreterResult, NoResult } from './python-answer.js';
import { PythonChild } from './python-child.js';

/** How long an interpreter that did not come up is left alone. */
const RETRY_INTERPRETER_MS = 60_000;

/** Texts of more characters than this do not go before short ones: Python needs seconds for the largest. */
const MAX_SHORT_CHARACTERS = 16_384;

/** How long one text may take, the start of the interpreter included, in milliseconds. */
export interface PythonTimes {
  /** A short text; it is then parsed once more, among the long ones. */
  readonly shortMs: number;
  readonly longMs: number;
}

/** For whom a text is parsed: tenants are served in rotation, and a text whose signal aborts before its turn is not parsed. */
export interface ParseOwner {
  readonly tenant?: string;
  readonly signal?: AbortSignal;
}

interface ParseRequest {
  readonly text: string;
  readonly answer: (result: InterpreterResult | NoResult) => void;
}

/**
 * Parses with one interpreter, through long-lived children that are started at the first text and again after they have died:
 * one for short texts, one for long ones and those that turned out to be slow. At each, texts wait for each other, so
 * that a hanging text is known by its name, and tenants are served in rotation.
 */
export class PythonParser {
  readonly #short: ChildQueue;
  readonly #long: ChildQueue;
  #isAlone = false;

  constructor(interpreter: string, { shortMs, longMs }: PythonTimes = { shortMs: 1_000, longMs: 10_000 }) {
    this.#short = new ChildQueue(interpreter, shortMs);
    this.#long = new ChildQueue(interpreter, longMs);
  }

  /**
   * Starts the interpreter for short texts, which will get those of any length first: for a process without tenants, where
   * to start another one takes longer than to parse most texts.
   */
  startAlone(): void {
    this.#isAlone = true;
    this.#short.start();
  }

  /**
   * What Python says about the text, or why it says nothing.
   * @throws the reason of the signal, if it aborts before the turn of the text
   */
  async parse(text: string, owner: ParseOwner = {}): Promise<InterpreterResult | NoResult> {
    if (text.length > MAX_SHORT_CHARACTERS && !this.#isAlone) return this.#long.parse(text, owner);
    const result = await this.#short.parse(text, owner);
    return result === 'timeout' ? this.#long.parse(text, owner) : result;
  }
}

/** The texts that wait for one child. */
class ChildQueue {
  readonly #interpreter: string;
  readonly #timeoutMs: number;
  readonly #waiting = new TenantQueue<ParseRequest>();
  #child: PythonChild | undefined;
  #isBusy = false;
  #unavailableUntil = 0;

  constructor(interpreter: string, timeoutMs: number) {
    this.#interpreter = interpreter;
    this.#timeoutMs = timeoutMs;
  }

  start(): void {
    this.#living();
  }

  #living(): PythonChild {
    if (!this.#child?.alive) this.#child = new PythonChild(this.#interpreter, this.#timeoutMs);
    return this.#child;
  }

  parse(text: string, { tenant = '', signal }: ParseOwner): Promise<InterpreterResult | NoResult> {
    return new Promise((answer, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const abort = () => {
        if (this.#waiting.remove(tenant, request)) reject(signal?.reason);
      };
      const request: ParseRequest = {
        text,
        answer: (result) => {
          signal?.removeEventListener('abort', abort);
          answer(result);
        },
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiting.add(tenant, request);
      void this.#goOn();
    });
  }

  async #goOn(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    for (let next = this.#waiting.next(); next !== undefined; next = this.#waiting.next()) {
      next.answer(await this.#parseNow(next.text));
    }
    this.#isBusy = false;
  }

  async #parseNow(text: string): Promise<InterpreterResult | NoResult> {
    if (Date.now() < this.#unavailableUntil) return 'unavailable';
    const answer = await this.#parseInChild(text);
    // The end of an idle child is not this text's fault; a text that ends two children is.
    return answer === 'died' ? this.#parseInChild(text) : answer;
  }

  async #parseInChild(text: string): Promise<InterpreterResult | NoResult> {
    const child = this.#living();
    const answer = await child.parse(text, this.#timeoutMs);
    if (answer !== 'died' || child.ready) return answer;
    this.#unavailableUntil = Date.now() + RETRY_INTERPRETER_MS;
    return 'unavailable';
  }
}
