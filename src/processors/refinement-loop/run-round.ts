import { PayloadError } from '../../errors.js';
import type { Solution } from '../../queues/common.js';
import type { JobFailure } from '../../queues/failure.js';
import type { RefinementLoopPayload, RefinementRound } from '../../queues/refinement-loop.js';
import {
  type NewBlockAnswer,
  NewBlockAnswerSchema,
  type NewBlockRequest,
  ScoreAnswerSchema,
} from '../../queues/refinement-requests.js';
import type { SolutionCheckResult } from '../../queues/solution-check.js';
import { replaceBlock } from '../../solution/locate-block.js';
import type { EvaluationOutcome, Work } from '../processor.js';

/** The block to refine, and the plan for the first round. */
export interface ChosenBlock {
  readonly codeBlock: string;
  readonly plan: string;
}

/** A script with its score. */
export interface Candidate {
  readonly solution: Solution;
  readonly score: number;
}

/** The loop before a round. */
export interface LoopState {
  readonly payload: RefinementLoopPayload;
  readonly chosen: ChosenBlock & { readonly summary: string };
  readonly best: Candidate;
  readonly rounds: readonly RefinementRound[];
  /** The given script, then those of the earlier rounds; undefined for a round without a script. */
  readonly contents: readonly (string | undefined)[];
}

/** A round, with its script and, if it has a score, the script that its check left. */
interface DoneRound {
  readonly round: RefinementRound;
  readonly content?: string;
  readonly candidate?: Candidate;
}

/** Maximum length of a reason that is passed to the next round, in characters. */
const MAX_REASON_LENGTH = 2_000;

/**
 * One round: the pipeline rewrites the block, the new script is checked and then evaluated. Whatever fails makes it a round
 * without gain, with the reason.
 */
export async function runRound(state: LoopState, work: Work): Promise<DoneRound | 'nothing-to-try'> {
  const { payload, chosen, best, rounds, contents } = state;
  const round = rounds.length + 1;
  const requested = await requestBlock(state, round, work);
  const jobs = { newBlock: work.jobs.ids.get(`new-block-${round}`) ?? '' };
  const failed = { round, plan: chosen.plan, gain: false, jobs };
  if ('reason' in requested) return { round: { ...failed, reason: cut(requested.reason) } };
  const { codeBlock, plan = chosen.plan } = requested;
  if (codeBlock === null) return 'nothing-to-try';

  const { content } = replaceBlock(payload.solution, chosen.codeBlock, codeBlock);
  const proposed = { ...failed, plan, codeBlock };
  const unusable = reasonAgainst(content, contents);
  if (unusable !== undefined) return { content, round: { ...proposed, reason: unusable } };

  const outcome = await evaluate(payload, round, { content }, work);
  if ('reason' in outcome) return { content, round: { ...proposed, reason: cut(outcome.reason) } };
  const { check } = outcome;
  const evaluated = {
    ...proposed,
    jobs: { ...jobs, evaluation: work.jobs.ids.get(`evaluation-${round}`) ?? '' },
    ...(check && ofCheck(check)),
  };
  if ('failure' in outcome) return { content, round: { ...evaluated, reason: cut(outcome.failure.message) } };
  const score = scoreOf(outcome.returned, payload.evaluation.queue);
  if ('reason' in score) return { content, round: { ...evaluated, reason: score.reason } };
  const gain = payload.direction === 'higher' ? score.score > best.score : score.score < best.score;
  const candidate = { solution: outcome.check.solution, ...score };
  return { content, candidate, round: { ...evaluated, ...score, gain } };
}

/** What a round tells of its check. */
function ofCheck({ status, usage, findings }: SolutionCheckResult): Partial<RefinementRound> {
  const leaks = findings.filter(({ outcome }) => outcome !== 'no-leakage');
  return { check: status, usage, ...(leaks.length === 0 ? {} : { findings: leaks }) };
}

