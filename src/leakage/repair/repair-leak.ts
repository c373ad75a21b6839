import { analyzeInDetail, type DetailedAnalysis } from '../analyze.js';
import { ownBlock, reportedBlock, sharedBlocks } from '../findings/block.js';
import type { Leak } from '../findings/find-leaks.js';
import type { Module, Span, Stmt } from '../syntax/ast.js';
import { parseModule } from '../syntax/parse-module.js';
import { namesIn } from '../syntax/walk.js';
import { WorkAllowance, WorkLimitError } from '../values/work.js';
import { checkRewrite } from './check/check-rewrite.js';
import { learnsBesides, tablesBesides } from './check/other-tables.js';
import { statementsInBlock } from './check/script-change.js';
import { openLookups, strictEncoders } from './check/unknown-values.js';
import { chooseOnOtherRows } from './choice/choose-on-other-rows.js';
import { chooseOnTrainingPart } from './choice/choose-on-training-part.js';
import { withTrueComment } from './comments-above.js';
import { leaveOutScoredRows } from './concatenation.js';
import {
  declined,
  edited,
  type RepairContext,
  type Rewrite,
  statementsOf,
  type TextEdit,
} from './context.js';
import { copyInFolds } from './copies/copy-in-folds.js';
import { divideBeforeCopying } from './copies/divide-before-copying.js';
import { stopOnHeldOutTrainingRows } from './early-stopping.js';
import { mendAndDivideInOrder, mendExperiment } from './experiment/mend-experiment.js';
import { onlyFoldLoop, trainingIndex } from './folds/fold-loop.js';
import { makeModelInEachFold } from './folds/model-in-each-fold.js';
import { prepareInEachFold } from './folds/prepare-in-each-fold.js';
import { prepareInValidation } from './folds/prepare-in-validation.js';
import { inlinedScripts } from './inline/inlined-scripts.js';
import { changedLines, sameLeak } from './inline/same-leak.js';
import { asTheyAre, atTheirCalls, type Lift } from './leaks-at-calls.js';
import { findSplit, moveAfterSplit } from './move/move-after-split.js';
import { sampleTrainingRows } from './over-sampling.js';
import { fitOnPickedRows, fitOnRowsPickedOnce } from './picked-rows.js';
import { learnOnFirstRows } from './rows-first/learn-on-first-rows.js';
import { learnOnRowsOfLaterCondition } from './rows-first/learn-on-later-condition.js';
import { anchorOf, learnOnRowsOfLaterSplit } from './rows-first/learn-on-later-split.js';
import { learnOnceForTables } from './rows-first/tables-in-turn.js';
import { readSplitCall } from './split-parts.js';
import { type Tidied, tidied } from './tidy/tidy.js';
import { learnFromTrainingPart } from './training-part.js';
import { fitInValidations } from './validated/fit-in-validations.js';

/** The text that replaces a block, or why there is no certain one. */
export type Repair =
  | {
      readonly ok: true;
      readonly replacement: string;
      /** What is replaced: exactly the block that was asked for, or other lines of the script if the leak is mended there. */
      readonly codeBlock: string;
    }
  | { readonly ok: false; readonly reason: string };

/** Elements that a repair may visit, whatever the script, and for each node of its syntax. */
const MAX_WORK = 2_000_000;
const WORK_PER_NODE = 100;

const SPLIT_NOT_FOUND = 'the split is not in the block';
/** Why a way to rewrite is not one for this script at all. */
const OF_OTHER_SCRIPTS =
  /the split is not in the block|no loop over folds|no cross-validation|no concatenation|no loop over tables|no division of|does not give one table|is not one assignment|no line in the block|takes more than the rows|holds another fit|are more than the scored part|are the first ones is not clear|by its first and its last rows|takes more than rows and labels|several fits would have to go into the loop$|not divided by a condition/;

type Strategy = (context: RepairContext) => Rewrite | Promise<Rewrite>;

