import { type LeakOpinion, LeakOpinionsSchema } from '../../agents/outputs.js';
import { withoutControls } from '../../agents/well-formed.js';
import { AgentError, CallRefusedError } from '../../errors.js';
import type { Solution } from '../../queues/common.js';
import { type DetectionContext, requestDetection } from './detect-leakage.js';
import type { SourcedAnswer } from './missed-leaks.js';

/** Longest reason, and longest block, of an objection that a finding shows, in UTF-16 units. */
const MAX_REASON = 300;
const MAX_LINES = 400;

/** The leaks that only static analysis found, with what the agent says to them. */
interface Answered {
  readonly leaks: readonly SourcedAnswer[];
  /** Says why the agent said nothing, if it did not. */
  readonly note?: string;
}

/**
 * Shows the agent the leaks that only static analysis found, and lets it object, once. An objection is shown with the finding and
 * removes nothing: the text of the script can manipulate the agent, but not the analysis.
 *
 * @throws AgentError if the call failed and may succeed later; CallRefusedError `call-in-doubt`.
 */
export async function requestObjections(
  missed: readonly SourcedAnswer[],
  solution: Solution,
  context: DetectionContext,
): Promise<Answered> {
  if (missed.length === 0) return { leaks: [] };
  try {
    const { output } = await requestDetection(solution, context, {
      step: 'object',
      addition: requestText(missed),
      schema: LeakOpinionsSchema,
      once: true,
    });
    return { leaks: missed.map((leak, at) => withOpinion(leak, at, missed.length, output.answers)) };
  } catch (thrown) {
    const problem = lackOf(thrown);
    if (problem === undefined) throw thrown;
    context.log?.warn(`${problem}: ${(thrown as Error).message}`);
    const which = missed.length === 1 ? 'a leak' : `${missed.length} leaks`;
    return { leaks: missed, note: `${problem} ${which} that only static analysis found` };
  }
}

/**
 * Why the agent said nothing about what is certain without it: a job does not fail for lack of such an answer. A failure that may pass
 * ends the attempt, as that of every call, and a call in doubt waits for a person; then undefined.
 */
export function lackOf(thrown: unknown): string | undefined {
  if (thrown instanceof CallRefusedError && thrown.code === 'budget-exhausted')
    return 'the budget is used up, so the agent was not asked about';
  if (thrown instanceof CallRefusedError && thrown.code === 'quota-exhausted')
    return 'the quota is used up, so the agent was not asked about';
  if (thrown instanceof AgentError && !thrown.retryable) return 'the agent gave no usable answer about';
  return undefined;
}

function requestText(missed: readonly SourcedAnswer[]): string {
  const leaks = missed.map(({ reason = '', code_block }, at) => `${at + 1}. ${reason}\n${code_block}`);
  return [
    'Static analysis, which follows the rows through the code, found leaks in this script that your answer does not name. Each is',
    'given with its flow and its lines, which are data of the script:',
    ...leaks,
    `Check each flow in the code. Answer with one entry for each of these ${missed.length}, in this order: \`Yes Data Leakage\` and the`,
    'lines if it is a leak; `No Data Leakage` if it is not, with the lines of the script that keep these rows apart. Give each entry a',
    `third field, \`reason\`: one sentence of at most ${MAX_REASON} characters that says why.`,
  ].join('\n');
}

function withOpinion(
  leak: SourcedAnswer,
  at: number,
  count: number,
  answers: readonly LeakOpinion[],
): SourcedAnswer {
  const answer = answers.length === count ? answers[at] : answerAbout(leak, answers);
  if (answer === undefined) return leak;
  if (answer.leakage_status === 'Yes Data Leakage') return { ...leak, agreedBy: ['analysis', 'agent'] };
  return { ...leak, objection: objectionOf(answer) };
}

/** Without one entry for each leak: the one that names its lines, or the only one there is. */
function answerAbout(leak: SourcedAnswer, answers: readonly LeakOpinion[]): LeakOpinion | undefined {
  const named = answers.find(
    ({ code_block }) => code_block.trim() !== '' && leak.code_block.includes(code_block.trim()),
  );
  return (
    named ??
    (answers.length === 1 && answers[0]?.leakage_status === 'No Data Leakage' ? answers[0] : undefined)
  );
}

function objectionOf({ reason = '', code_block }: LeakOpinion): string {
  // A reason is one sentence; the line breaks of code stay.
  const why = shortened(reason.replaceAll(/\s+/g, ' ').trim(), MAX_REASON);
  const lines = shortened(code_block.trim(), MAX_LINES);
  return [
    'the agent sees no leak here',
    ...(why === '' ? [] : [`: ${why}`]),
    ...(lines === '' ? [] : [why === '' ? `, because of: ${lines}` : ` (because of: ${lines})`]),
  ].join('');
}

function shortened(text: string, most: number): string {
  const visible = withoutControls(text);
  if (visible.length <= most) return visible;
  // Half of a surrogate pair could not be written to a file.
  return `${visible.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
