import type { KnownSolutionIndex } from '../contamination/index/known-index.js';
import { referenceOf } from './known-keys.js';
import type { KnownStore } from './known-store.js';

/**
 * Keeps an index in this process in step with the fleet's set: built once from the stored fingerprints, then moved
 * along the set's history. Every job catches up first, so a solution that was added before a job started is seen by it.
 */
export class KnownIndexFollower {
  readonly #store: KnownStore;
  readonly #index: KnownSolutionIndex;
  #position: string | undefined;
  /** The catch-up that was begun last. */
  #present: Promise<void> | undefined;
  /** The one that begins when it has ended. */
  #next: Promise<void> | undefined;

  constructor(store: KnownStore, index: KnownSolutionIndex) {
    this.#store = store;
    this.#index = index;
  }

  /** Whether the index was ever asked for. */
  get started(): boolean {
    return this.#present !== undefined;
  }

  /** The index, with every change applied that was made before the call. */
  async current(): Promise<KnownSolutionIndex> {
    // A catch-up under way may have read the history before this caller's change; so wait for one that starts now, with
    // all who ask before it starts.
    this.#next ??= this.#catchUpNext();
    await this.#next;
    return this.#index;
  }

  async #catchUpNext(): Promise<void> {
    await this.#present?.catch(() => undefined);
    this.#present = this.#next;
    this.#next = undefined;
    await this.#catchUp();
  }

  async #catchUp(): Promise<void> {
    if (this.#position === undefined) await this.#build();
    for (;;) {
      const changes = await this.#store.changesAfter(this.#position ?? '0-0');
      if (changes.length === 0) return;
      const added = changes.filter((change) => change.added).map(({ field }) => field);
      const fingerprints = new Map<string, Int32Array | null>();
      const read = await this.#store.fingerprintsOf(added);
      for (const [at, field] of added.entries()) fingerprints.set(field, read[at] ?? null);
      for (const change of changes) {
        const prints = fingerprints.get(change.field);
        if (!change.added) this.#index.remove(referenceOf(change.field));
        // Fingerprints that are gone belong to an entry that a later change removes.
        else if (prints) this.#index.add(referenceOf(change.field), prints);
        this.#position = change.id;
      }
    }
  }

  /** The position is read first: what changes while the fingerprints are read is applied again, which does no harm. */
  async #build(): Promise<void> {
    const position = await this.#store.latestChange();
    for await (const page of this.#store.allFingerprints()) {
      for (const { field, fingerprints } of page) this.#index.add(referenceOf(field), fingerprints);
    }
    this.#position = position;
  }
}
