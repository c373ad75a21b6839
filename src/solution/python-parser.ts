import { type NoVerdict, PythonChild, type PythonVerdict } from './python-child.js';

/** How long an interpreter that did not come up is left alone. */
const RETRY_INTERPRETER_MS = 60_000;

/**
 * Asks one interpreter, through one long-lived child that is started at the first question and again after it
 * has died. Questions wait for each other, so that a hanging text is known by its name.
 */
export class PythonParser {
  readonly #interpreter: string;
  readonly #timeoutMs: number;
  #child: PythonChild | undefined;
  #unavailableUntil = 0;
  #lastTurn: Promise<unknown> = Promise.resolve();

  /** @param timeoutMs how long one text may take, the start of the interpreter included. */
  constructor(interpreter: string, timeoutMs = 10_000) {
    this.#interpreter = interpreter;
    this.#timeoutMs = timeoutMs;
  }

  /** Python's verdict on the text, or why there is none. Never rejects. */
  ask(text: string): Promise<PythonVerdict | NoVerdict> {
    const turn = this.#lastTurn.then(() => this.#askNow(text));
    this.#lastTurn = turn;
    return turn;
  }

  async #askNow(text: string): Promise<PythonVerdict | NoVerdict> {
    if (Date.now() < this.#unavailableUntil) return 'unavailable';
    const answer = await this.#askChild(text);
    // Whoever killed an idle child did not mean this text; a text that kills two is at fault.
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