const STRATEGIES: Readonly<Record<string, readonly Strategy[]>> = {
  'training-rows': [learnFromTrainingPart, leaveOutScoredRows, learnOnRowsOfLaterSplit, makeModelInEachFold],
  stacking: [learnFromTrainingPart, chooseOnTrainingPart],
  'over-sampling': [sampleTrainingRows, divideBeforeCopying, copyInFolds, fitInValidations],
  'duplicated-rows': [divideBeforeCopying, copyInFolds],
  'early-stopping': [stopOnHeldOutTrainingRows],
  selection: [chooseOnOtherRows],
  'group-overlap': [mendExperiment],
  'shuffled-time': [mendExperiment],
  'label-in-features': [mendExperiment, mendAndDivideInOrder],
  'future-values': [mendExperiment, mendAndDivideInOrder],
};
const OTHERWISE: readonly Strategy[] = [
  moveAfterSplit,
  leaveOutScoredRows,
  fitOnPickedRows,
  fitOnRowsPickedOnce,
  fitInValidations,
  onlyTransform,
  learnOnRowsOfLaterSplit,
  learnOnRowsOfLaterCondition,
  learnOnFirstRows,
  learnOnceForTables,
  prepareInEachFold,
  prepareInValidation,
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
  const start = codeBlock === '' ? -1 : offsetOf(codeBlock, source);
  if (start < 0) return { repair: { ok: false, reason: 'The block is not in the script.' }, work: 0 };
  const analysis = await analyzeInDetail(source);
  const work = new WorkAllowance(MAX_WORK + analysis.module.size * WORK_PER_NODE);
  const block = { start, end: start + codeBlock.length };
  try {
    const plain = contextOf(analysis, whereItIs(analysis, block) ?? block, work);
    const repair = await repairWithin(plain, asTheyAre);
    if (repair.ok) return { repair, work: work.spent };
    let last: Repair = repair;
    for (const calls of atTheirCalls(source, plain)) {
      last = await repairWithin(contextOf(analysis, calls.block, work, calls.lift), calls.lift);
      if (last.ok) return { repair: last, work: work.spent };
    }
    const inlined = await repairInlined(analysis, plain);
    if (inlined !== undefined) return { repair: inlined, work: work.spent };
    // Beside the split there is more to say than in a helper.
    return { repair: repair.reason.includes(SPLIT_NOT_FOUND) ? last : repair, work: work.spent };
  } catch (thrown) {
    if (!(thrown instanceof WorkLimitError)) throw thrown;
    const reason = 'Not rewritten: looking for a certain rewrite takes too much work in this script.';
    return { repair: { ok: false, reason }, work: work.spent };
  }
}

/** Mends a leak in the script with the functions inlined that part it from the division of its rows. */
async function repairInlined(analysis: DetailedAnalysis, plain: RepairContext): Promise<Repair | undefined> {
  const { source, leaks, work } = plain;
  const [leak] = leaks;
  if (leak === undefined) return undefined;
  for await (const inlined of inlinedScripts(analysis, leak, work)) {
    const after = await analyzeInDetail(inlined);
    const same = sameLeak(analysis, leak, after);
    if (same === undefined) continue;
    const shared = sharedBlocks(inlined, after.leaks)[after.leaks.indexOf(same)];
    for (const block of [shared, ownBlock(inlined, same)]) {
      if (block === undefined) continue;
      const repair = await repairWithin(contextOf(after, block, work), asTheyAre);
      if (!repair.ok) continue;
      const at = offsetOf(repair.codeBlock, inlined);
      const text = inlined.slice(0, at) + repair.replacement + inlined.slice(at + repair.codeBlock.length);
      return { ok: true, ...changedLines(source, text) };
    }
  }
  return undefined;
}

/** Where a leak is that is reported at another block: in a helper that the block calls, or where the folds of a splitter are taken. */
function whereItIs({ module: { source }, leaks }: DetailedAnalysis, block: Span): Span | undefined {
  const isBlock = ({ start, end }: Span): boolean => start === block.start && end === block.end;
  const reported = leaks.filter((leak) => isBlock(reportedBlock(source, leak)));
  const own = reported.map((leak) => ownBlock(source, leak));
  return own.some(isBlock) ? undefined : own[0];
}

/** Where a block is: whole lines if possible, not a part of a longer line that ends in the same text. */
function offsetOf(codeBlock: string, source: string): number {
  const first = source.indexOf(codeBlock);
  for (let at = first; at >= 0; at = source.indexOf(codeBlock, at + codeBlock.length)) {
    if (at === 0 || source[at - 1] === '\n') return at;
  }
  return first;
}

/**
 * @param plain the context as far as it is known without looking at variables
 * @param lift where each leak of the script is mended
 */
