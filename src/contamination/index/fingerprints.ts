import { hashText, type Program } from '../code/program.js';
import type { PreparedText } from '../prepared-text.js';
import type { Words } from '../prose/words.js';

/** Statements that say less than this are in every program. */
const MIN_WEIGHT = 3.5;
const FEWEST = 6;
const WORDS_A_PRINT = 4;
/** One in this many word groups is kept; both sides keep the same ones. */
const SAMPLING = 3;

/** Hash by which a statement is known to the index. */
export function templateFingerprint(language: string, template: string): number {
  return hashText(`${language}|${template}`);
}

/**
 * The distinct fingerprints of a text: hashes of its statements with the names taken out, so that renaming
 * and reordering change nothing; for prose, hashes of every third group of four words, chosen by value
 * (a simple form of winnowing; Schleimer et al. 2003).
 */
export function fingerprintsOf(text: PreparedText): Int32Array {
  if (text.kind !== 'prose') return codeFingerprints(text.program(text.kind), text.kind);
  return proseFingerprints(text.words);
}

/** What an output is looked up by: its code and its prose, since the known solution may be either. */
export function queryFingerprints(text: PreparedText): Int32Array {
  const { language } = text.view;
  const code = codeFingerprints(text.program(language), language);
  const prose = proseFingerprints(text.words);
  return distinct([...code, ...prose]);
}

function codeFingerprints(program: Program, language: string): Int32Array {
  const telling = program.statements.filter((statement) => statement.weight >= MIN_WEIGHT);
  const chosen =
    telling.length >= FEWEST ? telling : program.statements.filter((statement) => statement.weight > 0);
  return distinct(chosen.map((statement) => templateFingerprint(language, statement.template)));
}

function proseFingerprints({ hash }: Words): Int32Array {
  const prints: number[] = [];
  for (let i = 0; i + WORDS_A_PRINT <= hash.length; i++) {
    let print = 0x51ed270b;
    for (let j = i; j < i + WORDS_A_PRINT; j++)
      print = Math.imul(print ^ (hash[j] as number), 0x01000193) | 0;
    print ^= print >>> 15;
    if ((print >>> 0) % SAMPLING === 0) prints.push(print);
  }
  return distinct(prints);
}

function distinct(prints: readonly number[]): Int32Array {
  return Int32Array.from(new Set(prints)).sort();
}
