import { PayloadError } from '../errors.js';
import { fingerprintsOf } from './index/fingerprints.js';
import { InvertedIndex } from './index/inverted-index.js';
import type { KnownSolutionIndex } from './index/known-index.js';
import { PreparedText } from './prepared-text.js';
import { contentHash } from './text/folded-text.js';
import type { KnownReference, KnownSolution, KnownSolutionInput } from './types.js';

/** Where known solutions live. The memory of one process here; a fleet keeps them where all workers see them. */
export interface KnownSolutionStore {
  /** Solutions of one test case. */
  ofTestCase(testCaseId: string): Promise<readonly KnownSolution[]>;
  /** The solutions that are still there, in the order asked for. */
  byReference(references: readonly KnownReference[]): Promise<readonly KnownSolution[]>;
}

/** Checks a known solution as handed in and works out what it leaves out. @throws PayloadError */
export function completeKnownSolution(input: KnownSolutionInput): KnownSolution {
  if (typeof input.testCaseId !== 'string' || input.testCaseId === '') {
    throw new PayloadError('invalid-payload', 'expected testCaseId to be a non-empty string', {
      field: 'testCaseId',
    });
  }
  if (typeof input.solution !== 'string' || input.solution.trim() === '') {
    throw new PayloadError('invalid-payload', `the known solution of ${input.testCaseId} is empty`, {
      field: 'solution',
    });
  }
  return {
    testCaseId: input.testCaseId,
    solution: input.solution,
    // Whatever hash was handed in: only one of the text itself can be looked up.
    hash: contentHash(input.solution),
    addedToTraining: input.addedToTraining ?? new Date().toISOString(),
  };
}

/** Known solutions in memory, with their index. */
export class MemoryKnownSet implements KnownSolutionStore {
  readonly #byTestCase = new Map<string, Map<string, KnownSolution>>();
  readonly #hashes = new Map<string, number>();
  readonly index: KnownSolutionIndex = new InvertedIndex();
  #count = 0;

  /** Number of known solutions; the same text for two test cases is two. */
  get size(): number {
    return this.#count;
  }

  add(known: KnownSolution): void {
    let solutions = this.#byTestCase.get(known.testCaseId);
    if (solutions === undefined) {
      solutions = new Map();
      this.#byTestCase.set(known.testCaseId, solutions);
    }
    if (solutions.has(known.hash)) return;
    solutions.set(known.hash, known);
    this.#hashes.set(known.hash, (this.#hashes.get(known.hash) ?? 0) + 1);
    this.#count += 1;
    this.index.add(known, fingerprintsOf(new PreparedText(known.solution)));
  }

  remove({ testCaseId, hash }: KnownReference): boolean {
    const solutions = this.#byTestCase.get(testCaseId);
    if (solutions?.delete(hash) !== true) return false;
    if (solutions.size === 0) this.#byTestCase.delete(testCaseId);
    const left = (this.#hashes.get(hash) ?? 1) - 1;
    if (left === 0) this.#hashes.delete(hash);
    else this.#hashes.set(hash, left);
    this.#count -= 1;
    this.index.remove({ testCaseId, hash });
    return true;
  }

  clear(): void {
    this.#byTestCase.clear();
    this.#hashes.clear();
    this.index.clear();
    this.#count = 0;
  }

  has(hash: string): boolean {
    return this.#hashes.has(hash);
  }

  ofTestCase(testCaseId: string): Promise<readonly KnownSolution[]> {
    return Promise.resolve([...(this.#byTestCase.get(testCaseId)?.values() ?? [])]);
  }

  byReference(references: readonly KnownReference[]): Promise<readonly KnownSolution[]> {
    const found = references.map(({ testCaseId, hash }) => this.#byTestCase.get(testCaseId)?.get(hash));
    return Promise.resolve(found.filter((known) => known !== undefined));
  }
}
