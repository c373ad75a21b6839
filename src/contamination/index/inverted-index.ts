import type { KnownReference } from '../types.js';
import type { Candidate, KnownSolutionIndex } from './known-index.js';
import { Postings } from './postings.js';

/** A fingerprint that more known solutions have than this (and than one in fifty) finds nothing. */
const COMMON_COUNT = 2_000;
const COMMON_FRACTION = 0.02;
const MIN_SHARED = 2;
/** Fraction of a known solution's fingerprints below which no check could find it to be copied. */
const MIN_COVERAGE = 0.2;

/** `KnownSolutionIndex` in memory: an inverted index over fingerprints in typed arrays. */
export class InvertedIndex implements KnownSolutionIndex {
  readonly #numbers = new Map<string, number>();
  /** The numbers under each hash; nearly always one. */
  readonly #byHash = new Map<string, number | Set<number>>();
  #references: (KnownReference | undefined)[] = [];
  /** Fingerprints of each known solution. */
  #counts: number[] = [];
  #postings = new Postings();
  #scores = new Float32Array(0);
  #shared = new Uint16Array(0);

  get size(): number {
    return this.#numbers.size;
  }

  add(reference: KnownReference, fingerprints: Int32Array): void {
    const key = keyOf(reference);
    if (this.#numbers.has(key)) return;
    const number = this.#references.length;
    this.#numbers.set(key, number);
    this.#addHash(reference.hash, number);
    this.#references.push({ testCaseId: reference.testCaseId, hash: reference.hash });
    this.#counts.push(fingerprints.length);
    for (const fingerprint of fingerprints) this.#postings.add(fingerprint, number);
  }

  remove(reference: KnownReference): boolean {
    const key = keyOf(reference);
    const number = this.#numbers.get(key);
    if (number === undefined) return false;
    this.#numbers.delete(key);
    this.#removeHash(reference.hash, number);
    this.#references[number] = undefined;
    this.#postings.remove(number);
    // Numbers of removed solutions stay in the lists until half of them are of that kind.
    if (this.#references.length > 1_000 && this.#numbers.size * 2 < this.#references.length) this.#compact();
    return true;
  }

  clear(): void {
    this.#numbers.clear();
    this.#byHash.clear();
    this.#references = [];
    this.#counts = [];
    this.#postings = new Postings();
  }

  search(fingerprints: Int32Array, atMost: number, exceptTestCase?: string): Candidate[] {
    this.#makeRoom();
    const touched: number[] = [];
    const limit = Math.max(COMMON_COUNT, this.size * COMMON_FRACTION);
    for (const fingerprint of fingerprints) {
      const count = this.#postings.count(fingerprint);
      if (count === 0 || count > limit) continue;
      const weight = Math.log((this.size + 1) / count);
      this.#postings.each(fingerprint, (number) => {
        if (this.#shared[number] === 0) touched.push(number);
        this.#shared[number] = (this.#shared[number] as number) + 1;
        this.#scores[number] = (this.#scores[number] as number) + weight;
      });
    }
    const candidates: Candidate[] = [];
    for (const number of touched) {
      const reference = this.#references[number];
      const score = this.#scores[number] as number;
      const shared = this.#shared[number] as number;
      this.#scores[number] = 0;
      this.#shared[number] = 0;
      if (reference === undefined || reference.testCaseId === exceptTestCase) continue;
      if (shared < MIN_SHARED || shared < MIN_COVERAGE * (this.#counts[number] as number)) continue;
      candidates.push({ reference, score, shared });
    }
    candidates.sort((a, b) => b.score - a.score || b.shared - a.shared);
    return candidates.slice(0, atMost);
  }

  withHash(hash: string, exceptTestCase?: string): KnownReference | undefined {
    const numbers = this.#byHash.get(hash);
    if (numbers === undefined) return undefined;
    // Only one of them can be of the test case that is left out.
    for (const number of typeof numbers === 'number' ? [numbers] : numbers) {
      const reference = this.#references[number];
      if (reference !== undefined && reference.testCaseId !== exceptTestCase) return reference;
    }
    return undefined;
  }

  #addHash(hash: string, number: number): void {
    const others = this.#byHash.get(hash);
    if (others === undefined) this.#byHash.set(hash, number);
    else if (typeof others === 'number') this.#byHash.set(hash, new Set([others, number]));
    else others.add(number);
  }

  #removeHash(hash: string, number: number): void {
    const others = this.#byHash.get(hash);
    if (others === number) this.#byHash.delete(hash);
    else if (typeof others === 'object') {
      others.delete(number);
      if (others.size === 0) this.#byHash.delete(hash);
    }
  }

  commonness(fingerprint: number): number {
    return this.size === 0 ? 0 : Math.min(1, this.#postings.count(fingerprint) / this.size);
  }

  #makeRoom(): void {
    if (this.#scores.length >= this.#references.length) return;
    const room = Math.ceil(this.#references.length * 1.5) + 64;
    this.#scores = new Float32Array(room);
    this.#shared = new Uint16Array(room);
  }

  #compact(): void {
    const moved = new Int32Array(this.#references.length).fill(-1);
    const remaining: KnownReference[] = [];
    const counts: number[] = [];
    this.#byHash.clear();
    this.#references.forEach((reference, number) => {
      if (reference === undefined) return;
      moved[number] = remaining.length;
      this.#numbers.set(keyOf(reference), remaining.length);
      this.#addHash(reference.hash, remaining.length);
      remaining.push(reference);
      counts.push(this.#counts[number] as number);
    });
    this.#references = remaining;
    this.#counts = counts;
    this.#postings = this.#postings.renumbered(moved);
  }
}

function keyOf(reference: KnownReference): string {
  return `${reference.hash}\0${reference.testCaseId}`;
}
