import type { ContaminationCase, ContaminationChecker } from '../contamination/contamination-checker.js';
import { ContaminationDetector, InvertedIndex, type KnownSolutionStore } from '../contamination/index.js';
import type { ContaminationResult } from '../contamination/types.js';
import { KnownIndexFollower } from './known-index-follower.js';
import type { KnownStore } from './known-store.js';

/** Checks outputs against the fleet's known set; its index is brought up to date before every check. */
export class FleetContaminationChecker implements ContaminationChecker {
  readonly #texts: KnownSolutionStore;
  readonly #follower: KnownIndexFollower;
  readonly #detector = new ContaminationDetector();

  constructor(store: KnownStore) {
    this.#texts = {
      ofTestCase: (testCaseId) => store.ofCase(testCaseId),
      byReference: (references) => store.entries(references),
    };
    this.#follower = new KnownIndexFollower(store, new InvertedIndex());
  }

  /** Brings the index up to date; the first time takes long. */
  async prepare(): Promise<void> {
    await this.#follower.current();
  }

  async check({ output, testCase, config }: ContaminationCase): Promise<ContaminationResult> {
    const source = { store: this.#texts, index: await this.#follower.current() };
    return this.#detector.checkContamination(output, testCase, { config, source });
  }
}
