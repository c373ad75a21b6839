import { analyzeInDetail, type DetailedAnalysis } from '../analyze.js';
import type { Leak } from '../findings/find-leaks.js';
import type { Span, Stmt } from '../syntax/ast.js';
import { WorkAllowance, WorkLimitError } from '../values/work.js';
import { checkRewrite } from './check/check-rewrite.js';
import { chooseOnTrainingPart } from './choice/choose-on-training-part.js';
import { leaveOutScoredRows } from './concatenation.js';
import { type RepairContext, type Rewrite, statementsOf } from './context.js';
import { stopOnHeldOutTrainingRows } from './early-stopping.js';
import { onlyFoldLoop } from './folds/fold-loop.js';
import { prepareInEachFold } from './folds/prepare-in-each-fold.js';
import { findSplit, moveAfterSplit } from './move/move-after-split.js';
import { sampleTrainingRows } from './over-sampling.js';
import { fitOnRowsPickedOnce } from './picked-once.js';
import { fitOnPickedRows } from './picked-rows.js';
import { fitInsideFolds } from './pipeline.js';
import { anchorOf, learnOnRowsOfLaterSplit } from './rows-first/learn-on-later-split.js';
import { learnOnceForTables } from './rows-first/tables-in-turn.js';
import { tolerateUnknown } from './tolerate-unknown.js';
import { learnFromTrainingPart } from './training-part.js';
import { onlyTransform } from './transform-only.js';

/** The text that takes the place of exactly the block, or why there is no certain one. */
export type Repair =
  | { readonly ok: true; readonly replacement: string }
  | { readonly ok: false; readonly reason: string };

/** Elements that a repair may visit, whatever the script, and for each node of its syntax. */
const MAX_WORK = 2_000_000;
const WORK_PER_NODE = 100;

type Strategy = (context: RepairContext) => Rewrite | Promise<Rewrite>;

const STRATEGIES: Readonly<Record<string, readonly Strategy[]>> = {
  'training-rows': [learnFromTrainingPart, leaveOutScoredRows, learnOnRowsOfLaterSplit],
  stacking: [learnFromTrainingPart, chooseOnTrainingPart],
  'over-sampling': [sampleTrainingRows],
  'early-stopping': [stopOnHeldOutTrainingRows],
  selection: [chooseOnTrainingPart],
};
/** Kinds whose repair is a decision about the experiment, which a rewrite must not take. */
const DECISIONS: Readonly<Record<string, string>> = {
  'group-overlap': 'how to divide the groups is a decision about the experiment',
  'shuffled-time': 'how to divide the time is a decision about the experiment',
  'label-in-features': 'which columns are features is a decision about the experiment',
  'future-values': 'which past values take the place of the future ones is a decision about the experiment',
};
const OTHERWISE: readonly Strategy[] = [
  moveAfterSplit,
  leaveOutScoredRows,
  fitOnPickedRows,
  fitOnRowsPickedOnce,
  fitInsideFolds,
  onlyTransform,
  learnOnRowsOfLaterSplit,
  learnOnceForTables,
  prepareInEachFold,
];

/**
 * Rewrites a leaky block where the rewrite is certain: a fit moves after the split and is applied to every
 * part, a model is trained on the training part, over-sampling keeps to training rows. The result is analyzed
 * again: it parses, and the leaks of the block are gone. Otherwise it declines with the reason.
 */
export async function repairLeak(source: string, codeBlock: string): Promise<Repair> {
  const { repair } = await repairInDetail(source, codeBlock);
  return repair;
}

/** The repair, with the elements of the script that it visited beside those of its analyses. */
export async function repairInDetail(
  source: string,
  codeBlock: string,
): Promise<{ readonly repair: Repair; readonly work: number }> {
  const start = codeBlock === '' ? -1 : source.indexOf(codeBlock);
  if (start < 0) return { repair: { ok: false, reason: 'The block is not in the script.' }, work: 0 };
  const analysis = await analyzeInDetail(source);
  const work = new WorkAllowance(MAX_WORK + analysis.module.size * WORK_PER_NODE);
  const plain = contextOf(analysis, { start, end: start + codeBlock.length }, work);
  try {
    return { repair: await repairWithin(plain), work: work.spent };
  } catch (thrown) {
    if (!(thrown instanceof WorkLimitError)) throw thrown;
    const reason = 'Not rewritten: looking for a certain rewrite takes too much work in this script.';
    return { repair: { ok: false, reason }, work: work.spent };
  }
}

/** @param plain the context as far as it is known without looking at variables */
async function repairWithin(plain: RepairContext): Promise<Repair> {
  const { source, block, work } = plain;
  // Variables are looked at where the rows are divided: at the split, or at the loop over folds.
  const { split, earlier } = work.run(() => {
    const loop =
      onlyFoldLoop(statementsOf(plain))?.statement ??
      statementsOf(plain).find((statement) => statement.type === 'for');
    const divides = findSplit(plain)?.statement ?? loop ?? splitAfter(plain) ?? plain.leaks[0]?.statement;
    return { split: divides?.start, earlier: anchorOf(plain)?.start };
  });
  const analysis = await analyzeInDetail(source, split, earlier);
  const context = contextOf(analysis, block, work);
  const [first] = context.leaks;
  if (first === undefined)
    return { ok: false, reason: 'The analysis finds no leak that begins in this block.' };
  const decision = DECISIONS[first.kind];
  const reasons: string[] = decision === undefined ? [] : [decision];
  for (const strategy of decision === undefined ? strategiesFor(first) : []) {
    const rewrite = await work.run(() => strategy(context));
    if ('declined' in rewrite) {
      reasons.push(rewrite.declined);
      continue;
    }
    const text = await tolerateUnknown(context, rewrite.text);
    const problem = await checkRewrite(context, analysis, text);
    if (problem === undefined) return { ok: true, replacement: text };
    reasons.push(problem);
  }
  const [reason = 'no certain rewrite is known for this kind of leak'] = reasons;
  return { ok: false, reason: `Not rewritten: ${reason}.` };
}

/** The ways to try, the likeliest first: its reason is given where none is certain. */
function strategiesFor({ kind, split, statement }: Leak): readonly Strategy[] {
  const known = STRATEGIES[kind];
  if (known !== undefined) return known;
  const isAfter = split !== undefined && split.statement.end <= statement.start;
  return isAfter
    ? [learnFromTrainingPart, onlyTransform, leaveOutScoredRows, fitOnPickedRows, learnOnceForTables]
    : OTHERWISE;
}

/** The split of a leak, where it comes after the block. */
function splitAfter({ leaks, block }: RepairContext): Stmt | undefined {
  const statement = leaks[0]?.split?.statement;
  return statement !== undefined && statement.start >= block.end ? statement : undefined;
}

function contextOf(analysis: DetailedAnalysis, block: Span, work: WorkAllowance): RepairContext {
  const { module, watched, watchedEarlier, watchedLists, watchedFrames } = analysis;
  const { source } = module;
  const leaks = analysis.leaks.filter(
    ({ statement }) => statement.start >= block.start && statement.end <= block.end,
  );
  const lineEnding = source.includes('\r\n') ? '\r\n' : '\n';
  return {
    source,
    module,
    block,
    leaks,
    watched,
    watchedEarlier,
    watchedLists,
    watchedFrames,
    work,
    lineEnding,
  };
}
