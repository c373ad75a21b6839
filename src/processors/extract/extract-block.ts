import { AgentConfig } from '../../agents/agent-config.js';
import type { AgentAnswer } from '../../agents/agent-runner.js';
import { AgentType } from '../../agents/agent-type.js';
import { type ExtractorOutput, ExtractorOutputSchema } from '../../agents/outputs.js';
import { PromptRegistry } from '../../agents/prompt-registry.js';
import { AgentError, InternalError, PayloadError } from '../../errors.js';
import { digestOf } from '../../queues/digest.js';
import { type ExtractPayload, type ExtractResult, WITHOUT_SCORES } from '../../queues/extract.js';
import { NO_USAGE } from '../../queues/usage.js';
import { agentProvenance, withNotes } from '../agent-provenance.js';
import type { LocalWork } from '../processor.js';
import { UsageMeter } from '../usage-meter.js';
import { fallbackPlan, locatePlans, primaryPlan, type ValidPlan } from './choose-plan.js';

/** The first request and two retries (REQ-P2O-018.2). */
const MAX_ATTEMPTS = 3;

interface LocatedAnswer {
  readonly answer: AgentAnswer<ExtractorOutput>;
  readonly located: readonly (ValidPlan | null)[];
}

const NO_BLOCK = 'no plan of any answer names a block of the solution';

/**
 * Picks the block with the most impact and the plan to refine it (REQ-P2O-012 … 018). Without a score in the ablation's
 * output it asks nothing and is `skipped`. Otherwise it takes the first plan, exact or by the whitespace rule; otherwise it retries, at most twice; otherwise the first valid plan of any answer, the latest answer
 * first; otherwise `skipped`.
 *
 * @throws PayloadError without a summary; AgentError if the first answer cannot be used or a call failed.
 */
export async function extractBlock(payload: ExtractPayload, work: LocalWork): Promise<ExtractResult> {
  const { solution, summary, withoutScores, previousBlocks } = payload;
  if (summary === undefined) {
    throw new PayloadError('invalid-payload', 'extract: summary: is missing', { field: 'summary' });
  }
  if (withoutScores) return skippedWithoutScores(payload, work);
  const meter = new UsageMeter();
  const answers: LocatedAnswer[] = [];
  const notes: string[] = [];
  let attempts = 0;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    work.progress(attempt === 1 ? 'extracting' : `retrying ${attempt - 1}/${MAX_ATTEMPTS - 1}`);
    attempts = attempt;
    const rejected = answers.at(-1)?.answer.output.plans[0]?.code_block;
    const answer = await requestPlans(payload, summary, attempt, rejected, meter, work).catch(
      (thrown: unknown) => {
        // The first answer may contain another valid plan: an unusable second answer does not discard it.
        if (answers.length === 0 || !(thrown instanceof AgentError) || thrown.retryable) throw thrown;
        notes.push(`answer ${attempt} could not be used: ${thrown.message}`);
        return undefined;
      },
    );
    if (answer === undefined) break;
    const current = { answer, located: await locatePlans(answer.output.plans, solution.content) };
    answers.push(current);
    const plan = primaryPlan(current.located, previousBlocks);
    if (plan !== undefined) return result(payload, attempts, current, plan, meter, notes, work);
    work.log.warn(`the block of the first plan of answer ${attempt} is not in the solution`);
    await answer.withdraw?.();
  }
  const fallback = fallbackPlan(answers);
  const chosen = fallback?.answer ?? answers.at(-1);
  if (chosen === undefined) throw new InternalError('no request was sent');
  return result(payload, attempts, chosen, fallback?.plan, meter, notes, work);
}

async function requestPlans(
  { solution, previousBlocks, workspace, model }: ExtractPayload,
  summary: string,
  attempt: number,
  rejected: string | undefined,
  meter: UsageMeter,
  work: LocalWork,
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
        ...(rejected === undefined ? {} : { addition: retryAddition(rejected) }),
        ...(workspace === undefined ? {} : { workspace }),
        ...(model === undefined ? {} : { model }),
      },
      work,
    ),
  );
}

/** The addition to the request for a retry (REQ-P2O-018.2). */
function retryAddition(rejectedBlock: string): string {
  return PromptRegistry.render('extractor', 're-ask', { code_block: rejectedBlock });
}

function skippedWithoutScores({ solution }: ExtractPayload, work: LocalWork): ExtractResult {
  work.log.warn(WITHOUT_SCORES);
  return {
    outcome: 'skipped',
    reason: WITHOUT_SCORES,
    attempts: 0,
    plans: [],
    solutionDigest: digestOf(solution.content),
    usage: NO_USAGE,
    agent: { runner: work.runner.name },
  };
}

/** A refinement of the whole solution leaves no part of it unchanged. */
function wholeScriptNotes(content: string, plan: ValidPlan | undefined): string[] {
  return plan !== undefined && plan.located.text.trim() === content.trim()
    ? ['the block is the whole solution']
    : [];
}

function result(
  { solution }: ExtractPayload,
  attempts: number,
  { answer, located }: LocatedAnswer,
  plan: ValidPlan | undefined,
  meter: UsageMeter,
  notes: readonly string[],
  work: LocalWork,
): ExtractResult {
  return {
    ...(plan === undefined
      ? { outcome: 'skipped', reason: NO_BLOCK }
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
    agent: agentProvenance(work.runner, answer),
    ...withNotes([...(answer.notes ?? []), ...notes, ...wholeScriptNotes(solution.content, plan)]),
  };
}
