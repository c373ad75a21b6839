import type { ContaminationCase } from '../contamination/contamination-checker.js';
import { ContaminationDetector, InvertedIndex, type KnownSolutionStore } from '../contamination/index.js';
import type { ContaminationResult, KnownSolution } from '../contamination/types.js';
import { KnownIndexFollower } from './known-index-follower.js';
import type { KnownStore } from './known-store.js';
import { roomLeft } from './small-case.js';

/** Maximum size of the set: its index is built and searched in a few milliseconds. */
const MAX_KNOWN = 1_000;

class TooLarge extends Error {}

/** Does checks that take milliseconds: short outputs against few and short known solutions. It needs no index of a large set. */
export class SmallCaseChecker {
  readonly #store: KnownStore;
  readonly #detector = new ContaminationDetector();
  #follower: KnownIndexFollower;
  /** Whether the set was found to be too large; it is not read again. */
  #setTooLarge = false;

  constructor(store: KnownStore) {
    this.#store = store;
    this.#follower = new KnownIndexFollower(store, new InvertedIndex());
  }

  /** The result; undefined if the case is not small. It uses the set at the time of the call or later. */
  async check(input: ContaminationCase): Promise<ContaminationResult | undefined> {
    const { output, testCase, config } = input;
    let left = roomLeft(input);
    if (left < 0 || this.#setTooLarge) return undefined;
    if (!this.#follower.started && (await this.#store.size()) > MAX_KNOWN) return this.#giveUp();
    const index = await this.#follower.current();
    if (index.size > MAX_KNOWN) return this.#giveUp();
    const counted = (known: readonly KnownSolution[]) => {
      for (const { solution } of known) left -= output.length + solution.length;
      if (left < 0) throw new TooLarge();
      return known;
    };
    const store: KnownSolutionStore = {
      ofTestCase: async (id) => (index.size === 0 ? [] : counted(await this.#store.ofCase(id))),
      byReference: async (references) => counted(await this.#store.entries(references)),
    };
    try {
      return await this.#detector.checkContamination(output, testCase, { config, source: { store, index } });
    } catch (thrown) {
      if (thrown instanceof TooLarge) return undefined;
      throw thrown;
    }
  }

  #giveUp(): undefined {
    this.#setTooLarge = true;
    // The thread has its own index.
    this.#follower = new KnownIndexFollower(this.#store, new InvertedIndex());
    return undefined;
  }
}
