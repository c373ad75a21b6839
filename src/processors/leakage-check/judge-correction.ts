import type { AgentRunner } from '../../agents/agent-runner.js';
import type { ScriptAnalyst } from '../../agents/script-analyst.js';
import { isAnalysisLimit, UnclosedFenceError } from '../../errors.js';
import {
  blockFromWholeScript,
  type CorrectionScope,
  extractCodeBlock,
  fitCorrection,
  introducesPlaceholder,
  type LocatedBlock,
} from '../../solution/index.js';
import { withNotes } from '../agent-stamp.js';
import type { CorrectionContext } from './correct-block.js';
import type { CorrectedScript } from './corrected-script.js';
import { leakThatStillStands, whatGotWorse } from './second-opinion.js';
import { withoutSurroundings } from './surrounding-lines.js';

/** A correction that may be put in, or what is wrong with it in words that a second try can use. */
export type Judgement =
  | { readonly ok: true; readonly block: string; readonly notes?: readonly string[] }
  | { readonly ok: false; readonly problem: string };

const refused = (problem: string): Judgement => ({ ok: false, problem });

const FENCE = /^ {0,3}(?:`{3}|~{3})/m;

/** One correction on its way into the script. */
interface Proposal {
  readonly block: string;
  readonly located: LocatedBlock;
  readonly script: CorrectedScript;
  readonly analyst: ScriptAnalyst;
}

/**
 * Judges the answer of a correction agent (REQ-SF-019, decision 5): the fenced block is taken out, fitted to the script,
 * and refused where it is empty, unchanged, no code, a placeholder or a change of other lines; where it breaks the syntax
 * of a script that parsed before, or no longer defines what later code uses; where a leak that static analysis knew is
 * still there, another one is new or the score is gone; and where a model's answer does more than a correction has to.
 */
export async function judgeCorrection(
  answer: string,
  located: LocatedBlock,
  script: CorrectedScript,
  {
    parsedBefore,
    analyst,
    runner,
  }: Pick<CorrectionContext, 'parsedBefore' | 'analyst'> & { readonly runner: Pick<AgentRunner, 'name'> },
): Promise<Judgement> {
  const extracted = extractAnswer(answer, parsedBefore);
  if (!extracted.ok) return extracted;
  const taken = takeBlock(extracted.block, located, script.content);
  if (!taken.ok) return taken;
  const proposal = { block: fitCorrection(taken.block, located, script.content), located, script, analyst };
  const problem =
    (parsedBefore ? await brokenCode(proposal).catch(uncheckable) : undefined) ??
    (await standingLeak(proposal));
  if (problem !== undefined) return refused(problem);
  // What static analysis rewrites is not talked into anything.
  const scope: CorrectionScope =
    runner.name === 'offline'
      ? { notes: [] }
      : await analyst
          .correctionScope(located, proposal.block, script.content, script.original)
          .catch((thrown: unknown) => ({ problem: uncheckable(thrown), notes: [] }));
  const worse =
    scope.problem ?? (await whatGotWorse(script.content, script.with(located, proposal.block), analyst));
  if (worse !== undefined) return refused(worse);
  return { ok: true, block: proposal.block, ...withNotes(scope.notes) };
}

/** The code of an answer. In a script that is no Python, nothing but a fence tells code from prose. */
function extractAnswer(answer: string, parsedBefore: boolean): Judgement {
  if (!parsedBefore && !FENCE.test(answer)) return refused('the answer has no fenced code block');
  try {
    return { ok: true, block: extractCodeBlock(answer) };
  } catch (thrown) {
    if (!(thrown instanceof UnclosedFenceError)) throw thrown;
    return refused('the answer was cut off inside its code block; answer with the block alone');
  }
}

/** The part of an answer's code that stands for the block, judged as text. */
function takeBlock(code: string, located: LocatedBlock, content: string): Judgement {
  const whole = blockFromWholeScript(content, located, code);
  if (whole.kind === 'changes-more') {
    return refused(
      'the answer is the whole script and changes lines outside of the block; give only the block',
    );
  }
  const block = whole.kind === 'block' ? whole.block : withoutSurroundings(code, located, content);
  if (block.trim() === '') return refused('the correction is empty');
  if (normalised(block) === normalised(located.text)) {
    return refused('the correction is the same as the leaky block');
  }
  if (isDiff(block)) return refused('the correction is a diff; write the lines as they should stand');
  if (introducesPlaceholder(located.text, block)) {
    return refused('the correction replaces code by a placeholder; write out every line of the block');
  }
  return { ok: true, block };
}

function normalised(text: string): string {
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

/** A correction that nobody could check in time is not put in. */
function uncheckable(thrown: unknown): string {
  if (!isAnalysisLimit(thrown)) throw thrown;
  return `the correction could not be checked: ${thrown.message}`;
}

/** What a correction would break in a script that is Python, in words; undefined where it breaks nothing. */
async function brokenCode({ block, located, script, analyst }: Proposal): Promise<string | undefined> {
  const parsed = await analyst.parses(script.with(located, block));
  if (!parsed.ok) {
    return `with the correction the script no longer parses: line ${parsed.line}: ${parsed.message}`;
  }
  if ((await analyst.doesSomething(located.text)) && !(await analyst.doesSomething(block))) {
    return 'the correction has no statement that does anything; write out the corrected lines';
  }
  const lost = await analyst.lostNames(located, block, script.content);
  if (lost.length === 0) return undefined;
  return `the correction no longer defines ${lost.join(', ')}, which later lines of the script use`;
}

async function standingLeak({ block, located, script, analyst }: Proposal): Promise<string | undefined> {
  const corrected = { start: located.start, end: located.start + block.length };
  return leakThatStillStands(script.content, located, script.with(located, block), corrected, analyst);
}
