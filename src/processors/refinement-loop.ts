import { MAX_PREVIOUS_BLOCKS, WITHOUT_SCORES } from '../queues/extract.js';
import type {
  RefinementLoopPayload,
  RefinementLoopResult,
  RefinementRound,
} from '../queues/refinement-loop.js';
import { addUsage, type Usage } from '../queues/usage.js';
import type { Processor, Work } from './processor.js';
import { type Candidate, type ChosenBlock, runRound } from './refinement-loop/run-round.js';

/** After so many rounds in a row without a better score the loop stops, unless the payload says otherwise. */
const MAX_ROUNDS_WITHOUT_GAIN = 2;

/**
 * The inner loop of MLE-STAR (Algorithm 2, from line 7 on): chooses a block by the ablation study, then replaces it in the same
 * script again and again, each time by another plan, and keeps the best script. All that costs something is a child job, so a
 * job that is run again pays for nothing twice.
 */
export const processRefinementLoop: Processor<'refinement-loop'> = async (payload, work) => {
  const { rounds: maxRounds, maxRoundsWithoutGain = MAX_ROUNDS_WITHOUT_GAIN } = payload;
  const chosen = await chooseBlock(payload, work);
  if (chosen.codeBlock === undefined) return skipped(payload, chosen, work);

  let best: Candidate = { solution: payload.solution, score: payload.score };
  let stopped: RefinementLoopResult['stopped'] = 'all-rounds';
  const rounds: RefinementRound[] = [];
  const contents: (string | undefined)[] = [payload.solution.content];
  for (let round = 1; round <= maxRounds; round += 1) {
    work.progress(`round ${round} of ${maxRounds}`);
    const done = await runRound({ payload, chosen, best, rounds, contents }, work);
    if (done === 'nothing-to-try') {
      stopped = 'no-new-block';
      break;
    }
    rounds.push(done.round);
    contents.push(done.content);
    if (done.candidate !== undefined && done.round.gain) best = done.candidate;
    if (
      rounds.length >= maxRoundsWithoutGain &&
      !rounds.slice(-maxRoundsWithoutGain).some(({ gain }) => gain)
    ) {
      stopped = round === maxRounds ? 'all-rounds' : 'no-gain';
      break;
    }
  }
  return result(payload, chosen, best, stopped, rounds, work);
};

interface Choice {
  readonly summary: string;
  readonly usage: Usage;
}

/** Summarizes the ablation study and chooses a block, or says why there is none. */
async function chooseBlock(
  { solution, ablationCode, rawOutput, previousBlocks, workspace, model }: RefinementLoopPayload,
  work: Work,
): Promise<Choice & (ChosenBlock | { readonly codeBlock?: undefined; readonly reason?: string })> {
  work.progress('summarizing');
  const withModel = model === undefined ? {} : { model };
  const summarized = await work.jobs.child(
    'summarize',
    { ablationCode, rawOutput, ...withModel },
    { name: 'summarize' },
  );
  const { summary } = summarized;
  if (summarized.withoutScores) return { summary, usage: summarized.usage, reason: WITHOUT_SCORES };
  work.progress('choosing a block');
  const extracted = await work.jobs.child(
    'extract',
    { solution, summary, previousBlocks, ...withModel, ...(workspace === undefined ? {} : { workspace }) },
    { name: 'extract' },
  );
  const { codeBlock, plan, reason } = extracted;
  const choice = { summary, usage: addUsage(summarized.usage, extracted.usage) };
  if (codeBlock === undefined || plan === undefined)
    return { ...choice, ...(reason === undefined ? {} : { reason }) };
  return { ...choice, codeBlock, plan };
}

function skipped(
  { solution, score, previousBlocks }: RefinementLoopPayload,
  { summary, usage, reason }: Choice & { readonly reason?: string },
  work: Work,
): RefinementLoopResult {
  return {
    outcome: 'skipped',
    solution,
    score,
    stopped: 'no-block',
    ...(reason === undefined ? {} : { reason }),
    summary,
    rounds: [],
    previousBlocks,
    jobs: choosingJobs(work),
    childUsage: usage,
  };
}

function result(
  { solution, previousBlocks }: RefinementLoopPayload,
  { summary, usage, codeBlock, plan }: Choice & ChosenBlock,
  best: Candidate,
  stopped: RefinementLoopResult['stopped'],
  rounds: RefinementRound[],
  work: Work,
): RefinementLoopResult {
  const refined = replacementOf(codeBlock, solution.content, best.solution.content);
  const blocks = [...previousBlocks, codeBlock, ...(refined === undefined ? [] : [refined])];
  return {
    outcome: rounds.some(({ gain }) => gain) ? 'improved' : 'unchanged',
    ...best,
    stopped,
    summary,
    codeBlock,
    plan,
    rounds,
    previousBlocks: blocks.slice(-MAX_PREVIOUS_BLOCKS),
    jobs: choosingJobs(work),
    childUsage: rounds.reduce((sum, round) => (round.usage ? addUsage(sum, round.usage) : sum), usage),
  };
}

function choosingJobs({ jobs: { ids } }: Work): RefinementLoopResult['jobs'] {
  const extract = ids.get('extract');
  return { summarize: ids.get('summarize') ?? '', ...(extract === undefined ? {} : { extract }) };
}

/** The text that replaced the block, unless nothing or more than the block was changed. */
function replacementOf(block: string, before: string, after: string): string | undefined {
  const start = before.indexOf(block);
  const [head, tail] = [before.slice(0, start), before.slice(start + block.length)];
  const isInside = after.startsWith(head) && after.endsWith(tail) && after.length > head.length + tail.length;
  const text = isInside ? after.slice(head.length, after.length - tail.length) : block;
  return text === block ? undefined : text;
}
