import { AgentError } from '../errors.js';
import type { LeakFinding } from '../leakage/index.js';
import { NO_USAGE } from '../queues/usage.js';
import { locateBlock } from '../solution/index.js';
import type { AgentAnswer, AgentRequest, AgentRunner, RunContext } from './agent-runner.js';
import { AgentType } from './agent-type.js';
import type { AnnotatedLeakageAnswer, ExtractorOutput, LeakageDetectionOutput } from './outputs.js';
import { IN_PLACE_ANALYST, type ScriptAnalyst } from './script-analyst.js';

type OfflineAnswer = Pick<AgentAnswer<unknown>, 'output' | 'notes' | 'declined'>;
type Answering = (request: AgentRequest<unknown>, analyst: ScriptAnalyst) => Promise<OfflineAnswer>;

/** How each agent's question is answered without a model: by computing it. */
const ANSWERS: Readonly<Record<string, Answering>> = {
  [`${AgentType.leakage}/detection`]: detectByAnalysis,
  [`${AgentType.leakage}/correction`]: correctByRewriting,
  [`${AgentType.summarize}/default`]: summarizeByReading,
  [`${AgentType.extractor}/default`]: planByMapping,
};

/**
 * Answers for agents without a key and without a network, by static analysis. It has no prompt and no model:
 * it reads the variables that a prompt would show.
 */
export function createOfflineRunner(): AgentRunner {
  async function ask(request: AgentRequest<unknown>, context?: RunContext): Promise<AgentAnswer<unknown>> {
    const { agentType, variant } = request.agent;
    const answering = ANSWERS[`${agentType}/${variant}`];
    if (answering === undefined) {
      throw new AgentError(
        'bad-request',
        `the offline runner cannot answer for the agent ${agentType}/${variant}`,
      );
    }
    return { usage: NO_USAGE, ...(await answering(request, context?.analyst ?? IN_PLACE_ANALYST)) };
  }
  // One implementation serves both signatures: what is returned follows from the agent that is asked.
  return { name: 'offline', ask: ask as AgentRunner['ask'] };
}

function textVariable(request: AgentRequest<unknown>, name: string): string {
  const value = request.variables[name];
  if (typeof value !== 'string') {
    throw new AgentError('bad-request', `the question "${request.step}" lacks the variable ${name}`);
  }
  return value;
}

async function detectByAnalysis(
  request: AgentRequest<unknown>,
  analyst: ScriptAnalyst,
): Promise<OfflineAnswer> {
  const code = textVariable(request, 'code');
  const { findings, notFollowed, exhausted } = await analyst.analyze(code);
  if (exhausted && findings.length === 0) {
    throw new AgentError('analysis-exhausted', 'the script is too entangled for static analysis to judge it');
  }
  const answers = findings.map((finding) => leakageAnswer(finding, code));
  const output: LeakageDetectionOutput = {
    answers: answers.length > 0 ? answers : [{ leakage_status: 'No Data Leakage', code_block: '' }],
    ...(notFollowed.length > 0 ? { notFollowed } : {}),
  };
  return { output };
}

function leakageAnswer(finding: LeakFinding, code: string): AnnotatedLeakageAnswer {
  return {
    leakage_status: 'Yes Data Leakage',
    code_block: uniqueBlock(finding, code),
    kind: finding.kind,
    severity: finding.severity,
    reason: `${finding.explanation} ${finding.whatToDo}`,
  };
}

/**
 * The finding's block, widened upwards by lines until it stands in the script only once. The number of lines is doubled,
 * then halved: in a script of the same lines over and over, trying each number takes minutes.
 */
function uniqueBlock({ start, end }: LeakFinding, code: string): string {
  const starts = [start];
  for (let from = start; from > 0; ) {
    // An offset below zero would count as zero, and a line break there be found again and again.
    from = from < 2 ? 0 : code.lastIndexOf('\n', from - 2) + 1;
    starts.push(from);
  }
  const isUnique = (lines: number) =>
    (locateBlock(code.slice(starts[lines], end), code)?.occurrences ?? 1) === 1;
  const most = starts.length - 1;
  let enough = 0;
  let few = -1;
  while (enough < most && !isUnique(enough)) {
    few = enough;
    enough = Math.min(most, enough * 2 + 1);
  }
  while (enough - few > 1) {
    const middle = (few + enough) >> 1;
    if (isUnique(middle)) enough = middle;
    else few = middle;
  }
  return code.slice(starts[enough], end);
}

async function correctByRewriting(
  request: AgentRequest<unknown>,
  analyst: ScriptAnalyst,
): Promise<OfflineAnswer> {
  const repaired = await analyst.repair(textVariable(request, 'code'), textVariable(request, 'code_block'));
  if (!repaired.ok) return { output: '', declined: repaired.reason };
  return { output: fenced(repaired.replacement) };
}

/** Fences code so that no fence inside of it can end the block. */
function fenced(code: string): string {
  const longest = Math.max(0, ...[...code.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(Math.max(3, longest + 1));
  return `${fence}python\n${code}\n${fence}`;
}

async function summarizeByReading(
  request: AgentRequest<unknown>,
  analyst: ScriptAnalyst,
): Promise<OfflineAnswer> {
  return {
    output: await analyst.summarize({
      ablationCode: textVariable(request, 'ablation_code'),
      rawOutput: textVariable(request, 'raw_result'),
    }),
  };
}

async function planByMapping(request: AgentRequest<unknown>, analyst: ScriptAnalyst): Promise<OfflineAnswer> {
  const previous = request.variables.previous_code_blocks;
  const plans = await analyst.plan({
    solution: textVariable(request, 'solution_script'),
    summary: textVariable(request, 'ablation_summary'),
    previousBlocks: typeof previous === 'string' || previous === undefined ? [] : [...previous],
  });
  const output: ExtractorOutput = {
    // The schema wants a plan: one that names no block is not valid, and the extraction is skipped.
    plans: plans.length > 0 ? plans : [{ code_block: '', plan: 'No statement could be singled out.' }],
  };
  return { output };
}
