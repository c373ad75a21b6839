/** What waits, by tenant: tenants take turns, and each one's own entries come in their order. */
export class TurnQueue<Entry> {
  /** The tenant whose turn is next stands first. */
  readonly #waiting = new Map<string, Set<Entry>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(tenant: string, entry: Entry): void {
    const own = this.#waiting.get(tenant) ?? new Set();
    if (own.size === 0) this.#waiting.set(tenant, own);
    own.add(entry);
    this.#size += 1;
  }

  /** Takes an entry out before its turn has come; false where it does not wait. */
  remove(tenant: string, entry: Entry): boolean {
    const own = this.#waiting.get(tenant);
    if (own?.delete(entry) !== true) return false;
    this.#size -= 1;
    if (own.size === 0) this.#waiting.delete(tenant);
    return true;
  }

  /** The next entry, of the tenant whose turn it is; its tenant goes behind all others. */
  next(): Entry | undefined {
    for (const [tenant, own] of this.#waiting) {
      for (const entry of own) {
        this.remove(tenant, entry);
        if (own.size > 0) {
          this.#waiting.delete(tenant);
          this.#waiting.set(tenant, own);
        }
        return entry;
      }
    }
    return undefined;
  }
}
