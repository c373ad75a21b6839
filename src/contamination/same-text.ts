import type { PreparedText } from './prepared-text.js';
import { contentHash } from './text/folded-text.js';

/**
 * The hashes under which a text is looked up: as it is, as a reader sees it, and the code of a Markdown answer alone. Known
 * solutions are stored under the first of their own.
 */
export function sameTextHashes(text: PreparedText): ReadonlySet<string> {
  const hashes = new Set([contentHash(text.original), contentHash(text.visible.text)]);
  const code = text.view.text;
  if (code.trim() !== '') hashes.add(contentHash(code));
  return hashes;
}

/** Whether an output is a known text, except for letter case, white space, invisible characters and a Markdown fence. */
export function isSameText(output: PreparedText, known: PreparedText): boolean {
  const hash = contentHash(known.visible.text);
  return contentHash(output.visible.text) === hash || contentHash(output.view.text) === hash;
}

/** Code tokens, or words of prose. */
export function sameTextSize(text: PreparedText): number {
  return text.kind === 'prose' ? text.words.hash.length : text.program(text.kind).size;
}
