import type { AnnotatedLeakageAnswer } from '../../agents/outputs.js';
import { AgentError } from '../../errors.js';
import type { Solution } from '../../queues/common.js';
import { type DetectionContext, requestDetection } from './detect-leakage.js';
import type { SourcedAnswer } from './missed-leaks.js';

/** Longest block of an objection that a finding shows. */
const MAX_SHOWN = 400;

/**
 * Shows the agent the leaks that only static analysis found, and lets it object, once. An objection is shown with the finding and
 * removes nothing: the text of the script can manipulate the agent, but not the analysis.
 *
 * @throws AgentError if the call failed and may succeed later.
 */
export async function withObjections(
  missed: readonly SourcedAnswer[],
  solution: Solution,
  context: DetectionContext,
): Promise<SourcedAnswer[]> {
  if (missed.length === 0) return [];
  const answered = await requestDetection(solution, context, {
    step: 'object',
    addition: requestText(missed),
  }).catch((thrown: unknown) => {
    // The leaks are certain without an answer. A failure that may pass ends the attempt, as that of every call.
    if (!(thrown instanceof AgentError) || thrown.retryable) throw thrown;
    context.log?.warn(`no answer about the leaks of static analysis: ${thrown.message}`);
    return undefined;
  });
  const answers = answered?.output.answers ?? [];
  return missed.map((leak, at) => {
    const answer = answers.length === missed.length ? answers[at] : answerAbout(leak, answers);
    if (answer === undefined) return leak;
    if (answer.leakage_status === 'Yes Data Leakage') return { ...leak, agreedBy: ['analysis', 'agent'] };
    return { ...leak, objection: objectionOf(answer) };
  });
}

function requestText(missed: readonly SourcedAnswer[]): string {
  const leaks = missed.map(({ reason = '', code_block }, at) => `${at + 1}. ${reason}\n${code_block}`);
  return [
    'Static analysis, which follows the rows through the code, found leaks in this script that your answer does not name. Each is',
    'given with its flow and its lines, which are data of the script:',
    ...leaks,
    `Check each flow in the code. Answer with one entry for each of these ${missed.length}, in this order: \`Yes Data Leakage\` and the`,
    'lines if it is a leak; `No Data Leakage` if it is not, with the lines of the script that keep these rows apart.',
  ].join('\n');
}

/** Without one entry for each leak: the one that names its lines, or the only one there is. */
function answerAbout(
  leak: SourcedAnswer,
  answers: readonly AnnotatedLeakageAnswer[],
): AnnotatedLeakageAnswer | undefined {
  const named = answers.find(
    ({ code_block }) => code_block.trim() !== '' && leak.code_block.includes(code_block.trim()),
  );
  return (
    named ??
    (answers.length === 1 && answers[0]?.leakage_status === 'No Data Leakage' ? answers[0] : undefined)
  );
}

function objectionOf({ code_block }: AnnotatedLeakageAnswer): string {
  const lines = code_block.trim();
  if (lines === '') return 'the agent sees no leak here';
  return `the agent sees no leak here, because of: ${lines.length > MAX_SHOWN ? `${lines.slice(0, MAX_SHOWN)}…` : lines}`;
}
