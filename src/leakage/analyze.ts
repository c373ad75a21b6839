import { reportedBlock, sharedBlocks } from './findings/block.js';
import { coverageOf, type ScriptCoverage } from './findings/coverage.js';
import { findLeaks, type Leak } from './findings/find-leaks.js';
import { Interpreter, type NotFollowed } from './interpret/interpreter.js';
import { runMarimoCells } from './interpret/marimo.js';
import { ENGINE, runSuite } from './interpret/statements.js';
import type { Watched } from './interpret/watchpoints.js';
import { LEAK_KINDS, type LeakKind, type Severity } from './kinds.js';
import { LastResults } from './last-results.js';
import type { Module, Span } from './syntax/ast.js';
import { parseModule } from './syntax/parse-module.js';
import { withinWorkLimit } from './values/work.js';

/** Where a leak comes about, in UTF-16 offsets. */
interface LeakFlow {
  /** What is learned, computed or chosen. */
  readonly fit: Span;
  /** The statement that calls the helper function which holds `fit`, if one does. */
  readonly calledBy?: Span;
  /** What divides the scored rows from the others, if anything does. */
  readonly split?: Span;
  /** Where these rows are scored. */
  readonly score: Span;
}

/** One leak: which block, how it reaches the score, and what to do about it. */
export interface LeakFinding {
  readonly kind: LeakKind;
  readonly severity: Severity;
  /** Exact substring of the source: from the leak through the split that it has to move after. */
  readonly codeBlock: string;
  /** UTF-16 offsets of the block. */
  readonly start: number;
  readonly end: number;
  /** First and last line of the block, counted from 1. */
  readonly line: number;
  readonly endLine: number;
  readonly explanation: string;
  readonly whatToDo: string;
  /** UTF-16 offsets of the computations that leak, in the block. */
  readonly computations: readonly Span[];
  /** UTF-16 offsets of the block of this leak alone, where `codeBlock` is shared with others. */
  readonly ownBlock: Span;
  readonly flow: LeakFlow;
}

export interface LeakageAnalysis extends ScriptCoverage {
  /** In the order of the script. */
  readonly findings: LeakFinding[];
  /** Code that the analysis does not understand, and therefore does not report. */
  readonly notFollowed: NotFollowed[];
  /** True where the analysis gave up before it had found all: then no finding means nothing. */
  readonly exhausted: boolean;
  /** How many scores of predictions the script computes, as far as it was followed. */
  readonly scores: number;
  /** How many of them it prints. */
  readonly printedScores: number;
  /** False where the script has syntax errors; the rest of it is analyzed all the same. */
  readonly parsed: boolean;
}

export interface DetailedAnalysis extends LeakageAnalysis, Watched {
  readonly leaks: readonly Leak[];
  readonly module: Module;
  /** Statements and expressions that were run. */
  readonly steps: number;
  /** Elements of values that were built or visited. */
  readonly work: number;
  readonly unresolved: ReadonlySet<string>;
  readonly missingColumns: ReadonlySet<string>;
}

/**
 * Elements of values that an analysis may build or visit, whatever the script, and for each node of its syntax. The labeled
 * scripts and all others that were measured take less than a hundredth of it.
 */
const MAX_WORK = 10_000_000;
const WORK_PER_NODE = 100;

/** Many times what an honest script has. Each leak may cost a rewriting or two calls, and each block a part of the script. */
const MAX_FINDINGS = 50;

/** What an analysis retains grows with its work: those of entangled scripts are not cached. */
const MAX_CACHED_WORK = MAX_WORK / 100;

/** The last analyses: a check looks at the script, at each possible correction, and again at either in its next step. */
const analyzed = new LastResults<DetailedAnalysis>(4, ({ work }) => work <= MAX_CACHED_WORK);

/**
 * The analysis with the syntax tree that it is based on, for the repair. The last analyses are cached, and are the same object for
 * each caller: nobody changes one.
 *
 * @param watch where the statement begins before which the analysis notes what variables hold; none if negative
 * @param earlier the same for a second statement, before that one
 */
