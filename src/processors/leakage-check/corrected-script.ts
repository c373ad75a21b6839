import { type LocatedBlock, locateBlock, replaceSpan } from '../../solution/locate-block.js';
import { occurrencesOf } from '../../solution/search.js';

interface Region {
  start: number;
  end: number;
}

/** Why a block is no longer in the corrected script. */
export type Gone = 'superseded' | 'cut-into' | 'never-there';

const IDENTIFIER = /[\p{ID_Continue}$]/u;

/**
 * A script that is corrected block by block. A later finding is superseded if its block was inside an earlier one and its
 * lines are gone (decision 6). A block that is still in the script, inside a correction or not, still leaks.
 */
export class CorrectedScript {
  readonly #original: string;
  #content: string;
  /** Corrected parts of the current script. */
  readonly #corrected: Region[] = [];
  /** The same parts in the original script. */
  readonly #replaced: Region[] = [];

  constructor(content: string) {
    this.#original = content;
    this.#content = content;
  }

  /** The original script. */
  get original(): string {
    return this.#original;
  }

  get content(): string {
    return this.#content;
  }

  /** Locates a block: outside all corrections if possible, otherwise inside one, or null. */
  locate(block: string): LocatedBlock | null {
    return this.#locateOutside(block) ?? locateWhole(block, this.#content);
  }

  /** Why a block cannot be located. */
  whyGone(block: string): Gone {
    const before = locateWhole(block, this.#original);
    if (before === null) return 'never-there';
    const superseded = this.#replaced.some(({ start, end }) => start <= before.start && before.end <= end);
    return superseded ? 'superseded' : 'cut-into';
  }

  /** The script with `text` instead of the span. */
  with({ start, end }: Region, text: string): string {
    return replaceSpan(this.#content, { start, end }, text);
  }

  /** Replaces the span by a correction. */
  correct({ start, end, text: old }: Region & { text: string }, text: string): void {
    const before = locateWhole(old, this.#original);
    if (before !== null) this.#replaced.push(before);
    this.#content = this.with({ start, end }, text);
    const growth = text.length - (end - start);
    let merged: Region = { start, end: start + text.length };
    const separate: Region[] = [];
    for (const region of this.#corrected) {
      if (region.end <= start) separate.push(region);
      else if (region.start >= end) separate.push({ start: region.start + growth, end: region.end + growth });
      // The new correction overlaps an older one: they are merged.
      else
        merged = {
          start: Math.min(merged.start, region.start),
          end: Math.max(merged.end, region.end + growth),
        };
    }
    this.#corrected.splice(0, this.#corrected.length, ...separate, merged);
    this.#corrected.sort((a, b) => a.start - b.start);
  }

  #locateOutside(block: string): LocatedBlock | null {
    let from = 0;
    for (const region of [...this.#corrected, { start: this.#content.length, end: this.#content.length }]) {
      const within = locateWhole(block, this.#content.slice(from, region.start));
      if (within !== null) return { ...within, start: from + within.start, end: from + within.end };
      from = region.end;
    }
    return null;
  }
}

/**
 * The locator's answer, but never a part of a longer name: `X = fit(x)` is not in `XX = fit(x)`, and replacing it there
 * would damage a line that no finding reports.
 */
function locateWhole(block: string, content: string): LocatedBlock | null {
  const located = locateBlock(block, content);
  if (located === null || located.matched === 'whitespace') return located;
  for (const at of occurrencesOf(located.text, content)) {
    const end = at + located.text.length;
    if (!joins(content, at) && !joins(content, end)) return { ...located, start: at, end };
  }
  return null;
}

/** Whether an offset is inside a name or a number. */
function joins(content: string, offset: number): boolean {
  return IDENTIFIER.test(content.charAt(offset - 1)) && IDENTIFIER.test(content.charAt(offset));
}
