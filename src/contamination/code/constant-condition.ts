import { type Token, TokenKind } from './token.js';

export type Value = number | string | boolean | null;

const WORDS = new Map<string, Value>([
  ['True', true],
  ['true', true],
  ['False', false],
  ['false', false],
  ['None', null],
  ['null', null],
]);
const LONGEST = 40;

/**
 * What a condition made of nothing but literals and settled names comes to; undefined where it depends on
 * anything else. Knows `not`, `!`, `&&`, `||`, comparisons and the four kinds of arithmetic.
 */
export function constantValue(
  tokens: readonly Token[],
  settled: ReadonlyMap<string, Value>,
): Value | undefined {
  if (tokens.length === 0 || tokens.length > LONGEST) return undefined;
  const reader = new Reader(tokens, settled);
  const value = reader.disjunction();
  return reader.atEnd ? value : undefined;
}

const truthy = (value: Value): boolean => value !== null && value !== false && value !== 0 && value !== '';

class Reader {
  readonly #tokens: readonly Token[];
  readonly #settled: ReadonlyMap<string, Value>;
  #at = 0;

  constructor(tokens: readonly Token[], settled: ReadonlyMap<string, Value>) {
    this.#tokens = tokens;
    this.#settled = settled;
  }

  get atEnd(): boolean {
    return this.#at === this.#tokens.length;
  }

  disjunction(): Value | undefined {
    return this.#chain(
      ['||'],
      () => this.#conjunction(),
      (_, a, b) => (truthy(a) ? a : b),
    );
  }

  #conjunction(): Value | undefined {
    return this.#chain(
      ['&&'],
      () => this.#negation(),
      (_, a, b) => (truthy(a) ? b : a),
    );
  }

  #negation(): Value | undefined {
    if (!this.#take('not') && !this.#take('!')) return this.#comparison();
    const value = this.#negation();
    return value === undefined ? undefined : !truthy(value);
  }

  #comparison(): Value | undefined {
    return this.#chain(['<', '<=', '>', '>=', '==', '!='], () => this.#sum(), compare);
  }

  #sum(): Value | undefined {
    return this.#chain(['+', '-'], () => this.#product(), compute);
  }

  #product(): Value | undefined {
    return this.#chain(['*', '%'], () => this.#operand(), compute);
  }

  #operand(): Value | undefined {
    const token = this.#tokens[this.#at];
    if (token === undefined) return undefined;
    this.#at += 1;
    if (token.text === '(') {
      const value = this.disjunction();
      return this.#take(')') ? value : undefined;
    }
    if (token.text === '-') {
      const value = this.#operand();
      return typeof value === 'number' ? -value : undefined;
    }
    if (token.kind === TokenKind.number) {
      const value = Number(token.text.replace(/_/g, ''));
      return Number.isNaN(value) ? undefined : value;
    }
    if (token.kind === TokenKind.string) return token.text.slice(1, -1);
    return WORDS.get(token.text) ?? (WORDS.has(token.text) ? null : this.#settled.get(token.text));
  }

  #take(text: string): boolean {
    if (this.#tokens[this.#at]?.text !== text) return false;
    this.#at += 1;
    return true;
  }

  #chain(
    signs: readonly string[],
    part: () => Value | undefined,
    join: (sign: string, left: Value, right: Value) => Value | undefined,
  ): Value | undefined {
    let value = part();
    for (;;) {
      const sign = this.#tokens[this.#at]?.text ?? '';
      if (value === undefined || !signs.includes(sign)) return value;
      this.#at += 1;
      const right = part();
      value = right === undefined ? undefined : join(sign, value, right);
    }
  }
}

function compare(sign: string, left: Value, right: Value): Value | undefined {
  if (sign === '==') return left === right;
  if (sign === '!=') return left !== right;
  if (typeof left !== 'number' || typeof right !== 'number') return undefined;
  if (sign === '<') return left < right;
  if (sign === '<=') return left <= right;
  return sign === '>' ? left > right : left >= right;
}

function compute(sign: string, left: Value, right: Value): Value | undefined {
  if (typeof left !== 'number' || typeof right !== 'number') return undefined;
  if (sign === '+') return left + right;
  if (sign === '-') return left - right;
  if (sign === '*') return left * right;
  return right === 0 ? undefined : left % right;
}
