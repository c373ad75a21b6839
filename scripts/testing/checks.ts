/** What was checked: a line for each, with its seconds, and the counts at the end. */
export class Report {
  #passed = 0;
  #failed = 0;
  readonly #facts: string[] = [];

  /** A check that ends without an error has passed. It returns what is worth a word, or nothing. A failed one ends nothing else. */
  async check(
    name: string,
    action: () => Promise<string | undefined> | string | undefined,
  ): Promise<boolean> {
    const began = performance.now();
    try {
      const note = await action();
      this.#passed += 1;
      this.#say('passed', name, began, note);
      return true;
    } catch (thrown) {
      this.#failed += 1;
      this.#say('FAILED', name, began, thrown instanceof Error ? thrown.message : String(thrown));
      return false;
    }
  }

  /** Something that was measured. */
  fact(text: string): void {
    this.#facts.push(text);
    process.stdout.write(`       ${text}\n`);
  }

  get failed(): number {
    return this.#failed;
  }

  /** The facts once more, and the counts. */
  summary(): string {
    return `${['', ...this.#facts, `${this.#passed} passed, ${this.#failed} failed`].join('\n')}\n`;
  }

  #say(how: string, name: string, began: number, note: string | undefined): void {
    const seconds = ((performance.now() - began) / 1_000).toFixed(1);
    const more = note === undefined ? '' : `: ${note.trim().replaceAll('\n', '\n         ')}`;
    process.stdout.write(`${how} ${name} (${seconds} s)${more}\n`);
  }
}

/** @throws Error with the message unless the condition holds. */
export function must(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

/** Repeats until it returns something other than undefined. @throws Error that says what was waited for. */
export async function until<T>(
  what: string,
  limitMs: number,
  look: () => Promise<T | undefined>,
  everyMs = 500,
): Promise<T> {
  const giveUpAt = performance.now() + limitMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    must(performance.now() < giveUpAt, `${what}: not within ${limitMs / 1_000} s`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
