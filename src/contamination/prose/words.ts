import { hashText } from '../code/program.js';

/** The words of a text as parallel columns; offsets are UTF-16 positions. */
export interface Words {
  readonly hash: Int32Array;
  /** What the word says: little where it only joins others, or is in a quotation. */
  readonly weight: Float32Array;
  readonly start: Uint32Array;
  readonly end: Uint32Array;
}

/** Longer words are several: an expression without a bound overflows its stack on a word of some millions of letters. */
const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])[\p{L}\p{M}\p{N}]){1,1000}(?:'\p{L}{1,1000})?/gu;
const JOINING = new Set(
  `a an the of to in on at by for with from as is are was were be been being it its this that these those and or
  but not no so if then than there which who whom whose what when where how all any each can could may might must
  shall should will would do does did has have had i you he she we they them their his her our your my me us also`.split(
    /\s+/,
  ),
);
const JOINING_WEIGHT = 0.5;
const QUOTED_WEIGHT = 0.1;
/** Quotations: a block quote's line, or a stretch of at least 40 characters between quotation marks. */
const QUOTED = /^[ \t]{0,1000}>.{0,100000}|"[^"\n]{40,100000}"/gm;

export function readWords(text: string): Words {
  const matches = [...text.matchAll(WORD)];
  const words: Words = {
    hash: new Int32Array(matches.length),
    weight: new Float32Array(matches.length),
    start: new Uint32Array(matches.length),
    end: new Uint32Array(matches.length),
  };
  const quotations = [...text.matchAll(QUOTED)].map(
    (match) => [match.index, match.index + match[0].length] as const,
  );
  let quotation = 0;
  matches.forEach((match, i) => {
    const word = match[0].toLowerCase();
    const start = match.index;
    while ((quotations[quotation]?.[1] ?? Number.POSITIVE_INFINITY) <= start) quotation += 1;
    const isQuoted = (quotations[quotation]?.[0] ?? Number.POSITIVE_INFINITY) <= start;
    words.hash[i] = hashText(word);
    words.weight[i] = (JOINING.has(word) ? JOINING_WEIGHT : 1) * (isQuoted ? QUOTED_WEIGHT : 1);
    words.start[i] = start;
    words.end[i] = start + match[0].length;
  });
  return words;
}
