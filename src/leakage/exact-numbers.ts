import { randomUUID } from 'node:crypto';

const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/**
 * JSON changed by a function of its data, with every number as it was written: JavaScript would round large ones, and
 * write `1.0` as `1`. The function finds numbers as strings, and must leave them as they are.
 */
export function withExactNumbers(json: string, change: (json: string) => string): string {
  const mark = randomUUID();
  const marked = eachNumber(json, (number) => `"${mark}${number}"`);
  return change(marked).replaceAll(new RegExp(`"${mark}([^"]+)"`, 'g'), '$1');
}

function eachNumber(json: string, replacement: (number: string) => string): string {
  const parts: string[] = [];
  let from = 0;
  for (let at = 0; at < json.length; at += 1) {
    if (json[at] === '"') at = endOfString(json, at);
    NUMBER.lastIndex = at;
    const number = NUMBER.exec(json)?.[0];
    if (number === undefined) continue;
    parts.push(json.slice(from, at), replacement(number));
    from = at + number.length;
    at = from - 1;
  }
  return parts.join('') + json.slice(from);
}

function endOfString(json: string, start: number): number {
  for (let at = start + 1; at < json.length; at += 1) {
    if (json[at] === '\\') at += 1;
    else if (json[at] === '"') return at;
  }
  return json.length;
}
