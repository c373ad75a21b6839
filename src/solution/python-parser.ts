import { TenantQueue } from '../tenant-queue.js';
import { type NoVerdict, PythonChild, type PythonVerdict } from './python-child.js';

/** How long an interpreter that did not come up is left alone. */
const RETRY_INTERPRETER_MS = 60_000;

/** Texts of more characters than this do not go before short ones: Python needs seconds for the largest. */
const MAX_SHORT_CHARACTERS = 16_384;

/** How long one text may take, the start of the interpreter included, in milliseconds. */
export interface PythonTimes {
  /** A short text; it is then asked about once more, among the long ones. */
  readonly shortMs: number;
  readonly longMs: number;
}

interface Question {
  readonly text: string;
  readonly answer: (verdict: PythonVerdict | NoVerdict) => void;
}

/**
 * Asks one interpreter, through long-lived children that are started at the first question and again after they have died:
 * one for short texts, one for long ones and those that turned out to be slow. At each, questions wait for each other, so
 * that a hanging text is known by its name, and tenants are served in rotation.
 */
export class PythonParser {
  readonly #short: QuestionLine;
  readonly #long: QuestionLine;

  constructor(interpreter: string, { shortMs, longMs }: PythonTimes = { shortMs: 1_000, longMs: 10_000 }) {
    this.#short = new QuestionLine(interpreter, shortMs);
    this.#long = new QuestionLine(interpreter, longMs);
  }

  /** Python's verdict on the text, or why there is none. Never rejects. */
  async ask(text: string, tenant = ''): Promise<PythonVerdict | NoVerdict> {
    if (text.length > MAX_SHORT_CHARACTERS) return this.#long.ask(text, tenant);
    const verdict = await this.#short.ask(text, tenant);
    return verdict === 'timeout' ? this.#long.ask(text, tenant) : verdict;
  }
}

/** Questions to one child. */
class QuestionLine {
  readonly #interpreter: string;
  readonly #timeoutMs: number;
  readonly #waiting = new TenantQueue<Question>();
  #child: PythonChild | undefined;
  #isBusy = false;
  #unavailableUntil = 0;

  constructor(interpreter: string, timeoutMs: number) {
    this.#interpreter = interpreter;
    this.#timeoutMs = timeoutMs;
  }

  ask(text: string, tenant: string): Promise<PythonVerdict | NoVerdict> {
    return new Promise((answer) => {
      this.#waiting.add(tenant, { text, answer });
      void this.#goOn();
    });
  }

  async #goOn(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    for (let next = this.#waiting.next(); next !== undefined; next = this.#waiting.next()) {
      next.answer(await this.#askNow(next.text));
    }
    this.#isBusy = false;
  }

  async #askNow(text: string): Promise<PythonVerdict | NoVerdict> {
    if (Date.now() < this.#unavailableUntil) return 'unavailable';
    const answer = await this.#askChild(text);
    // The end of an idle child is not this text's fault; a text that ends two children is.
    return answer === 'died' ? this.#askChild(text) : answer;
  }

  async #askChild(text: string): Promise<PythonVerdict | NoVerdict> {
    if (!this.#child?.alive) this.#child = new PythonChild(this.#interpreter, this.#timeoutMs);
    const child = this.#child;
    const answer = await child.ask(text, this.#timeoutMs);
    if (answer !== 'died' || child.ready) return answer;
    this.#unavailableUntil = Date.now() + RETRY_INTERPRETER_MS;
    return 'unavailable';
  }
}
