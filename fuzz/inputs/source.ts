import fc from 'fast-check';
import { randomFrom } from '../../chaos/random.js';
import { AMPLIFIERS, type Draw, MUTATIONS, splice } from './mutate.js';
import { ODDITIES } from './oddities.js';

/** The material for texts of one sort. */
export interface TextKind {
  /** Real texts, read when they are first needed. */
  readonly corpus: () => readonly string[];
  /** Texts from a grammar; absent if the corpus is enough. */
  readonly grammar?: fc.Arbitrary<string>;
  /** Words that its parsers know. */
  readonly words: readonly string[];
}

/** Sizes to which texts are cut, in code units, with their weights. */
const SIZES: readonly (readonly [number, number])[] = [
  [0.9, 8_192],
  [0.99, 65_536],
  [0.999, 262_144],
  [1, 1_048_576],
];

/** Generates all parts of inputs; the same seed gives the same input. */
export class InputSource implements Draw {
  readonly #random: () => number;
  readonly #maxSize: number;

  /** @param maxSize Longest generated text, in code units. */
  constructor(seed: number, maxSize = Number.POSITIVE_INFINITY) {
    this.#random = randomFrom(seed);
    this.#maxSize = maxSize;
  }

  below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[this.below(choices.length)];
    if (choice === undefined) throw new RangeError('there is nothing to choose from');
    return choice;
  }

  chance(probability: number): boolean {
    return this.#random() < probability;
  }

  /** A value of a fast-check arbitrary. */
  value<T>(arbitrary: fc.Arbitrary<T>): T {
    const [value] = fc.sample(arbitrary, { seed: this.below(2 ** 31), numRuns: 1 });
    return value as T;
  }

  /** A text of a sort: a real one, two spliced, one from the grammar, or noise; mutated, and sometimes enlarged. */
  text(kind: TextKind): string {
    let text = this.#base(kind);
    for (let left = this.below(5); left > 0; left -= 1) text = this.pick(MUTATIONS)(text, this, kind.words);
    if (this.chance(0.25)) text = this.pick(AMPLIFIERS)(text, this, kind.words);
    if (this.chance(0.05)) text = this.pick(AMPLIFIERS)(text, this, kind.words);
    const random = this.#random();
    const [, size = 8_192] = SIZES.find(([upTo]) => random < upTo) ?? [];
    if (size > 65_536 && text !== '') text = text.repeat(Math.ceil(size / text.length));
    return text.slice(0, Math.min(size, this.#maxSize));
  }

  /** A short text: a name, a path, an id. */
  word(words: readonly string[]): string {
    const parts = [...Array(1 + this.below(3))].map(() =>
      this.pick([this.pick([...words, 'x']), this.pick(ODDITIES), String(this.below(1_000))]),
    );
    const word = parts.join(this.pick(['', '', ' ', '-', '/', ':', '.']));
    return this.chance(0.02) ? word.repeat(1 + this.below(2_000)) : word;
  }

  #base({ corpus, grammar, words }: TextKind): string {
    const texts = corpus();
    const random = this.#random();
    if (grammar !== undefined && random < 0.3) return this.value(grammar);
    if (texts.length === 0 || random < 0.35) return this.#noise(words);
    if (random < 0.5) return splice(this.pick(texts), this.pick(texts), this);
    return this.pick(texts);
  }

  #noise(words: readonly string[]): string {
    return [...Array(this.below(60))]
      .map(() => this.pick([this.pick(ODDITIES), this.pick([...words, 'x']), ' ', '\n']))
      .join('');
  }
}