export function analyzeInDetail(source: string, watch = -1, earlier = -1): Promise<DetailedAnalysis> {
  return analyzed.of(`${watch} ${earlier} ${source}`, source, () => analyzeNow(source, watch, earlier));
}

async function analyzeNow(source: string, watch: number, earlier: number): Promise<DetailedAnalysis> {
  const module = await parseModule(source);
  const interp = new Interpreter(module, ENGINE, watch, earlier);
  const most = MAX_WORK + module.size * WORK_PER_NODE;
  const followed = withinWorkLimit(most, () => {
    runSuite(interp, module.body);
    runMarimoCells(interp);
    return true;
  });
  // Finding leaks has a limit of its own: what was found in a script that could not be followed to its end is shown as well.
  const detected = withinWorkLimit(most, () => {
    const found = findLeaks(interp);
    const leaks = mostSevere(found);
    return { leaks, blocks: sharedBlocks(source, leaks), isAll: leaks.length === found.length };
  });
  const isFollowed = !interp.exhausted && followed.result !== undefined && detected.result !== undefined;
  if (!isFollowed) interp.skip({ start: 0, end: 0 }, 'the script is too entangled to follow to its end');
  else if (!detected.result.isAll) {
    interp.skip(
      { start: 0, end: 0 },
      `the script has more than ${MAX_FINDINGS} leaks; the others are not listed`,
    );
  }
  nameUnfollowed(interp);
  const covered = coverageOf(interp, {
    isComplete: isFollowed,
    hasLeaks: detected.result !== undefined && detected.result.leaks.length > 0,
  });
  const exhausted = !isFollowed || !detected.result.isAll;
  const { leaks, blocks } = detected.result ?? { leaks: [], blocks: [] };
  const findings = leaks.map((leak, at): LeakFinding => {
    const block = blocks[at] ?? leak.statement;
    return {
      kind: leak.kind,
      severity: LEAK_KINDS[leak.kind].severity,
      codeBlock: source.slice(block.start, block.end),
      start: block.start,
      end: block.end,
      line: interp.lineOf(block.start),
      endLine: interp.lineOf(block.end),
      explanation: explain(leak, interp.lineOf),
      whatToDo: whatToDo(leak),
      computations: leak.nodes.map(spanOf),
      ownBlock: reportedBlock(source, leak),
      flow: flowOf(leak),
    };
  });
  // What a model says that learned nothing is not a prediction.
  const scored = interp.record.scored.flatMap(({ prediction, score }) =>
    prediction.training === undefined ? [] : [score],
  );
  const notFollowed = interp.notFollowed.sort((a, b) => a.line - b.line);
  const { steps, unresolved, missingColumns } = interp;
  return {
    findings,
    notFollowed,
    ...covered,
    exhausted,
    scores: new Set(scored).size,
    printedScores: new Set(scored.filter((score) => interp.record.isPrinted(score))).size,
    parsed: module.parsed,
    leaks,
    module,
    steps,
    work: followed.work + detected.work,
    unresolved,
    missingColumns,
    ...interp.watchpoints.found,
  };
}

/** Names what may hide a leak: code that was not read or not reached, and code that reaches things without their names. */
function nameUnfollowed(interp: Interpreter): void {
  const { landmarks, unread } = interp.module;
  for (const span of unread) interp.skip(span, 'code that is nested too deeply');
  for (const span of landmarks.trainings) {
    if (!interp.reachedCalls.has(span.end)) interp.skip(span, 'a call that trains and was not reached');
  }
  for (const { reason, ...span } of landmarks.hidden) interp.skip(span, reason);
}

/** The leaks that are listed, in the order of the script. */
function mostSevere(found: readonly Leak[]): readonly Leak[] {
  if (found.length <= MAX_FINDINGS) return found;
  // The kinds are in this order.
  const kinds = Object.keys(LEAK_KINDS);
  const rank = ({ kind }: Leak) => kinds.indexOf(kind);
  const listed = new Set([...found].sort((a, b) => rank(a) - rank(b)).slice(0, MAX_FINDINGS));
  return found.filter((leak) => listed.has(leak));
}

