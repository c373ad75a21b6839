/** What `print(dict)`, `json.dumps` and `pprint` write, read without running anything. */
export type LiteralValue = string | number | boolean | null | LiteralValue[] | Map<string, LiteralValue>;

const DEEPEST = 40;
const WORD = /[A-Za-z_][\w.]*/y;
const NUMERAL = /[-+]?(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?/y;
const SPACE = /[\s]*/y;
const WORDS: Readonly<Record<string, LiteralValue>> = {
  true: true,
  True: true,
  false: false,
  False: false,
  null: null,
  None: null,
  nan: Number.NaN,
  NaN: Number.NaN,
  NAN: Number.NaN,
  inf: Number.POSITIVE_INFINITY,
  Infinity: Number.POSITIVE_INFINITY,
};

class NotALiteral extends Error {}

class LiteralReader {
  readonly #text: string;
  readonly #end: number;
  position: number;

  constructor(text: string, start: number, end: number) {
    this.#text = text;
    this.#end = end;

    this.position = start;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.position;
    const match = pattern.exec(this.#text);
    if (match === null || this.position + match[0].length > this.#end) return undefined;
    this.position += match[0].length;
    return match[0];
  }

  #peek(): string {
    this.#match(SPACE);
    return this.position < this.#end ? (this.#text[this.position] ?? '') : '';
  }

  value(depth: number): LiteralValue {
    if (depth > DEEPEST) throw new NotALiteral();
    const next = this.#peek();
    if (next === '{') return this.#mapping(depth);
    if (next === '[') return this.#sequence(']', depth);
    if (next === '(') return this.#sequence(')', depth);
    if (next === '"' || next === "'") return this.#string(next);
    const sign = next === '-' || next === '+' ? next : '';
    const numeral = this.#match(NUMERAL);
    if (numeral !== undefined && numeral !== '') return Number(numeral.replaceAll('_', ''));
    if (sign !== '') this.position += 1;
    const word = this.#match(WORD);
    if (word === undefined) throw new NotALiteral();
    if (this.#text[this.position] === '(') {
      // `np.float64(0.81)`, `OrderedDict([...])`: the last argument is the value.
      const args = this.#sequence(')', depth);
      const last = Array.isArray(args) ? args.at(-1) : undefined;
      return last ?? null;
    }
    const known = WORDS[word];
    if (typeof known === 'number') return sign === '-' ? -known : known;
    if (known === undefined) throw new NotALiteral();
    return known;
  }

  #string(quote: string): string {
    this.position += 1;
    let text = '';
    while (this.position < this.#end) {
      const next = this.#text[this.position] ?? '';
      this.position += 1;
      if (next === quote) return text;
      if (next === '\\') {
        const escaped = this.#text[this.position] ?? '';
        this.position += 1;
        const unicode = escaped === 'u' ? this.#text.slice(this.position, this.position + 4) : '';
        if (/^[0-9a-fA-F]{4}$/.test(unicode)) {
          text += String.fromCharCode(Number.parseInt(unicode, 16));
          this.position += 4;
        } else text += escaped === 'n' || escaped === 't' ? ' ' : escaped;
      } else if (next === '\n') throw new NotALiteral();
      else text += next;
    }
    throw new NotALiteral();
  }

  #sequence(close: string, depth: number): LiteralValue {
    this.position += 1;
    const items: LiteralValue[] = [];
    for (;;) {
      if (this.#peek() === close) break;
      if (/[A-Za-z_<]/.test(this.#peek())) this.#skipKeyword();
      items.push(this.value(depth + 1));
      const next = this.#peek();
      if (next === ',') this.position += 1;
      else if (next !== close) throw new NotALiteral();
    }
    this.position += 1;
    return items;
  }

  /** `dtype=float64` in a call, `<class 'float'>` in a defaultdict. */
  #skipKeyword(): void {
    const rest = this.#text.slice(this.position, Math.min(this.#end, this.position + 80));
    const skipped = /^[A-Za-z_]\w*=(?=[^=])/.exec(rest) ?? /^<class '[\w.]+'>\s*,\s*/.exec(rest);
    if (skipped !== null) this.position += skipped[0].length;
    else if (/^(?:float|int|list|dict)\s*,/.test(rest)) this.position += rest.indexOf(',') + 1;
  }

  #mapping(depth: number): LiteralValue {
    this.position += 1;
    const entries = new Map<string, LiteralValue>();
    for (;;) {
      if (this.#peek() === '}') break;
      const key = this.value(depth + 1);
      if (this.#peek() !== ':') throw new NotALiteral();
      this.position += 1;
      entries.set(keyText(key), this.value(depth + 1));
      const next = this.#peek();
      if (next === ',') this.position += 1;
      else if (next !== '}') throw new NotALiteral();
    }
    this.position += 1;
    return entries;
  }
}

function keyText(key: LiteralValue): string {
  if (Array.isArray(key)) return key.map(keyText).join(' ');
  if (key instanceof Map) throw new NotALiteral();
  return String(key);
}

/**
 * Reads the JSON or Python literal that starts at `start` (a `{` or `[`).
 *
 * @returns the value and the offset after it; value undefined where no whole literal of at most `longest`
 *   characters starts there, with the offset that was read up to.
 */
export function readLiteral(
  text: string,
  start: number,
  longest: number,
): { value: LiteralValue | undefined; end: number } {
  const reader = new LiteralReader(text, start, Math.min(text.length, start + longest));
  try {
    const value = reader.value(0);
    return { value, end: reader.position };
  } catch (thrown) {
    if (thrown instanceof NotALiteral) return { value: undefined, end: reader.position };
    throw thrown;
  }
}