/** Why a new script is not worth a check. @param contents The given script, then those of the earlier rounds. */
function reasonAgainst(content: string, contents: LoopState['contents']): string | undefined {
  if (content.trim() === '') return 'nothing is left of the script';
  const earlier = contents.indexOf(content);
  if (earlier < 0) return undefined;
  const same = earlier === 0 ? 'the block is unchanged' : `it is the script of round ${earlier}`;
  return `${same}, so it was not evaluated again`;
}

/** What a step gives instead of a result. */
interface WithoutResult {
  readonly reason: string;
}

/** Asks the pipeline for the new text of the block. The earlier plans and their scores go with the request. */
async function requestBlock(
  { payload, chosen, rounds }: LoopState,
  round: number,
  work: Work,
): Promise<NewBlockAnswer | WithoutResult> {
  const { solution, score, direction, newBlock } = payload;
  const request: NewBlockRequest = {
    ...newBlock.data,
    request: 'new-block',
    round,
    rounds: payload.rounds,
    solution,
    codeBlock: chosen.codeBlock,
    plan: chosen.plan,
    summary: chosen.summary,
    score,
    direction,
    tried: rounds.map(({ plan, score: reached = null, gain, reason }) => ({
      plan,
      score: reached,
      gain,
      ...(reason === undefined ? {} : { reason }),
    })),
  };
  const answer = await work.jobs.childIn(newBlock.queue, request, {
    name: `new-block-${round}`,
    onFailure: (failure) => new ChildFailed(failure),
    ...(newBlock.attempts === undefined ? {} : { attempts: newBlock.attempts }),
  });
  if (answer instanceof ChildFailed) return { reason: `there is no new block: ${answer.failure.message}` };
  const expected = '{"codeBlock": the new text, or null}';
  return NewBlockAnswerSchema.safeParse(answer).data ?? invalidAnswer(newBlock.queue, answer, expected);
}

/** Distinguishes a failure from anything that a pipeline's worker returns. */
class ChildFailed {
  constructor(readonly failure: JobFailure) {}
}

/** Has the new script checked, and evaluated if it may be (REQ-SF-022). */
async function evaluate(
  payload: RefinementLoopPayload,
  round: number,
  solution: Solution,
  work: Work,
): Promise<EvaluationOutcome | WithoutResult> {
  const { evaluation, verify, trial, workspace, model, contamination, require, allowUnjudged } = payload;
  // A leak makes the score better, so a loop that takes the best score must not evaluate it.
  const { onUncorrected = require?.leakage === undefined ? 'refuse' : undefined } = payload;
  const optional = {
    attempts: evaluation.attempts,
    verify,
    trial,
    workspace,
    model,
    contamination,
    require,
    allowUnjudged,
    onUncorrected,
  };
  const data = { ...evaluation.data, round };
  try {
    return await work.jobs.evaluation(
      { solution, queue: evaluation.queue, data, ...defined(optional) },
      { name: `evaluation-${round}` },
    );
  } catch (thrown) {
    // Nothing was started: the new block makes the script too long.
    if (!(thrown instanceof PayloadError) || thrown.code !== 'payload-too-large') throw thrown;
    return { reason: thrown.message };
  }
}

function scoreOf(returned: unknown, queue: string): { readonly score: number } | WithoutResult {
  const { data: score } = ScoreAnswerSchema.safeParse(returned);
  return score === undefined ? invalidAnswer(queue, returned, '{"score": a number}') : { score };
}

function invalidAnswer(queue: string, answer: unknown, expected: string): WithoutResult {
  const shown = JSON.stringify(answer)?.slice(0, 200);
  return { reason: `the worker of queue "${queue}" returned ${shown} instead of ${expected}` };
}

/** An object without its fields that are undefined. */
function defined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

function cut(reason: string): string {
  return reason.length <= MAX_REASON_LENGTH ? reason : `${reason.slice(0, MAX_REASON_LENGTH)}…`;
}
