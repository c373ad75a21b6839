import { UnclosedFenceError } from '../errors.js';
import { extractCodeBlock } from './extract-code-block.js';
import { fitCorrection, type Span } from './fit-correction.js';
import { introducesPlaceholder } from './placeholder.js';
import { withoutSurroundings } from './surrounding-lines.js';
import { blockFromWholeScript } from './whole-script.js';

/** The text that may stand for a block, or what is wrong with the answer in words that a second try can use. */
export type TakenCorrection =
  | { readonly ok: true; readonly block: string }
  | { readonly ok: false; readonly problem: string };

const rejected = (problem: string): TakenCorrection => ({ ok: false, problem });

const FENCE = /^ {0,3}(?:`{3}|~{3})/m;

/**
 * Takes the text for a block out of the answer of a correction agent, and checks it as text: the fenced block, without what
 * is around it in the script, fitted to its place. It is refused where it is empty, unchanged, a diff, a placeholder
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

/** The part of an answer's code that stands for the block, checked as text. */
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
