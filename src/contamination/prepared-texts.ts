import { PreparedText } from './prepared-text.js';
import type { KnownSolution } from './types.js';

/** Characters of text whose readings are kept. */
const ROOM = 4_000_000;

/** Readings of known solutions that were used lately, so that one that is asked for again is not read again. */
export class PreparedTexts {
  private readonly kept = new Map<string, PreparedText>();
  private used = 0;

  of(known: KnownSolution): PreparedText {
    const kept = this.kept.get(known.hash);
    if (kept !== undefined && kept.original === known.solution) {
      this.kept.delete(known.hash);
      this.kept.set(known.hash, kept);
      return kept;
    }
    const text = new PreparedText(known.solution);
    if (kept !== undefined) this.used -= kept.original.length;
    this.kept.set(known.hash, text);
    this.used += text.original.length;
    for (const [hash, oldest] of this.kept) {
      if (this.used <= ROOM || oldest === text) break;
      this.kept.delete(hash);
      this.used -= oldest.original.length;
    }
    return text;
  }
}
