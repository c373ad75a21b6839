import { UnclosedFenceError } from '../errors.js';
import { extractCodeBlock } from './extract-code-block.js';
import { fitCorrection, type Span } from './fit-correction.js';
import { introducesPlaceholder } from './placeholder.js';
import { blockFromWholeScript } from './whole-script.js';

/** Fewest characters, blanks aside, that make a run of repeated lines more than a coincidence. */
const TELLING = 8;
/** How many lines above and below a block an answer may repeat. */
const MAX_LINES = 20;

const trimmed = (line: string | undefined) => line?.trim() ?? '';

function isTelling(lines: readonly string[]): boolean {
  return lines.some((line) => line.replace(/\s/g, '').length >= TELLING);
}

/** Number of lines at the end of `before` that are again at the beginning of `lines`. */
function repeatedAbove(lines: readonly string[], before: readonly string[]): number {
  for (let count = Math.min(MAX_LINES, lines.length - 1, before.length); count > 0; count -= 1) {
    const above = before.slice(-count);
    if (isTelling(above) && above.every((line, index) => trimmed(line) === trimmed(lines[index])))
      return count;
  }
  return 0;
}

/**
 * Takes the lines off a correction that are right above and below the block in the script: a model that was asked for
 * the block often adds its surroundings, and putting those in would double them. Lines that the block itself begins or
 * ends with stay.
 */
function withoutSurroundings(
  correction: string,
  block: { readonly start: number; readonly end: number; readonly text: string },
  content: string,
): string {
  const lines = correction.split('\n');
  const blockLines = block.text.split('\n');
  const before = content.slice(0, block.start).split('\n').slice(0, -1);
  const after = content
    .slice(block.end)
    .replace(/^\r?\n/, '')
    .split('\n')
    .reverse();
  const above = trimmed(lines[0]) === trimmed(blockLines[0]) ? 0 : repeatedAbove(lines, before);
  const rest = lines.slice(above).reverse();
  const below = trimmed(rest[0]) === trimmed(blockLines.at(-1)) ? 0 : repeatedAbove(rest, after);
  return rest.slice(below).reverse().join('\n');
}

/** The text that may replace a block, or what is wrong with the answer in words that a second try can use. */
export type TakenCorrection =
  | { readonly ok: true; readonly block: string }
  | { readonly ok: false; readonly problem: string };

const rejected = (problem: string): TakenCorrection => ({ ok: false, problem });

const FENCE = /^ {0,3}(?:`{3}|~{3})/m;

/**
 * Takes the text for a block out of the answer of a correction agent, and checks it as text: the fenced block, without what
 * is around it in the script, fitted to its position. It is refused where it is empty, unchanged, a diff, a placeholder
 * or a change of other lines.
 *
 * @param isPython Whether the script is: in another one nothing but a fence tells code from prose.
 */
export async function takeCorrection(
  answer: string,
  located: Span,
  content: string,
  isPython: boolean,
): Promise<TakenCorrection> {
  const extracted = extractAnswer(answer, isPython);
  if (!extracted.ok) return extracted;
  const taken = takeBlock(extracted.block, located, content);
  return taken.ok ? { ok: true, block: fitCorrection(taken.block, located, content) } : taken;
}

/** The code of an answer. */
function extractAnswer(answer: string, isPython: boolean): TakenCorrection {
  if (!isPython && !FENCE.test(answer)) return rejected('the answer has no fenced code block');
  try {
    return { ok: true, block: extractCodeBlock(answer) };
  } catch (thrown) {
    if (!(thrown instanceof UnclosedFenceError)) throw thrown;
    return rejected('the answer was cut off inside its code block; answer with the block alone');
  }
}

/** The part of an answer's code that replaces the block, checked as text. */
function takeBlock(code: string, located: Span, content: string): TakenCorrection {
  const whole = blockFromWholeScript(content, located, code);
  if (whole.kind === 'changes-more') {
    return rejected(
      'the answer is the whole script and changes lines outside of the block; give only the block',
    );
  }
  const block = whole.kind === 'block' ? whole.block : withoutSurroundings(code, located, content);
  if (block.trim() === '') return rejected('the correction is empty');
  if (normalized(block) === normalized(located.text)) {
    return rejected('the correction is the same as the leaky block');
  }
  if (isDiff(block)) return rejected('the correction is a diff; write the lines as they should be');
  if (introducesPlaceholder(located.text, block)) {
    return rejected('the correction replaces code by a placeholder; write out every line of the block');
  }
  return { ok: true, block };
}

function normalized(text: string): string {
  return text
    .split(/\r\n|\r|\n/)
    .map((line) => line.trimEnd())
    .join('\n')
    .trim();
}

/** Some diffs parse as Python, since a sign before an expression is an expression. */
function isDiff(text: string): boolean {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .every((line) => /^(?:[-+]|@@)/.test(line));
}
