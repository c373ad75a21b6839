const FREE = -1;
/** Every detector has an index, and most of them stay empty. A power of two. */
const MIN_SLOTS = 16;

/**
 * Lists of document numbers under fingerprints, in typed arrays: an open-addressing table of list heads, and
 * one chain of entries. About 8 bytes an entry and 12 a distinct fingerprint.
 */
export class Postings {
  #keys = new Int32Array(MIN_SLOTS);
  #heads = new Int32Array(MIN_SLOTS).fill(FREE);
  #counts = new Int32Array(MIN_SLOTS);
  #used = 0;
  #documents = new Int32Array(MIN_SLOTS);
  #next = new Int32Array(MIN_SLOTS);
  #length = 0;
  #removed = new Set<number>();

  add(fingerprint: number, document: number): void {
    if (this.#used * 10 > this.#keys.length * 7) this.#growTable();
    const slot = this.#slotOf(fingerprint);
    if (this.#heads[slot] === FREE && this.#counts[slot] === 0) {
      this.#keys[slot] = fingerprint;
      this.#used += 1;
    }
    if (this.#length === this.#documents.length) this.#growChain();
    this.#documents[this.#length] = document;
    this.#next[this.#length] = this.#heads[slot] as number;
    this.#heads[slot] = this.#length;
    this.#counts[slot] = (this.#counts[slot] as number) + 1;
    this.#length += 1;
  }

  /** Leaves a document out from now on. */
  remove(document: number): void {
    this.#removed.add(document);
  }

  /** Documents under a fingerprint, removed ones that are still in the lists included. */
  count(fingerprint: number): number {
    return this.#counts[this.#slotOf(fingerprint)] as number;
  }

  each(fingerprint: number, visit: (document: number) => void): void {
    for (
      let at = this.#heads[this.#slotOf(fingerprint)] as number;
      at !== FREE;
      at = this.#next[at] as number
    ) {
      const document = this.#documents[at] as number;
      if (this.#removed.size === 0 || !this.#removed.has(document)) visit(document);
    }
  }

  /** The same lists with every document under its new number; −1 drops it. */
  renumbered(moved: Int32Array): Postings {
    const fresh = new Postings();
    for (let slot = 0; slot < this.#keys.length; slot++) {
      for (let at = this.#heads[slot] as number; at !== FREE; at = this.#next[at] as number) {
        const document = moved[this.#documents[at] as number] as number;
        if (document >= 0) fresh.add(this.#keys[slot] as number, document);
      }
    }
    return fresh;
  }

  #slotOf(fingerprint: number): number {
    const mask = this.#keys.length - 1;
    let slot = (Math.imul(fingerprint, 0x9e3779b1) >>> 7) & mask;
    while (this.#heads[slot] !== FREE && this.#keys[slot] !== fingerprint) slot = (slot + 1) & mask;
    return slot;
  }

  #growTable(): void {
    const keys = this.#keys;
    const heads = this.#heads;
    const counts = this.#counts;
    this.#keys = new Int32Array(keys.length * 2);
    this.#heads = new Int32Array(keys.length * 2).fill(FREE);
    this.#counts = new Int32Array(keys.length * 2);
    for (let slot = 0; slot < keys.length; slot++) {
      if (heads[slot] === FREE) continue;
      const to = this.#slotOf(keys[slot] as number);
      this.#keys[to] = keys[slot] as number;
      this.#heads[to] = heads[slot] as number;
      this.#counts[to] = counts[slot] as number;
    }
  }

  #growChain(): void {
    const room = Math.ceil(this.#documents.length * 1.5);
    const documents = new Int32Array(room);
    const next = new Int32Array(room);
    documents.set(this.#documents);
    next.set(this.#next);
    this.#documents = documents;
    this.#next = next;
  }
}
