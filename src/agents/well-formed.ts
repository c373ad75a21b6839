import { toUSVString } from 'node:util';

/** Replaces half surrogate pairs: UTF-8 cannot represent them, and the API rejects a whole request because of one. */
export function wellFormed(text: string): string {
  return toUSVString(text);
}

/** Whether a text has control characters, except for white space. */
export function hasControls(text: string): boolean {
  return /[^\P{Cc}\t\n\r]/u.test(text);
}

/** A text for people, in which each control character is visible and does nothing. */
export function withoutControls(text: string): string {
  return text.replace(/[^\P{Cc}\t\n\r]/gu, '\ufffd');
}
