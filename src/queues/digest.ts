import { createHash } from 'node:crypto';

/** SHA-256 (hexadecimal) of a script as UTF-8; ties an answer to its script. */
export function digestOf(content: string): string {
  return createHash('sha256').update(content, 'utf8').digest('hex');
}
