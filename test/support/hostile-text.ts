import { expect } from 'vitest';

/** Text as an attacker would choose it, as far as a file name or an argument can contain it. */
export const HOSTILE_NAME = [
  'a',
  '::error::pwned',
  '  \u00a0::stop-commands::x',
  'b ##vso[task.setvariable variable=x]y ##[error]z ##teamcity[x] ###[group]',
  '\u001b]0;title\u0007\u001b[2J\u001b[31mred\u009b31m\u007f\u0085::c1',
  '\u202e\u2066\u200b\ufeff\u{e0041}\u2028::ls\u2029::ps\v::vt\f::ff',
  '\u001b[0Ksection_start:1:x\r::warning::cr\r\n::notice::crlf',
].join('\n');

/** The same with characters that only other texts can contain. */
export const HOSTILE_TEXT = `${HOSTILE_NAME}\u0000\ud800x\udc00`;

// biome-ignore lint/suspicious/noControlCharactersInRegex: the colors that commands themselves print.
const COLOR = /\u001b\[[\d;]*m/g;
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}](?<![\t\n])/gu;

/** Expects that no terminal and no runner of a continuous integration acts on what was printed. */
export function expectHarmless(printed: string, { colors = false } = {}): void {
  const text = colors ? printed.replace(COLOR, '') : printed;
  expect(text.match(UNSAFE)).toBeNull();
  const commands = text.split('\n').filter((line) => /^\s*::/.test(line) || /##\w*\[/.test(line));
  expect(commands).toEqual([]);
}
