/** A one-line progress display on standard error, shown only while that is a terminal. */
export class ProgressLine {
  static #shown: ProgressLine | undefined;

  readonly #stream: NodeJS.WriteStream;
  #text = '';

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream;
  }

  /** Prints something to the terminal where the progress is, which is then shown below it. */
  static printAbove<T>(print: () => T): T {
    const shown = ProgressLine.#shown;
    shown?.clear();
    const printed = print();
    shown?.show(shown.#text);
    return printed;
  }

  show(text: string): void {
    if (this.#stream.isTTY !== true) return;
    const width = Math.max(10, (this.#stream.columns ?? 80) - 1);
    this.#stream.write(`\r\u001b[2K${text.slice(0, width)}`);
    this.#text = text;
    ProgressLine.#shown = this;
  }

  clear(): void {
    if (ProgressLine.#shown !== this) return;
    this.#stream.write('\r\u001b[2K');
    ProgressLine.#shown = undefined;
  }
}
