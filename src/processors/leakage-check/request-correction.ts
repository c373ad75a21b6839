import { AgentConfig } from '../../agents/agent-config.js';
import type { AgentAnswer } from '../../agents/agent-runner.js';
import { AgentType } from '../../agents/agent-type.js';
import { type CorrectionEdit, CorrectionEditsSchema } from '../../agents/outputs.js';
import { isAnalysisLimit } from '../../errors.js';
import { applyEdits } from '../../solution/apply-edits.js';
import { fenceFor } from '../../solution/code-fence.js';
import type { LocatedBlock } from '../../solution/locate-block.js';
import { isUnusableAnswer } from '../unusable-answer.js';
import type { CorrectionContext } from './correct-block.js';
import type { CorrectedScript } from './corrected-script.js';
import { gapsExplained } from './gaps-explained.js';

/**
 * Of a shorter block, edits save nothing: the request has the numbered lines and the schema besides, and a token of an answer costs
 * as much as five of a request.
 */
const MIN_EDITED_LINES = 20;

/** A correction that is asked for. */
interface CorrectionRequest {
  readonly located: LocatedBlock;
  readonly script: CorrectedScript;
  readonly step: string;
  /** What was wrong with the first answer; empty in the first request. */
  readonly problem: string;
  /** The parts of the block that leak, if there are several. */
  readonly leaks: readonly string[];
}

/** The text of an answer, with the corrected block in a fence; or why there is none, and whether another request may help. */
type RequestedCorrection = Pick<AgentAnswer<unknown>, 'withdraw'> &
  (
    | { readonly ok: true; readonly text: string }
    | { readonly ok: false; readonly problem: string; readonly isRepairable: boolean }
  );

/**
 * Asks the agent for the correction of a block: as a whole, or as edits if that is shorter. The second request always gets the whole
 * script, and asks for the whole block.
 * @throws AgentError if the call itself failed (rate limit, key, network), so the job is tried again.
 */
export async function requestCorrection(
  request: CorrectionRequest,
  context: CorrectionContext,
): Promise<RequestedCorrection> {
  const { located, script, problem } = request;
  const isFirst = problem === '';
  const slice = isFirst && context.showsSlice ? await sliceWith(located, script, context) : undefined;
  const asEdits = isFirst && context.corrections === 'edits' && isWorthEdits(located);
  const addition = [
    ...(slice?.explained ?? []),
    ...leaksNamed(request.leaks),
    ...(asEdits ? editsExplained(located.text) : []),
  ];
  const details = {
    agent: new AgentConfig({ agentType: AgentType.leakage, variant: 'correction' }),
    variables: { code: slice?.text ?? script.content, code_block: located.text, problem },
    step: request.step,
    ...(addition.length === 0 ? {} : { addition: addition.join('\n') }),
    ...(context.workspace === undefined ? {} : { workspace: context.workspace }),
    ...(context.model === undefined ? {} : { model: context.model }),
  };
  const { runner, meter } = context;
  try {
    // Both of them are answers: the edits, and the whole block in a fence.
    const answer: AgentAnswer<string | { readonly edits: readonly CorrectionEdit[] }> = asEdits
      ? await meter.count(runner.ask({ ...details, schema: CorrectionEditsSchema, orText: true }, context))
      : await meter.count(runner.ask(details, context));
    if (answer.declined !== undefined) return { ok: false, problem: answer.declined, isRepairable: false };
    const requested: RequestedCorrection =
      typeof answer.output === 'string'
        ? { ok: true, text: answer.output }
        : editedText(located.text, answer.output.edits);
    return { ...requested, ...(answer.withdraw === undefined ? {} : { withdraw: answer.withdraw }) };
  } catch (thrown) {
    if (!isUnusableAnswer(thrown)) throw thrown;
    return { ok: false, problem: thrown.message, isRepairable: false };
  }
}

/** Lines are numbered in a block that occurs once: in another one they would be those of several positions. */
function isWorthEdits({ text, occurrences }: LocatedBlock): boolean {
  return occurrences === 1 && text.split('\n').length >= MIN_EDITED_LINES;
}

function editsExplained(block: string): string[] {
  const numbered = block.split('\n').map((line, at) => `${at + 1}|${line}`);
  return [
    'Answer with JSON instead of a code block: only the lines of the block that change, as `edits`. Each replaces the lines `first_line` to',
    '`last_line` of the block by `new_lines`, whole lines with their indentation. Where most lines change, one edit for all of them is',
    'shorter. These are the lines of the block with their numbers, which are no part of them:',
    ...numbered,
  ];
}

function editedText(block: string, edits: readonly CorrectionEdit[]): RequestedCorrection {
  const edited = applyEdits(
    block,
    edits.map(({ first_line, last_line, new_lines }) => ({
      firstLine: first_line,
      lastLine: last_line,
      newLines: new_lines,
    })),
  );
  if (!edited.ok) return { ...edited, isRepairable: true };
  const fence = fenceFor(edited.block, 3);
  return { ok: true, text: `${fence}python\n${edited.block}\n${fence}` };
}

function leaksNamed(leaks: readonly string[]): string[] {
  if (leaks.length === 0) return [];
  return [
    `The block has ${leaks.length} leaks; remove all of them. These lines of it leak:`,
    ...leaks.map((lines, at) => `${at + 1}.\n${lines}`),
  ];
}

/** The lines of the script that matter, if all lines of the block are among them. */
async function sliceWith(
  located: LocatedBlock,
  script: CorrectedScript,
  { analyst }: CorrectionContext,
): Promise<{ readonly text: string; readonly explained: string[] } | undefined> {
  try {
    const slice = await analyst.slice(script.content, { spans: [located], lines: [] });
    if (slice === undefined || !slice.text.includes(located.text)) return undefined;
    return { text: slice.text, explained: gapsExplained(slice) };
  } catch (thrown) {
    if (!isAnalysisLimit(thrown)) throw thrown;
    return undefined;
  }
}
