import type { ContaminationCase, ContaminationJudge } from '../contamination/contamination-judge.js';
import { ContaminationDetector, InvertedIndex, type KnownSolutionStore } from '../contamination/index.js';
import type { ContaminationResult } from '../contamination/types.js';
import { KnownIndexFollower } from './known-index-follower.js';
import type { KnownStore } from './known-store.js';

/** Judges outputs against the fleet's known set; its index is brought up to date before every verdict. */
export class FleetContaminationJudge implements ContaminationJudge {
  readonly #texts: KnownSolutionStore;
  readonly #follower: KnownIndexFollower;

  constructor(store: KnownStore) {
    this.#texts = {
      ofTestCase: (testCaseId) => store.ofCase(testCaseId),
      byReference: (references) => store.entries(references),
    };
    this.#follower = new KnownIndexFollower(store, new InvertedIndex());
  }

  /** Brings the index up to date, which takes long at the first time. */
  async prepare(): Promise<void> {
    await this.#follower.current();
  }

  async judge({ output, testCase, config }: ContaminationCase): Promise<ContaminationResult> {
    const source = { store: this.#texts, index: await this.#follower.current() };
    return new ContaminationDetector(config ?? {}, source).checkContamination(output, testCase);
  }
}
