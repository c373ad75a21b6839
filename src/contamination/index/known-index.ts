import type { KnownReference } from '../types.js';

/** A known solution that shares rare fingerprints with an output; still to be compared with it. */
export interface Candidate {
  readonly reference: KnownReference;
  /** Shared fingerprints, the rare ones counted more (sum of inverse document frequencies). */
  readonly score: number;
  readonly shared: number;
}

/**
 * Finds, among very many known solutions, the few that an output could be a copy of. Holds no texts: they
 * live where the known set lives, and only candidates' texts are fetched.
 */
export interface KnownSolutionIndex {
  /** Number of known solutions in the index. */
  readonly size: number;
  /** Adds a known solution; one that is there already is left as it is. */
  add(reference: KnownReference, fingerprints: Int32Array): void;
  /** Takes a known solution out; false if it was not there. */
  remove(reference: KnownReference): boolean;
  clear(): void;
  /** The best candidates, best first. `exceptTestCase` leaves out one task's own solutions. */
  search(fingerprints: Int32Array, atMost: number, exceptTestCase?: string): Candidate[];
  /** A known solution whose hash is this one. `exceptTestCase` leaves out one task's own solutions. */
  withHash(hash: string, exceptTestCase?: string): KnownReference | undefined;
  /** In how many of the known solutions a fingerprint is, as a fraction, 0 to 1. */
  commonness(fingerprint: number): number;
}
