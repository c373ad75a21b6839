import { toUSVString } from 'node:util';

/** Half a surrogate pair is no text that can be sent or written: the API refuses the whole request for it, and UTF-8 has none. */
export function wellFormed(text: string): string {
  return toUSVString(text);
}

/** Whether a text has control characters, but for white space. */
export function hasControls(text: string): boolean {
  return /[^\P{Cc}\t\n\r]/u.test(text);
}

/** A text for people, in which each control character is visible and does nothing. */
export function withoutControls(text: string): string {
  return text.replace(/[^\P{Cc}\t\n\r]/gu, '\ufffd');
}
