import { type LocatedBlock, locateBlock, replaceSpan } from '../../solution/index.js';

interface Region {
  start: number;
  end: number;
}

/**
 * A script that is corrected block by block, and which of its parts are corrections. A later finding whose
 * block only stands inside one of those parts was swallowed by the earlier correction (decision 6).
 */
export class CorrectedScript {
  #content: string;
  readonly #regions: Region[] = [];

  constructor(content: string) {
    this.#content = content;
  }

  get content(): string {
    return this.#content;
  }

  /** Where the block stands outside of every correction, or null. */
  locate(block: string): LocatedBlock | null {
    const located = locateBlock(block, this.#content);
    if (located === null || !this.#isCorrected(located)) return located;
    let from = 0;
    const gaps = [...this.#regions, { start: this.#content.length, end: this.#content.length }];
    for (const region of gaps) {
      const within = locateBlock(block, this.#content.slice(from, region.start));
      if (within !== null) return { ...within, start: from + within.start, end: from + within.end };
      from = region.end;
    }
    return null;
  }

  /** The script as it would be with `text` in the place of the span. */
  with({ start, end }: Region, text: string): string {
    return replaceSpan(this.#content, { start, end }, text);
  }

  /** Puts a correction in the place of the span. */
  correct({ start, end }: Region, text: string): void {
    this.#content = this.with({ start, end }, text);
    const growth = text.length - (end - start);
    let merged: Region = { start, end: start + text.length };
    const apart: Region[] = [];
    for (const region of this.#regions) {
      if (region.end <= start) apart.push(region);
      else if (region.start >= end) apart.push({ start: region.start + growth, end: region.end + growth });
      // The new correction cuts into an older one: together they are one corrected part.
      else
        merged = {
          start: Math.min(merged.start, region.start),
          end: Math.max(merged.end, region.end + growth),
        };
    }
    this.#regions.splice(0, this.#regions.length, ...apart, merged);
    this.#regions.sort((a, b) => a.start - b.start);
  }

  #isCorrected({ start, end }: Region): boolean {
    return this.#regions.some((region) => start >= region.start && end <= region.end);
  }
}
