import { type AST, RegExpParser, visitRegExpAST } from '@eslint-community/regexpp';

const LENGTH = 4_000;
/** Processor time of one search of a text of that length from which on its growth is looked at. */
const SUSPICIOUS_MS = 4;
/** For twice the text: 2 is linear, 4 quadratic. */
const MAX_GROWTH = 3;
const MAX_PIECES = 24;

/** Signs and words that the expression itself speaks of, and one sign for each of its classes. */
function piecesOf(pattern: AST.Pattern): { signs: string[]; words: string[] } {
  const signs = new Set([' ', 'a', '1', '-']);
  const words = new Set<string>();
  let word = '';
  let end = -1;
  visitRegExpAST(pattern, {
    onCharacterEnter(node) {
      const sign = String.fromCodePoint(node.value);
      if (!/[\p{L}\p{N}]/u.test(sign)) signs.add(sign);
      word = node.start === end ? word + sign : sign;
      end = node.end;
      if (word.length > 1) {
        words.delete(word.slice(0, -sign.length));
        words.add(word);
      }
    },
  });
  return { signs: [...signs].slice(0, MAX_PIECES), words: [...words].slice(0, MAX_PIECES) };
}

function millisecondsOf(expression: RegExp, text: string): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3; round += 1) {
    expression.lastIndex = 0;
    const start = process.cpuUsage();
    expression.test(text);
    const { user, system } = process.cpuUsage(start);
    least = Math.min(least, (user + system) / 1000);
    if (least < SUSPICIOUS_MS) break;
  }
  return least;
}

interface Attack {
  readonly pumps: readonly { readonly prefix: string; readonly pump: string }[];
  readonly suffix: string;
}

/** Processor time of the longer text from which on growth counts: bounded repetitions take some milliseconds. */
const SLOW_MS = 50;

/** Whether the engine itself takes more than linear time on the texts of an attack. */
export function growsOn(source: string, flags: string, { pumps, suffix }: Attack): boolean {
  const expression = new RegExp(source, flags);
  const text = (length: number): string =>
    pumps
      .map(({ prefix, pump }) => prefix + pump.repeat(Math.ceil(length / pumps.length / pump.length)))
      .join('') + suffix;
  // 10,000 and 40,000 characters: 4 is linear, 16 quadratic.
  const long = millisecondsOf(expression, text(40_000));
  return long >= SLOW_MS && long > 8 * millisecondsOf(expression, text(10_000));
}

/**
 * A text of repeated pieces on which the engine itself takes more than linear time; undefined where none was
 * found. It is for expressions that the exact analysis does not support, and proves nothing.
 */
export function slowText(source: string, flags: string): string | undefined {
  const options = { unicode: flags.includes('u'), unicodeSets: flags.includes('v') };
  const pattern = new RegExpParser({ ecmaVersion: 2024 }).parsePattern(source, undefined, undefined, options);
  const { signs, words } = piecesOf(pattern);
  const pumps = new Set([
    ...signs,
    ...words,
    ...words.map((word) => `${word} `),
    ...words.map((word) => ` ${word}`),
  ]);
  for (const one of signs) for (const other of signs) pumps.add(one + other);
  const expression = new RegExp(source, flags);
  for (const start of ['', ...words, ...words.map((word) => `${word} `)]) {
    for (const pump of pumps) {
      const text = (length: number): string => `${start}${pump.repeat(length / pump.length)}\u0001\n`;
      const short = millisecondsOf(expression, text(LENGTH));
      if (short < SUSPICIOUS_MS) continue;
      if (millisecondsOf(expression, text(2 * LENGTH)) > MAX_GROWTH * short)
        return `${JSON.stringify(start)} + ${JSON.stringify(pump)}.repeat(n)`;
    }
  }
  return undefined;
}