/**
 * Finds data leakage in a Python script by following its data: which rows are scored, and what was computed
 * over them before. Code that cannot be followed is listed, not reported as a leak. Needs no model and no network.
 */
export async function analyzeLeakage(source: string): Promise<LeakageAnalysis> {
  const { findings, notFollowed, coverage, hasScore, exhausted, scores, printedScores, parsed } =
    await analyzeInDetail(source);
  // The lists are the caller's own.
  const lists = { findings: [...findings], notFollowed: [...notFollowed] };
  return { ...lists, coverage, hasScore, exhausted, scores, printedScores, parsed };
}

/** The offsets of a node, without the node. */
function spanOf({ start, end }: Span): Span {
  return { start, end };
}

function flowOf({ node, calledBy, split, scoreNode }: Leak): LeakFlow {
  return {
    fit: spanOf(node),
    ...(calledBy === undefined ? {} : { calledBy: spanOf(calledBy) }),
    ...(split === undefined ? {} : { split: spanOf(split.node) }),
    score: spanOf(scoreNode),
  };
}

/** The flow of a leak in one sentence with line numbers. */
function explain(leak: Leak, lineOf: (offset: number) => number): string {
  const at = (offset: number): string => `line ${lineOf(offset)}`;
  const scored = `scored at ${at(leak.scoreNode.start)}`;
  const called = leak.calledBy === undefined ? '' : `, called at ${at(leak.calledBy.start)}`;
  // Of a helper function that is right as it is, the call is what has to change.
  const computed = `${at(leak.node.start)}${called}`;
  const rows = leak.rowsText === '' ? 'rows' : `\`${leak.rowsText}\``;
  const scoredRows = leak.scoredText === '' ? 'the scored rows' : `\`${leak.scoredText}\``;
  const reach =
    leak.split === undefined
      ? `${scoredRows}, ${scored}`
      : `${scoredRows} (${at(leak.split.node.start)}), ${scored}`;
  switch (leak.kind) {
    case 'selection':
      return `${sentence(leak.subject)} is chosen by the score at ${at(leak.node.start)} on ${scoredRows}, the rows that are ${scored}.`;
    case 'early-stopping':
      return `Training watches ${rows} (${at(leak.node.start)}) to decide when to stop, and ${scoredRows} are ${scored}.`;
    case 'training-rows':
    case 'pseudo-labels':
    case 'stacking':
      return `${sentence(leak.subject)} is trained on ${rows} (${at(leak.node.start)}), whose rows include ${reach}.`;
    case 'group-overlap':
      return `The split at ${at(leak.node.start)} ignores ${leak.subject}, so one group is on both sides of ${scoredRows}, ${scored}.`;
    case 'shuffled-time':
      return `${sentence(leak.subject)} (${at(leak.node.start)}) takes labels of earlier rows into the features, and the rows are dealt out at random into ${reach}.`;
    case 'label-in-features':
      return `${sentence(leak.subject)} says what the label is (${at(leak.statement.start)}) and is among the features of ${scoredRows}, ${scored}.`;
    case 'duplicated-rows':
      return `Rows are copied at ${computed} (${leak.subject}), and copies of one row reach both parts: those that are trained on and ${reach}.`;
    case 'future-values':
      return `${sentence(leak.subject)} takes values of later rows (${computed}) into the features of ${reach}.`;
    case 'statistics':
    case 'group-statistics':
    case 'target-encoding':
    case 'binning':
    case 'feature-selection':
      return `${sentence(leak.subject)} is computed over ${rows} (${computed}), whose rows reach ${reach}.`;
    default:
      return `${sentence(leak.subject)} is fitted on ${rows} (${computed}), whose rows reach ${reach}.`;
  }
}

function sentence(subject: string): string {
  return subject.startsWith('`') ? subject : subject.charAt(0).toUpperCase() + subject.slice(1);
}

function whatToDo(leak: Leak): string {
  return LEAK_KINDS[leak.kind].whatToDo;
}