async function repairWithin(plain: RepairContext, lift: Lift): Promise<Repair> {
  const { source, block, work } = plain;
  // Variables are looked at where the rows are divided: at the split, or at the loop over folds.
  const { split, earlier } = work.run(() => {
    const loop =
      onlyFoldLoop(statementsOf(plain))?.statement ??
      foldsOf(plain) ??
      statementsOf(plain).find((statement) => statement.type === 'for');
    const divides =
      findSplit(plain)?.statement ??
      loop ??
      splitAfter(plain) ??
      nextSplit(plain) ??
      plain.leaks[0]?.statement;
    return { split: divides?.start, earlier: anchorOf(plain)?.start };
  });
  const analysis = await analyzeInDetail(source, split, earlier);
  const context = contextOf(analysis, block, work, lift);
  const [first] = context.leaks;
  if (first === undefined)
    return { ok: false, reason: 'The analysis finds no leak that begins in this block.' };
  const isInString = context.module.magicCalls.some(
    ({ start, end }) => start < block.end && block.start < end,
  );
  if (isInString) return { ok: false, reason: 'Not rewritten: the code is in the string of a magic.' };
  const reasons: string[] = [];
  for (const strategy of strategiesFor(first)) {
    const rewrite = await work.run(() => strategy(context));
    if ('declined' in rewrite) {
      reasons.push(rewrite.declined);
      continue;
    }
    const { block: replacedBlock = context.block, leaks = context.leaks } = rewrite;
    const replaced = { ...context, block: replacedBlock, leaks };
    const text = withTrueComment(replaced, await tolerateUnknown(replaced, rewrite.text));
    const problemOf = async (version: Tidied): Promise<string | undefined> => {
      const inBlock = { ...replaced, block: version.block };
      return (
        (await stillLearned(inBlock, version.text)) ?? (await checkRewrite(inBlock, analysis, version.text))
      );
    };
    const plain = { block: replaced.block, text };
    const problem = await problemOf(plain);
    if (problem === undefined) {
      const isOnlyLeak = analysis.leaks.length === leaks.length;
      const versions = tidied(context.module, plain, isOnlyLeak, work);
      const best = (await firstGood(versions, problemOf)) ?? plain;
      const codeBlock = source.slice(best.block.start, best.block.end);
      return { ok: true, replacement: best.text, codeBlock };
    }
    reasons.push(problem);
  }
  const [likeliest = 'no certain rewrite is known for this kind of leak'] = reasons;
  // Without a split to move after, another way may have come closer.
  const closer = reasons.find((one) => !OF_OTHER_SCRIPTS.test(one));
  const reason = likeliest.includes(SPLIT_NOT_FOUND) ? (closer ?? likeliest) : likeliest;
  return { ok: false, reason: `Not rewritten: ${reason}.` };
}

async function firstGood(
  versions: AsyncIterable<Tidied>,
  problemOf: (version: Tidied) => Promise<string | undefined>,
): Promise<Tidied | undefined> {
  for await (const version of versions) if ((await problemOf(version)) === undefined) return version;
  return undefined;
}

/** Why a rewrite would leave rows of another table in what is learned. */
async function stillLearned(context: RepairContext, text: string): Promise<string | undefined> {
  const { source, block, work } = context;
  const tables = work.run(() => tablesBesides(context));
  if (tables.size === 0) return undefined;
  const after = await parseModule(source.slice(0, block.start) + text + source.slice(block.end));
  const span = { start: block.start, end: block.start + text.length };
  return work.run(() => learnsBesides(context, tables, after, span));
}

/** The ways to try, the likeliest first: its reason is reported where none is certain. */
function strategiesFor({ kind, split, statement }: Leak): readonly Strategy[] {
  const known = STRATEGIES[kind];
  if (known !== undefined) return known;
  const isAfter = split !== undefined && split.statement.end <= statement.start;
  return isAfter
    ? [learnFromTrainingPart, onlyTransform, leaveOutScoredRows, fitOnPickedRows, learnOnceForTables]
    : OTHERWISE;
}

/** The loop over folds that divides the rows of a leak, wherever it is. */
function foldsOf({ leaks: [leak] }: RepairContext): Stmt | undefined {
  let statement = leak?.split?.statement;
  while (statement !== undefined && !(statement.type === 'for' && trainingIndex(statement) !== undefined))
    statement = statement.suite.owner;
  return statement;
}

/** The split of a leak, where it comes after the block. */
function splitAfter({ leaks, block }: RepairContext): Stmt | undefined {
  const statement = leaks[0]?.split?.statement;
  return statement !== undefined && statement.start >= block.end ? statement : undefined;
}

