import { toUSVString } from 'node:util';

/** Half a surrogate pair is no text that can be sent: the API refuses the whole request for it. */
export function wellFormed(text: string): string {
  return toUSVString(text);
}
