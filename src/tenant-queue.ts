/** What waits, by tenant: tenants take turns, and each one's own entries come in their order. */
export class TenantQueue<Entry> {
  /** The tenant whose turn is next is first. */
  readonly #waiting = new Map<string, Set<Entry>>();
  /** Who had the last turn: whoever comes back at once goes after those who came meanwhile. */
  #last: string | undefined;

  add(tenant: string, entry: Entry): void {
    const own = this.#waiting.get(tenant) ?? new Set();
    this.#waiting.set(tenant, own.add(entry));
  }

  /** Takes an entry out before its turn has come; false where it does not wait. */
  remove(tenant: string, entry: Entry): boolean {
    const own = this.#waiting.get(tenant);
    if (own?.delete(entry) !== true) return false;
    if (own.size === 0) this.#waiting.delete(tenant);
    return true;
  }

  /** The next entry, of the tenant whose turn it is; its tenant goes after all others. */
  next(): Entry | undefined {
    const tenant = this.#nextTenant();
    const [entry] = (tenant === undefined ? undefined : this.#waiting.get(tenant)) ?? [];
    if (tenant === undefined || entry === undefined) return undefined;
    this.remove(tenant, entry);
    this.#last = tenant;
    const own = this.#waiting.get(tenant);
    if (own !== undefined) {
      this.#waiting.delete(tenant);
      this.#waiting.set(tenant, own);
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