/** The next split in the suite of a leak, where the leak does not say what divides its rows. */
function nextSplit({ leaks: [leak] }: RepairContext): Stmt | undefined {
  return leak?.statement.suite.statements.find(
    (statement) => statement.start > leak.statement.start && readSplitCall(statement) !== undefined,
  );
}

function contextOf(
  analysis: DetailedAnalysis,
  block: Span,
  work: WorkAllowance,
  lift: Lift = asTheyAre,
): RepairContext {
  const { module, watched, watchedEarlier, watchedLists, watchedFrames } = analysis;
  const { source } = module;
  const all = analysis.leaks.map(lift);
  const isInBlock = ({ statement }: Leak): boolean =>
    statement.start >= block.start && statement.end <= block.end;
  const leaks = all.filter(isInBlock);
  const elsewhere = all.filter((leak) => !isInBlock(leak));
  const lineEnding = source.includes('\r\n') ? '\r\n' : '\n';
  return {
    source,
    module,
    block,
    leaks,
    elsewhere,
    watched,
    watchedEarlier,
    watchedLists,
    watchedFrames,
    work,
    lineEnding,
  };
}

/**
 * `scaler.fit_transform(X_val)` after the scaler was fitted on the training part: the validation part is only
 * transformed.
 */
function onlyTransform(context: RepairContext): Rewrite {
  const edits: TextEdit[] = [];
  for (const { node, rows } of context.leaks) {
    if (node.type !== 'call' || node.callee.type !== 'attribute' || node.callee.name !== 'fit_transform') {
      return declined('the block holds another fit');
    }
    const { object, end, name } = node.callee;
    const isTest = rows.every((region) => region.role === 'test');
    if (!isTest || object.type !== 'name')
      return declined('the rows of the fit are more than the scored part');
    const before = context.source.slice(0, node.start);
    const fitted = new RegExp(`(?<![\\w.])${object.id}\\s*\\.\\s*fit(_transform)?\\s*\\(`);
    if (!fitted.test(before)) return declined(`\`${object.id}\` is not fitted on the training part before`);
    edits.push({ start: end - name.length, end, text: 'transform' });
  }
  return edits.length === 0
    ? declined('no fit in this block')
    : { text: edited(context.source, context.block, edits) };
}

/**
 * The rewritten text of a block, changed to tolerate categories and groups that only the scored rows have. Encoders get
 * options in the call that makes them, or right before they are fitted if that call is above the block; values looked up by
 * group get the mean of the groups, or a count of zero.
 */
async function tolerateUnknown(context: RepairContext, text: string): Promise<string> {
  const { source, block } = context;
  const after = await parseModule(source.slice(0, block.start) + text + source.slice(block.end));
  return context.work.run(() => tolerant(context, text, after));
}

function tolerant(context: RepairContext, text: string, after: Module): string {
  const { module, block, leaks } = context;
  const span = { start: block.start, end: block.start + text.length };
  const version = { module: after, block: span };
  const change = { leaks, before: { module, block }, after: version };
  const edits: TextEdit[] = [];
  for (const { lookup, fallback } of openLookups(change)) {
    if (fallback !== undefined) edits.push({ start: lookup.end, end: lookup.end, text: fallback });
  }
  for (const { variable, constructed, isStep, tolerant } of strictEncoders(change)) {
    if (tolerant === undefined) continue;
    const options = Object.entries(tolerant).map(([name, value]) => `${name}=${value}`);
    if (constructed.start >= span.start && constructed.end <= span.end) {
      const last = constructed.args.at(-1)?.value.end ?? constructed.end - 1;
      const separator = constructed.args.length === 0 ? '' : ', ';
      edits.push({ start: last, end: last, text: separator + options.join(', ') });
    } else if (!isStep) {
      const first = [...statementsInBlock(version)].find((statement) => mentions(statement, variable));
      const indent = first === undefined ? undefined : indentBefore(after, first);
      if (first === undefined || indent === undefined) continue;
      const line = `${variable}.set_params(${options.join(', ')})${context.lineEnding}${indent}`;
      edits.push({ start: first.start, end: first.start, text: line });
    }
  }
  return edits.length === 0 ? text : edited(after.source, span, edits);
}

function mentions(statement: Stmt, variable: string): boolean {
  return [...namesIn(statement)].some(({ id }) => id === variable);
}

/** White space before a statement; nothing where it shares its line. */
function indentBefore(module: Module, { start }: Stmt): string | undefined {
  const indent = module.source.slice(module.source.lastIndexOf('\n', start - 1) + 1, start);
  return /\S/.test(indent) ? undefined : indent;
}
