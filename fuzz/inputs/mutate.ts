import { BRACKETS, ODDITIES } from './oddities.js';

/** Random numbers, and values drawn from them. */
export interface Draw {
  /** A whole number from 0 up to, and not including, the limit. */
  below(limit: number): number;
  pick<T>(choices: readonly [T, ...T[]] | readonly T[]): T;
}

type Mutation = (text: string, draw: Draw, words: readonly string[]) => string;

function slice(text: string, draw: Draw, longest = 80): { from: number; to: number } {
  const from = draw.below(text.length + 1);
  return { from, to: Math.min(text.length, from + draw.below(longest)) };
}

function insert(text: string, at: number, piece: string): string {
  return text.slice(0, at) + piece + text.slice(at);
}

function lineSlice(text: string, draw: Draw): { from: number; to: number } {
  const middle = draw.below(text.length + 1);
  const from = text.lastIndexOf('\n', Math.max(0, middle - 1)) + 1;
  const end = text.indexOf('\n', middle);
  return { from, to: end === -1 ? text.length : end + 1 };
}

const remove: Mutation = (text, draw) => {
  const { from, to } = slice(text, draw);
  return text.slice(0, from) + text.slice(to);
};
const copy: Mutation = (text, draw) => {
  const { from, to } = slice(text, draw);
  return insert(text, draw.below(text.length + 1), text.slice(from, to));
};
const copyLine: Mutation = (text, draw) => {
  const { from, to } = lineSlice(text, draw);
  return insert(text, to, text.slice(from, to));
};
const removeLine: Mutation = (text, draw) => {
  const { from, to } = lineSlice(text, draw);
  return text.slice(0, from) + text.slice(to);
};
const moveLine: Mutation = (text, draw) => {
  const { from, to } = lineSlice(text, draw);
  const rest = text.slice(0, from) + text.slice(to);
  return insert(rest, lineSlice(rest, draw).from, text.slice(from, to));
};
const odd: Mutation = (text, draw) => insert(text, draw.below(text.length + 1), draw.pick(ODDITIES));
const word: Mutation = (text, draw, words) =>
  insert(text, draw.below(text.length + 1), words.length === 0 ? 'x' : draw.pick(words));
const noise: Mutation = (text, draw) => {
  const at = draw.below(text.length + 1);
  return (
    text.slice(0, at) + String.fromCharCode(draw.below(draw.pick([128, 256, 65_536]))) + text.slice(at + 1)
  );
};
/** Flips a bit of its UTF-8, as in a damaged file. */
const flipBit: Mutation = (text, draw) => {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length === 0) return text;
  const at = draw.below(bytes.length);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << draw.below(8));
  return bytes.toString('utf8');
};
const cut: Mutation = (text, draw) => text.slice(0, draw.below(text.length + 1));
const number: Mutation = (text, draw) =>
  text.replace(/\d+(?:\.\d+)?/, () =>
    draw.pick(['0', '-1', '1e308', '0.1', '99999999999999999999', 'nan', '007']),
  );
const indent: Mutation = (text, draw) =>
  insert(text, lineSlice(text, draw).from, draw.pick([' ', '\t', '    ', '  \t']));

export const MUTATIONS: readonly Mutation[] = [
  remove,
  copy,
  copyLine,
  removeLine,
  moveLine,
  odd,
  word,
  noise,
  flipBit,
  cut,
  number,
  indent,
];

/** Repeats a short piece until it is long: slow for an expression that tries every way of splitting it. */
const repeatPiece: Mutation = (text, draw) => {
  const { from, to } = slice(text, draw, draw.pick([2, 3, 12, 60]));
  const piece = text.slice(from, to) || draw.pick([' ', '\t', '-', '(', '=', '\n', '"', '0', 'a']);
  const times = 2 ** (3 + draw.below(11));
  return insert(text, to, piece.repeat(Math.min(times, Math.ceil(40_000 / piece.length))));
};
/** Two alternating pieces. */
const alternate: Mutation = (text, draw, words) => {
  const first = draw.pick([...ODDITIES, ' ', ':', '-', '|', '=', ',']);
  const second = words.length === 0 ? ' ' : draw.pick(words);
  const piece = first + second;
  return insert(
    text,
    draw.below(text.length + 1),
    piece.repeat(Math.ceil(2 ** (3 + draw.below(10)) / piece.length)),
  );
};
/** A run of one character without the suffix that an expression needs. */
const runOfOne: Mutation = (text, draw) => {
  const character = draw.pick([
    ' ',
    '\t',
    '-',
    '=',
    '.',
    '#',
    '_',
    '*',
    '|',
    '0',
    '9',
    'a',
    '\n',
    '\r',
    '"',
    '\u00a0',
    ':',
    '(',
    '[',
    '`',
    '\\',
  ]);
  return insert(text, draw.below(text.length + 1), character.repeat(2 ** (4 + draw.below(12))));
};
const nest: Mutation = (text, draw) => {
  const { from, to } = slice(text, draw);
  const [open, close] = draw.pick(BRACKETS);
  const depth = 2 ** (2 + draw.below(11));
  return `${text.slice(0, from)}${open.repeat(depth)}${text.slice(from, to)}${close.repeat(depth)}${text.slice(to)}`;
};
/** A line again and again: `t = t + t`, forty times. */
const repeatLine: Mutation = (text, draw) => {
  const { from, to } = lineSlice(text, draw);
  const line = `${text.slice(from, to).trimEnd()}\n`;
  return insert(text, to, line.repeat(Math.min(2 ** (1 + draw.below(10)), Math.ceil(40_000 / line.length))));
};
/** A few lines again and again. */
const repeatLines: Mutation = (text, draw) => {
  const { from } = lineSlice(text, draw);
  const { to } = lineSlice(text, draw);
  const block = text.slice(Math.min(from, to), Math.max(from, to));
  const times = Math.min(2 ** (1 + draw.below(8)), Math.ceil(40_000 / Math.max(1, block.length)));
  return insert(text, Math.max(from, to), block.repeat(times));
};

export const AMPLIFIERS: readonly Mutation[] = [
  repeatPiece,
  alternate,
  runOfOne,
  nest,
  repeatLine,
  repeatLines,
];

/** The beginning of one text and the end of another. */
export function splice(first: string, second: string, draw: Draw): string {
  return first.slice(0, draw.below(first.length + 1)) + second.slice(draw.below(second.length + 1));
}
