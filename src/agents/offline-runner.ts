import { z } from 'zod';
import { AgentError } from '../errors.js';
import { NO_USAGE } from '../queues/usage.js';
import { firstIssue } from '../queues/validate.js';
import { fenceFor } from '../solution/code-fence.js';
import type { AgentAnswer, AgentRequest, AgentRunner, RunContext } from './agent-runner.js';
import { AgentType } from './agent-type.js';
import { analysisAnswer } from './analysis-answer.js';
import type { ExtractorOutput, LeakageDetectionOutput } from './outputs.js';
import { IN_PLACE_ANALYST, type ScriptAnalyst } from './script-analyst.js';

type OfflineAnswer = Pick<AgentAnswer<unknown>, 'output' | 'notes' | 'declined'>;
type Answering = (request: AgentRequest<unknown>, analyst: ScriptAnalyst) => Promise<OfflineAnswer>;

/** How a request to each agent is answered without a model. */
const ANSWERS: Readonly<Record<string, Answering>> = {
  [`${AgentType.leakage}/detection`]: detectByAnalysis,
  [`${AgentType.leakage}/correction`]: correctByRewriting,
  [`${AgentType.summarize}/default`]: summarizeByReading,
  [`${AgentType.extractor}/default`]: planByMapping,
};

/**
 * Answers for agents without a key and without a network, by static analysis. It has no prompt and no model:
 * it reads the variables that a prompt would show. An agent that is not built in brings its own answer.
 */
export function createOfflineRunner(): AgentRunner {
  async function ask(request: AgentRequest<unknown>, context?: RunContext): Promise<AgentAnswer<unknown>> {
    const { agentType, variant, offline } = request.agent;
    if (offline !== undefined) {
      // A request that a model could not get must not succeed here.
      request.agent.render(request.variables);
      const answer = await offline(request.variables);
      return { output: checkedOfflineAnswer(agentType, answer, request.schema), usage: NO_USAGE };
    }
    const answering = ANSWERS[`${agentType}/${variant}`];
    if (answering === undefined) {
      throw new AgentError(
        'bad-request',
        `the offline runner cannot answer for the agent ${agentType}/${variant}; set ANTHROPIC_API_KEY, or give the agent an offline answer`,
      );
    }
    return { usage: NO_USAGE, ...(await answering(request, context?.analyst ?? IN_PLACE_ANALYST)) };
  }
  // One implementation serves both signatures: the agent determines the result.
  return { name: 'offline', ask: ask as AgentRunner['ask'] };
}

/**
 * The offline answer of an agent that is not built in must be what its outputSchema allows, as that of a model.
 * @throws AgentError `offline-answer-invalid`
 */
function checkedOfflineAnswer(
  agent: string,
  answer: unknown,
  schema: z.ZodType = z.string().min(1),
): unknown {
  const { data, error } = schema.safeParse(answer);
  if (error === undefined) return data;
  const { field, message } = firstIssue(error);
  const problem = `the offline answer of the agent "${agent}" does not match its outputSchema`;
  throw new AgentError('offline-answer-invalid', `${problem}: ${field === '' ? '' : `${field}: `}${message}`);
}

function textVariable(request: AgentRequest<unknown>, name: string): string {
  const value = request.variables[name];
  if (typeof value !== 'string') {
    throw new AgentError('bad-request', `the request "${request.step}" lacks the variable ${name}`);
  }
  return value;
}

async function detectByAnalysis(
  request: AgentRequest<unknown>,
  analyst: ScriptAnalyst,
): Promise<OfflineAnswer> {
  const code = textVariable(request, 'code');
  const { findings, exhausted } = await analyst.analyze(code);
  if (exhausted && findings.length === 0) {
    throw new AgentError('analysis-exhausted', 'the script is too complex for static analysis');
  }
  const answers = findings.map(analysisAnswer);
  const output: LeakageDetectionOutput = {
    answers: answers.length > 0 ? answers : [{ leakage_status: 'No Data Leakage', code_block: '' }],
  };
  return { output };
}

async function correctByRewriting(
  request: AgentRequest<unknown>,
  analyst: ScriptAnalyst,
): Promise<OfflineAnswer> {
  const block = textVariable(request, 'code_block');
  const repaired = await analyst.repair(textVariable(request, 'code'), block);
  if (!repaired.ok) return { output: '', declined: repaired.reason };
  // An answer stands for the block that was asked for.
  if (repaired.codeBlock !== block)
    return { output: '', declined: 'Not rewritten: the leak is mended in other lines than these.' };
  return { output: fenced(repaired.replacement) };
}

/** Fences code so that no fence inside of it can end the block. */
function fenced(code: string): string {
  const fence = fenceFor(code, 3);
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
    // The schema requires a plan: one without a block is not valid, and the extraction is skipped.
    plans: plans.length > 0 ? plans : [{ code_block: '', plan: 'No statement could be singled out.' }],
  };
  return { output };
}
