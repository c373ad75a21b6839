import { UnclosedFenceError } from '../../errors.js';
import {
  blockFromWholeScript,
  extractCodeBlock,
  fitCorrection,
  introducesPlaceholder,
  type LocatedBlock,
  parsesAsPython,
} from '../../solution/index.js';
import type { CorrectedScript } from './corrected-regions.js';
import { leakThatStillStands } from './second-opinion.js';

/** A correction that may be put in, or what is wrong with it in words that a second try can use. */
export type Judgement =
  | { readonly ok: true; readonly block: string }
  | { readonly ok: false; readonly problem: string };

const refused = (problem: string): Judgement => ({ ok: false, problem });

const normalised = (text: string) =>
  text
    .split(/\r\n|\r|\n/)
    .map((line) => line.trimEnd())
    .join('\n')
    .trim();

/**
 * Judges the answer of a correction agent (REQ-SF-019, decision 5): the fenced block is taken out, fitted to
 * the script, and refused where it is empty, unchanged, a placeholder, a change of other lines, breaks the syntax of a
 * script that parsed before, or leaves a leak in place that static analysis knew.
 */
export async function judgeCorrection(
  answer: string,
  located: LocatedBlock,
  script: CorrectedScript,
  parsedBefore: boolean,
): Promise<Judgement> {
  const extracted = extractAnswer(answer);
  if (!extracted.ok) return extracted;
  const whole = blockFromWholeScript(script.content, located, extracted.block);
  if (whole.kind === 'changes-more') {
    return refused(
      'the answer is the whole script and changes lines outside of the block; give only the block',
    );
  }
  const correction = whole.kind === 'block' ? whole.block : extracted.block;
  if (correction.trim() === '') return refused('the correction is empty');
  if (normalised(correction) === normalised(located.text)) {
    return refused('the correction is the same as the leaky block');
  }
  if (introducesPlaceholder(located.text, correction)) {
    return refused('the correction replaces code by a placeholder; write out every line of the block');
  }
  const block = fitCorrection(correction, located, script.content);
  const corrected = script.with(located, block);
  if (parsedBefore) {
    const parsed = await parsesAsPython(corrected);
    if (!parsed.ok) {
      return refused(
        `with the correction the script no longer parses: line ${parsed.line}: ${parsed.message}`,
      );
    }
  }
  const correctedSpan = { start: located.start, end: located.start + block.length };
  const standing = await leakThatStillStands(script.content, located, corrected, correctedSpan);
  return standing === undefined ? { ok: true, block } : refused(standing);
}

function extractAnswer(answer: string): Judgement {
  try {
    return { ok: true, block: extractCodeBlock(answer) };
  } catch (thrown) {
    if (!(thrown instanceof UnclosedFenceError)) throw thrown;
    return refused('the answer was cut off inside its code block; answer with the block alone');
  }
}
