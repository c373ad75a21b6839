/** A queue of entries by tenant: it serves tenants in rotation, and the entries of each tenant in their order. */
export class TenantQueue<Entry> {
  /** Waiting entries by tenant; the next tenant is first. */
  readonly #waiting = new Map<string, Set<Entry>>();
  /** The tenant that was served last: if it adds an entry at once, that goes after those of other tenants. */
  #last: string | undefined;

  add(tenant: string, entry: Entry): void {
    const entries = this.#waiting.get(tenant) ?? new Set();
    this.#waiting.set(tenant, entries.add(entry));
  }

  /** Removes an entry; false if it does not wait. */
  remove(tenant: string, entry: Entry): boolean {
    const entries = this.#waiting.get(tenant);
    if (entries?.delete(entry) !== true) return false;
    if (entries.size === 0) this.#waiting.delete(tenant);
    return true;
  }

  /** Removes and returns the next entry; its tenant goes after all others. */
  next(): Entry | undefined {
    const tenant = this.#nextTenant();
    const [entry] = (tenant === undefined ? undefined : this.#waiting.get(tenant)) ?? [];
    if (tenant === undefined || entry === undefined) return undefined;
    this.remove(tenant, entry);
    this.#last = tenant;
    const entries = this.#waiting.get(tenant);
    if (entries !== undefined) {
      this.#waiting.delete(tenant);
      this.#waiting.set(tenant, entries);
    }
    return entry;
  }

  #nextTenant(): string | undefined {
    for (const tenant of this.#waiting.keys()) {
      if (tenant !== this.#last || this.#waiting.size === 1) return tenant;
    }
    return undefined;
  }
}
