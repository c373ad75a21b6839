import type { Span } from '../types.js';
import { escapeSource } from './escape.js';

/** Colors that the style sheet knows. */
const COLORS = 8;
/** Characters of a text that are shown. */
const MAX_CHARACTERS = 200_000;

/** A stretch to be colored, and by which pair: both sides of a pair have the same color. */
export interface Mark {
  readonly span: Span;
  readonly pair: number;
}

/** Source text with the marked stretches colored; where marks overlap, the earlier one keeps its place. */
export function markedSource(text: string, marks: readonly Mark[]): string {
  const shown = text.slice(0, MAX_CHARACTERS);
  const inOrder = [...marks].sort((a, b) => a.span[0] - b.span[0] || b.span[1] - a.span[1]);
  const parts: string[] = [];
  let at = 0;
  for (const { span, pair } of inOrder) {
    const start = Math.max(at, span[0]);
    const end = Math.min(shown.length, span[1]);
    if (end <= start) continue;
    parts.push(escapeSource(shown.slice(at, start)));
    parts.push(`<mark class="c${pair % COLORS}">${escapeSource(shown.slice(start, end))}</mark>`);
    at = end;
  }
  parts.push(escapeSource(shown.slice(at)));
  if (text.length > shown.length) {
    parts.push(`<span class="unseen">… ${text.length - shown.length} more characters are not shown</span>`);
  }
  return parts.join('');
}
