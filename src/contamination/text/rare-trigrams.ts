/** Fewer slots are not worth it; they fit the fastest cache. */
const MIN_SLOTS = 2 ** 10;
/** So many slots (2 MB) stay from one pair of texts to the next: fresh memory costs more than the counting. */
const REUSED_SLOTS = 2 ** 18;
/** Slots for each trigram that may come. */
const ROOM = 5 / 4;
const TAG_BITS = 3;
const GENERATION = 2 ** 18;
const LAST_GENERATION = 2 ** 31 - GENERATION;

/**
 * A hash table with open addressing for trigrams of any units. A slot is two numbers: the first two units, and an entry
 * made of the generation, the third unit and the trigram's tag. What an earlier pair of texts left is of an earlier
 * generation, and its slot is empty: so nothing has to be wiped between two pairs.
 */
export class RareTrigrams {
  readonly #reused = new Int32Array(2 * REUSED_SLOTS);
  table = this.#reused;
  /** Index of the last slot, which is also the mask for indexes. */
  lastSlot = 0;
  generation = 0;
  taken = 0;

  /** Starts over for texts of so many units. */
  startPair(units: number): void {
    if (this.generation === LAST_GENERATION) {
      this.#reused.fill(0);
      this.generation = 0;
    }
    this.generation += GENERATION;
    this.taken = 0;
    this.table = this.#reused;
    let slots = MIN_SLOTS;
    while (slots < REUSED_SLOTS && slots < ROOM * units) slots *= 2;
    this.lastSlot = 2 * (slots - 1);
  }

  /** Makes room for so many trigrams more. */
  reserve(more: number): void {
    const least = ROOM * (this.taken + more);
    let slots = this.lastSlot / 2 + 1;
    if (slots >= least) return;
    while (slots < 2 * least) slots *= 2;
    const { table, lastSlot, generation } = this;
    this.table = new Int32Array(2 * slots);
    this.lastSlot = 2 * (slots - 1);
    for (let from = 0; from <= lastSlot; from += 2) {
      const start = table[from] as number;
      const entry = table[from + 1] as number;
      if (entry < generation) continue;
      const slot = slotOf(this.table, this.lastSlot, generation, start, entry & ~TAG_BITS);
      this.table[slot] = start;
      this.table[slot + 1] = entry;
    }
  }
}

/** An entry without a tag. */
export function entryOf(generation: number, third: number): number {
  return generation | (third << 2);
}

/** The tag of an entry, 0 if it is of an earlier generation. */
export function tagOf(entry: number, generation: number): number {
  return entry & TAG_BITS & ~((entry - generation) >> 31);
}

/** Index of the slot where a trigram is, or where it is to be if it is new. */
export function slotOf(
  table: Int32Array,
  lastSlot: number,
  generation: number,
  start: number,
  untagged: number,
): number {
  const hash = Math.imul(Math.imul(start, 0x9e3779b1) ^ untagged, 0x85ebca6b);
  let slot = ((hash ^ (hash >>> 15)) << 1) & lastSlot;
  for (;;) {
    const entry = table[slot + 1] as number;
    // One branch for "empty or the same", which is mostly so; which of the two it is could not be foretold.
    const differs = ((entry ^ untagged) & ~TAG_BITS) | ((table[slot] as number) ^ start);
    const isTaken = ~((entry - generation) >> 31);
    if ((differs & isTaken) === 0) return slot;
    slot = (slot + 2) & lastSlot;
  }
}
