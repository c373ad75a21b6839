import { PreparedText } from './prepared-text.js';
import type { KnownSolution } from './types.js';

/** Characters of text whose readings are kept. */
const ROOM = 4_000_000;

/** Readings of known solutions that were used lately, so that one that is asked for again is not read again. */
export class PreparedTexts {
  private readonly cached = new Map<string, PreparedText>();
  private used = 0;

  of(known: KnownSolution): PreparedText {
    const cached = this.cached.get(known.hash);
    if (cached !== undefined && cached.original === known.solution) {
      this.cached.delete(known.hash);
      this.cached.set(known.hash, cached);
      return cached;
    }
    const text = new PreparedText(known.solution);
    if (cached !== undefined) this.used -= cached.original.length;
    this.cached.set(known.hash, text);
    this.used += text.original.length;
    for (const [hash, oldest] of this.cached) {
      if (this.used <= ROOM || oldest === text) break;
      this.cached.delete(hash);
      this.used -= oldest.original.length;
    }
    return text;
  }
}
