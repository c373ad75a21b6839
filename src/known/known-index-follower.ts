import type { KnownSolutionIndex } from '../contamination/index/known-index.js';
import { referenceOf } from './entry-field.js';
import type { KnownStore } from './known-store.js';

/**
 * Keeps an index in this process up to date with the fleet's set: built once from the stored fingerprints, then updated from
 * the set's history. Every job updates it first, so it includes all solutions that were added before the job started.
 */
export class KnownIndexFollower {
  readonly #store: KnownStore;
  readonly #index: KnownSolutionIndex;
  #position: string | undefined;
  /** The update that started last. */
  #present: Promise<void> | undefined;
  /** The update that starts when it has ended. */
  #next: Promise<void> | undefined;

  constructor(store: KnownStore, index: KnownSolutionIndex) {
    this.#store = store;
    this.#index = index;
  }

  /** Whether the index was ever used. */
  get started(): boolean {
    return this.#present !== undefined;
  }

  /** The index with all changes that were made before the call. */
  async current(): Promise<KnownSolutionIndex> {
    // An update under way may have read the history before this caller's change. So wait for the next one, which all callers
    // until its start share.
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
        // Missing fingerprints belong to an entry that a later change removes.
        else if (prints) this.#index.add(referenceOf(change.field), prints);
        this.#position = change.id;
      }
    }
  }

  /** The position is read first: changes while the fingerprints are read are applied twice, which is harmless. */
  async #build(): Promise<void> {
    const position = await this.#store.latestChange();
    for await (const page of this.#store.allFingerprints()) {
      for (const { field, fingerprints } of page) this.#index.add(referenceOf(field), fingerprints);
    }
    this.#position = position;
  }
}
