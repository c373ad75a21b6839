import type { AgentAnswer } from '../../../agents/agent-runner.js';
import type { NamedAnalysis } from '../../../agents/analysis-answer.js';
import {
  type LeakageDetectionOutput,
  LeakageDetectionOutputSchema,
  SliceDetectionOutputSchema,
} from '../../../agents/outputs.js';
import type { ScriptAnalyst } from '../../../agents/script-analyst.js';
import { isAnalysisLimit } from '../../../errors.js';
import type { UnknownModule } from '../../../leakage/library-models/unknown-modules.js';
import type { ScriptSlice } from '../../../leakage/slice/slice-script.js';
import type { Solution } from '../../../queues/common.js';
import { locateBlock } from '../../../solution/locate-block.js';
import { type DetectionContext, requestDetection } from '../detect-leakage.js';
import { gapsExplained } from '../gaps-explained.js';

/** Most leaks, and most lines that were not followed, that a request names. */
const MAX_NAMED = 20;

const WHOLE_IF_NEEDED = [
  'Never copy such a comment into a `code_block`; a block ends before it. If lines that were left out may change an answer, set',
  '`needs_whole_script` to true: you are then asked once more, with the whole script.',
];

/** The answer of the agent, and what it saw for it. */
export interface DetectionInSlice {
  readonly answer: AgentAnswer<LeakageDetectionOutput>;
  readonly sent: 'slice' | 'whole';
}

/**
 * Asks the agent about a script that the analysis is not certain of: with what the analysis says of it, and with only those lines that
 * the scores depend on. The agent may ask for the whole script, which is one more call; it also gets it if a block that it names is
 * not in the script.
 */
export async function detectInSlice(
  solution: Solution,
  analyst: ScriptAnalyst,
  context: DetectionContext,
): Promise<DetectionInSlice> {
  const analysis = await unlessLimited(analyst.analyze(solution.content));
  const slice = analysis && (await unlessLimited(sliceOf(solution, analysis, analyst)));
  const trace =
    analysis === undefined ? [] : traceOf(analysis, await analyst.unknownModules(solution.content));
  const whole = async (step: string): Promise<DetectionInSlice> => ({
    answer: await requestDetection<LeakageDetectionOutput>(solution, context, {
      step,
      schema: LeakageDetectionOutputSchema,
      ...(trace.length === 0 ? {} : { addition: trace.join('\n') }),
    }),
    sent: 'whole',
  });
  if (slice === undefined) return whole('detect');
  const answer = await requestDetection({ content: slice.text }, context, {
    step: 'detect',
    schema: SliceDetectionOutputSchema,
    addition: [...gapsExplained(slice), ...WHOLE_IF_NEEDED, ...trace].join('\n'),
  });
  const { needs_whole_script: needsWhole = false, answers } = answer.output;
  const isElsewhere = answers.some(
    ({ leakage_status, code_block }) =>
      leakage_status === 'Yes Data Leakage' && locateBlock(code_block, solution.content) === null,
  );
  if (!needsWhole && !isElsewhere) return { answer: { ...answer, output: { answers } }, sent: 'slice' };
  context.log?.info(
    needsWhole
      ? 'the agent asks for the whole script'
      : 'a block of the answer is not in the script, so the agent gets all of it',
  );
  return whole('detect-whole');
}

function sliceOf(
  { content }: Solution,
  { findings, notFollowed }: NamedAnalysis,
  analyst: ScriptAnalyst,
): Promise<ScriptSlice | undefined> {
  return analyst.slice(content, {
    spans: findings.flatMap(({ start, end, computations }) => [{ start, end }, ...computations]),
    lines: notFollowed.map(({ line }) => line),
  });
}

/** What the analysis says, by lines of the whole script. */
function traceOf({ findings, notFollowed }: NamedAnalysis, modules: readonly UnknownModule[]): string[] {
  const leaks = findings
    .slice(0, MAX_NAMED)
    .map(({ line, endLine, explanation }) => `- lines ${line}-${endLine} leak: ${explanation}`);
  const unknown = notFollowed
    .slice(0, MAX_NAMED)
    .map(({ line, reason }) => `- line ${line} was not followed: ${reason}`);
  for (const { name, line } of modules.slice(0, MAX_NAMED))
    unknown.push(
      `- line ${line}: what the functions of ${name === '' ? 'this module' : `\`${name}\``} learn is not known`,
    );
  if (leaks.length + unknown.length === 0) return [];
  return [
    'Static analysis, which follows the rows through the whole script, says, by its line numbers:',
    ...leaks,
    ...unknown,
    'Check the code yourself: what it calls a leak may be none, and what was not followed may hide one.',
  ];
}

/** The analysis helps here, and is not needed. */
async function unlessLimited<T>(computed: Promise<T>): Promise<T | undefined> {
  try {
    return await computed;
  } catch (thrown) {
    if (!isAnalysisLimit(thrown)) throw thrown;
    return undefined;
  }
}
