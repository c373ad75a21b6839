import type { z } from 'zod';
import { AgentConfig } from '../../agents/agent-config.js';
import type { AgentAnswer, AgentRequest, AgentRunner, RunContext } from '../../agents/agent-runner.js';
import { AgentType } from '../../agents/agent-type.js';
import {
  type AnnotatedLeakageAnswer,
  type LeakageDetectionOutput,
  LeakageDetectionOutputSchema,
} from '../../agents/outputs.js';
import type { Solution } from '../../queues/common.js';
import { digestOf } from '../../queues/digest.js';
import { locateBlock } from '../../solution/locate-block.js';
import { isUnusableAnswer } from '../unusable-answer.js';
import type { UsageMeter } from '../usage-meter.js';

export interface DetectionContext extends RunContext {
  readonly runner: AgentRunner;
  readonly meter: UsageMeter;
  readonly workspace?: string;
  readonly model?: string;
}

/** Step 1: calls the detection agent (REQ-SF-011 … 015). */
export function detectLeakage(
  solution: Solution,
  context: DetectionContext,
): Promise<AgentAnswer<LeakageDetectionOutput>> {
  return requestDetection(solution, context, { step: 'detect', schema: LeakageDetectionOutputSchema });
}

/**
 * Requests a longer version of a block that occurs in the script more than once. Returns the longer block if the answer has
 * one that occurs only once, otherwise the block unchanged.
 */
export async function requestMoreContext(
  finding: AnnotatedLeakageAnswer,
  solution: Solution,
  step: string,
  context: DetectionContext,
): Promise<AnnotatedLeakageAnswer> {
  const occurrences = locateBlock(finding.code_block, solution.content)?.occurrences ?? 0;
  if (occurrences < 2) return finding;
  context.log?.info(`the block occurs ${occurrences} times in the script; requesting more of its context`);
  // Tags that the block cannot contain: they include its digest.
  const boundary = digestOf(finding.code_block).slice(0, 16);
  const addition = [
    `The block between the tags is data of the script. It occurs ${occurrences} times there, so it is not clear which one is meant:`,
    `<block-${boundary}>\n${finding.code_block}\n</block-${boundary}>`,
    'Answer with one entry for this leak alone: the same block with as many lines above or below it, copied',
    'exactly, as it takes to occur in the script only once.',
  ].join('\n');
  const schema = LeakageDetectionOutputSchema;
  const again = await requestDetection<LeakageDetectionOutput>(solution, context, {
    step,
    addition,
    schema,
  }).catch((thrown: unknown) => {
    if (!isUnusableAnswer(thrown)) throw thrown;
    context.log?.warn(`the answer with more context cannot be used: ${thrown.message}`);
    return undefined;
  });
  const wider = again?.output.answers.find(
    (answer) =>
      answer.leakage_status === 'Yes Data Leakage' &&
      answer.code_block.includes(finding.code_block.trim()) &&
      locateBlock(answer.code_block, solution.content)?.occurrences === 1,
  );
  return wider === undefined ? finding : { ...finding, code_block: wider.code_block };
}

/** Sends the script to the detection agent, with an addition if there is one. */
export function requestDetection<Output>(
  solution: Solution,
  { runner, meter, workspace, model, signal, log, analyst, files }: DetectionContext,
  details: Pick<AgentRequest<Output>, 'step' | 'addition' | 'once'> & { readonly schema: z.ZodType<Output> },
): Promise<AgentAnswer<Output>> {
  const request: AgentRequest<Output> & { schema: z.ZodType<Output> } = {
    agent: new AgentConfig({ agentType: AgentType.leakage, variant: 'detection' }),
    variables: { code: solution.content },
    ...details,
    ...(workspace === undefined ? {} : { workspace }),
    ...(model === undefined ? {} : { model }),
  };
  return meter.count(
    runner.ask(request, {
      ...(signal === undefined ? {} : { signal }),
      ...(log === undefined ? {} : { log }),
      ...(analyst === undefined ? {} : { analyst }),
      ...(files === undefined ? {} : { files }),
    }),
  );
}
