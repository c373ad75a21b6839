/** A one-line progress display on standard error, shown only while that is a terminal. */
export class ProgressLine {
  readonly #stream: NodeJS.WriteStream;
  #shown = false;

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream;
  }

  show(text: string): void {
    if (this.#stream.isTTY !== true) return;
    const width = Math.max(10, (this.#stream.columns ?? 80) - 1);
    this.#stream.write(`\r\u001b[2K${text.slice(0, width)}`);
    this.#shown = true;
  }

  clear(): void {
    if (this.#shown) this.#stream.write('\r\u001b[2K');
    this.#shown = false;
  }
}
