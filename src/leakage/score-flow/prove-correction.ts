import { analyzeInDetail } from '../analyze.js';
import type { Module } from '../syntax/ast.js';
import { parseModule } from '../syntax/parse-module.js';
import { withinWorkLimit } from '../values/work.js';
import { changedCalls } from './changed-calls.js';
import { changedStatements, type LeakSites } from './changed-statements.js';
import { flowDifferences, flowOf } from './compare-flows.js';
import type { Difference } from './compare-tables.js';
import { lostConstants } from './lost-constants.js';
import { toleranceFor } from './tolerance.js';

/**
 * Whether a correction changes only where something is learned: shown for certain, refuted, or neither, with what
 * could not be shown.
 */
export type CorrectionProof =
  | { readonly outcome: 'proven' }
  | { readonly outcome: 'contradicted'; readonly problem: string }
  | { readonly outcome: 'not-provable'; readonly unknown: string };

/** Elements that the comparison may visit, whatever the script, and for each node of its syntax. */
const MAX_WORK = 2_000_000;
const WORK_PER_NODE = 100;

/**
 * Compares what reaches the scores of a script before and after a correction: the rows and columns that the model is
 * trained on and scored on, the steps that they went through, the model, and how the score is computed. Values are compared,
 * not texts: a pipeline, a function or another name for the same steps is no difference.
 *
 * @param kinds The kinds of the leaks that are corrected. Each may change something else: a leak of copied rows the rows of
 *   the training, but no step. None: little is compared.
 */
export async function proveCorrection(
  before: string,
  after: string,
  kinds: readonly string[],
): Promise<CorrectionProof> {
  const [was, is] = [await parseModule(before), await parseModule(after)];
  const leaks = (await analyzeInDetail(before)).leaks.filter(({ kind }) => kinds.includes(kind));
  const sites: LeakSites = {
    computations: leaks.flatMap(({ nodes, scoredBy }) => [
      ...nodes,
      ...(scoredBy === undefined ? [] : [scoredBy]),
    ]),
    splits: leaks.flatMap(({ split }) => (split === undefined ? [] : [split.node])),
  };
  const most = MAX_WORK + (was.size + is.size) * WORK_PER_NODE;
  const { result } = withinWorkLimit(most, () => differencesOf(was, is, kinds, sites));
  if (result === undefined)
    return { outcome: 'not-provable', unknown: 'comparing the scripts takes too much work' };
  const certain = result.find(({ isCertain }) => isCertain);
  if (certain !== undefined) return { outcome: 'contradicted', problem: certain.what };
  const [first] = result;
  return first === undefined ? { outcome: 'proven' } : { outcome: 'not-provable', unknown: first.what };
}

function differencesOf(was: Module, is: Module, kinds: readonly string[], sites: LeakSites): Difference[] {
  return [
    ...flowDifferences(flowOf(was), flowOf(is), toleranceFor(kinds)),
    ...lostConstants(was, is),
    ...changedStatements(was, is, sites),
    ...changedCalls(was, is, sites),
    ...otherPast(kinds),
  ];
}

/** Values of the future are replaced by others of the past: by which ones is a decision, a lag as much as a length. */
function otherPast(kinds: readonly string[]): Difference[] {
  const what = 'which past values replace those of the future is not compared';
  return kinds.includes('future-values') ? [{ what, isCertain: false }] : [];
}
