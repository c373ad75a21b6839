import { AgentConfig } from '../../agents/agent-config.js';
import type { AgentAnswer } from '../../agents/agent-runner.js';
import { AgentType } from '../../agents/agent-type.js';
import { type ExtractorOutput, ExtractorOutputSchema } from '../../agents/outputs.js';
import { PromptRegistry } from '../../agents/prompt-registry.js';
import { AgentError, InternalError, PayloadError } from '../../errors.js';
import { digestOf } from '../../queues/common.js';
import type { ExtractPayload, ExtractResult } from '../../queues/extract.js';
import { agentStamp, withNotes } from '../agent-stamp.js';
import type { Work } from '../processor.js';
import { UsageMeter } from '../usage-meter.js';
import { fallbackPlan, locatePlans, primaryPlan, type ValidPlan } from './choose-plan.js';

/** First ask and two re-asks (REQ-P2O-018.2). */
const MAX_ASKS = 3;

interface GivenAnswer {
  readonly answer: AgentAnswer<ExtractorOutput>;
  readonly located: readonly (ValidPlan | null)[];
}

/**
 * Picks the block with most impact and the plan to refine it (REQ-P2O-012 … 018): the first plan, exact or by
 * the whitespace rule; else asked again, twice at most; else the first valid plan of any answer, the latest
 * answer first; else `skipped`.
 *
 * @throws PayloadError without a summary; AgentError where the first answer cannot be used or a call failed.
 */
export async function extractBlock(payload: ExtractPayload, work: Work): Promise<ExtractResult> {
  const { solution, summary, previousBlocks } = payload;
  if (summary === undefined) {
    throw new PayloadError('invalid-payload', 'extract: summary: is missing', { field: 'summary' });
  }
  const meter = new UsageMeter();
  const given: GivenAnswer[] = [];
  const notes: string[] = [];
  let asks = 0;
  for (let attempt = 1; attempt <= MAX_ASKS; attempt += 1) {
    work.progress(attempt === 1 ? 'extracting' : `asking again ${attempt - 1}/${MAX_ASKS - 1}`);
    asks = attempt;
    const rejected = given.at(-1)?.answer.output.plans[0]?.code_block;
    const answer = await ask(payload, summary, attempt, rejected, meter, work).catch((thrown: unknown) => {
      // The first answer may hold a valid plan further down: an unusable second answer does not spoil it.
      if (given.length === 0 || !(thrown instanceof AgentError) || thrown.retryable) throw thrown;
      notes.push(`answer ${attempt} could not be used: ${thrown.message}`);
      return undefined;
    });
    if (answer === undefined) break;
    const current = { answer, located: await locatePlans(answer.output.plans, solution.content) };
    given.push(current);
    const plan = primaryPlan(current.located, previousBlocks);
    if (plan !== undefined) return result(payload, asks, current, plan, meter, notes, work);
    work.log.warn(`the block of the first plan of answer ${attempt} is not in the solution`);
  }
  const fallback = fallbackPlan(given);
  const chosen = fallback?.answer ?? given.at(-1);
  if (chosen === undefined) throw new InternalError('no answer was asked for');
  return result(payload, asks, chosen, fallback?.plan, meter, notes, work);
}

async function ask(
  { solution, previousBlocks, workspace, model }: ExtractPayload,
  summary: string,
  attempt: number,
  rejected: string | undefined,
  meter: UsageMeter,
  work: Work,
): Promise<AgentAnswer<ExtractorOutput>> {
  return meter.count(
    work.runner.ask(
      {
        agent: new AgentConfig({ agentType: AgentType.extractor }),
        variables: {
          solution_script: solution.content,
          ablation_summary: summary,
          previous_code_blocks: previousBlocks,
        },
        schema: ExtractorOutputSchema,
        step: `extract-${attempt}`,
        ...(rejected === undefined ? {} : { addition: reAsk(rejected) }),
        ...(workspace === undefined ? {} : { workspace }),
        ...(model === undefined ? {} : { model }),
      },
      work,
    ),
  );
}

/** What is added to the question when it is asked again (REQ-P2O-018.2). */
function reAsk(rejectedBlock: string): string {
  return PromptRegistry.render('extractor', 're-ask', { code_block: rejectedBlock });
}

/** Whoever refines the whole solution has no part of it that stays as it was. */
function wholeScriptNotes(content: string, plan: ValidPlan | undefined): string[] {
  return plan !== undefined && plan.located.text.trim() === content.trim()
    ? ['the block is the whole solution']
    : [];
}

function result(
  { solution }: ExtractPayload,
  attempts: number,
  { answer, located }: GivenAnswer,
  plan: ValidPlan | undefined,
  meter: UsageMeter,
  notes: readonly string[],
  work: Work,
): ExtractResult {
  return {
    ...(plan === undefined
      ? { outcome: 'skipped' }
      : {
          outcome: 'selected',
          codeBlock: plan.located.text,
          plan: plan.plan,
          matched: plan.located.matched,
          planIndex: plan.index,
        }),
    attempts,
    plans: answer.output.plans.map(({ code_block, plan: text }, index) => ({
      codeBlock: located[index]?.located.text ?? code_block,
      plan: text,
      valid: located[index] !== null,
    })),
    solutionDigest: digestOf(solution.content),
    usage: meter.total,
    agent: agentStamp(work.runner, answer),
    ...withNotes([...(answer.notes ?? []), ...notes, ...wholeScriptNotes(solution.content, plan)]),
  };
}
