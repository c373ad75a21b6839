import type { Span, Stmt, Suite } from '../syntax/ast.js';
import { functionAround } from '../syntax/walk.js';
import type { Leak } from './find-leaks.js';

/** Longer blocks are not reported: the reader gets the leaky statement alone. */
const MAX_LINES = 40;
/** A concatenation further above than this is not part of the block. */
const MAX_JOIN_LINES = 12;

interface Ancestor {
  readonly suite: Suite;
  readonly statement: Stmt;
}

/** A statement and the statements around it, innermost first. */
function ancestors(statement: Stmt): Ancestor[] {
  const result: Ancestor[] = [];
  let current: Stmt | undefined = statement;
  while (current !== undefined) {
    result.push({ suite: current.suite, statement: current });
    current = current.suite.owner;
  }
  return result;
}

/** The statements of one suite, from the one that holds `first` through the one that holds `last`. */
export function statementsBetween(first: Stmt, last: Stmt): readonly Stmt[] | undefined {
  const around = ancestors(last);
  for (const { suite, statement } of ancestors(first)) {
    // Code between a function and its caller is not a block of the leak.
    if (statement !== first && (statement.type === 'function' || statement.type === 'class'))
      return undefined;
    const other = around.find((ancestor) => ancestor.suite === suite);
    if (other === undefined) continue;
    const from = suite.statements.indexOf(statement);
    const to = suite.statements.indexOf(other.statement);
    return from <= to ? suite.statements.slice(from, to + 1) : undefined;
  }
  return undefined;
}

/**
 * The block to report: whole lines from the leaky statement through the division of the rows, which it has to
 * move after; the leaky statement alone where the two are not in one suite or are far apart.
 */
function blockOf(source: string, leaky: Stmt, split: Stmt | undefined, joinedBy?: Stmt): Span {
  const joined = joinedBy === undefined ? undefined : spanOf(source, statementsBetween(joinedBy, leaky));
  const own =
    joined !== undefined && lineCount(source, joined) <= MAX_JOIN_LINES ? joined : linesOf(source, leaky);
  if (split === undefined || split.start < leaky.start) return own;
  const between = spanOf(source, statementsBetween(leaky, split));
  if (between === undefined) return own;
  const span = { start: Math.min(own.start, between.start), end: between.end };
  return lineCount(source, span) > MAX_LINES ? own : span;
}

/** The block of a choice: from the scores of the candidates through the choice, and the loop that makes both. */
function blockOfChoice(source: string, choice: Stmt, scoredBy: Stmt): Span {
  const own = linesOf(source, choice);
  const between = statementsBetween(scoredBy, choice);
  let whole: Span | undefined = spanOf(source, between);
  let loop = between?.[0]?.suite.owner;
  while (loop?.type === 'for') {
    whole = linesOf(source, loop);
    // A grid of several parameters is a loop in a loop.
    loop = loop.suite.statements.length === 1 ? loop.suite.owner : undefined;
  }
  return whole === undefined || lineCount(source, whole) > MAX_LINES ? own : whole;
}

/** From the function that scores a candidate, `def objective(trial)`, through the choice beside it; nothing where they are far apart. */
function blockFromObjective(source: string, { statement, scoredBy }: Leak): Span | undefined {
  const objective = scoredBy === undefined ? undefined : functionAround(scoredBy);
  if (objective === undefined || objective.suite !== statement.suite) return undefined;
  const whole = spanOf(source, statementsBetween(objective, statement));
  return whole === undefined || lineCount(source, whole) > MAX_LINES ? undefined : whole;
}

/** The block of one leak, as if the script had no other. */
export function ownBlock(source: string, leak: Leak): Span {
  return leak.scoredBy === undefined
    ? blockOf(source, leak.statement, leak.split?.statement, leak.joinedBy)
    : blockOfChoice(source, leak.statement, leak.scoredBy);
}

/**
 * The block that a leak is reported at: where a helper is right as it is, its call with the wrong rows; where the folds are taken in
 * a function, the line that makes the splitter; of the candidates of a study, also the function that scores one.
 */
export function reportedBlock(source: string, leak: Leak): Span {
  const { kind, statement, joinedBy } = leak;
  if (leak.isAtCall === true && leak.calledBy !== undefined)
    return blockOf(source, leak.calledBy, leak.split?.statement);
  const isMadeElsewhere =
    kind === 'group-overlap' &&
    joinedBy !== undefined &&
    statementsBetween(joinedBy, statement) === undefined;
  return isMadeElsewhere
    ? linesOf(source, joinedBy)
    : (blockFromObjective(source, leak) ?? ownBlock(source, leak));
}

/**
 * A block for each leak. Leaks that have to move after the same split share one block: they can only be
 * moved together.
 */
export function sharedBlocks(source: string, leaks: readonly Leak[]): Span[] {
  const blocks = leaks.map((leak) => ownBlock(source, leak));
  const reported = leaks.map((leak) => reportedBlock(source, leak));
  const isElsewhere = (at: number): boolean =>
    reported[at]?.start !== blocks[at]?.start || reported[at]?.end !== blocks[at]?.end;
  return leaks.map((leak, at) => {
    let block = reported[at] ?? leak.statement;
    if (isElsewhere(at)) return block;
    leaks.forEach((other, index) => {
      const candidate = blocks[index];
      if (candidate === undefined || isElsewhere(index)) return;
      if (other.split?.statement !== leak.split?.statement) return;
      if (candidate.start >= block.end || block.start >= candidate.end) return;
      const union = {
        start: Math.min(block.start, candidate.start),
        end: Math.max(block.end, candidate.end),
      };
      if (lineCount(source, union) <= MAX_LINES) block = union;
    });
    return block;
  });
}

function spanOf(source: string, statements: readonly Stmt[] | undefined): Span | undefined {
  const [first, last] = [statements?.[0], statements?.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  return { start: linesOf(source, first).start, end: linesOf(source, last).end };
}

function lineCount(source: string, span: Span): number {
  return source.slice(span.start, span.end).split('\n').length;
}

/** A span widened to whole lines, without the last line break. */
function linesOf(source: string, span: Span): Span {
  const start = source.lastIndexOf('\n', span.start - 1) + 1;
  const next = source.indexOf('\n', Math.max(span.start, span.end - 1));
  let end = next < 0 ? source.length : next;
  if (source[end - 1] === '\r') end -= 1;
  return { start, end: Math.max(end, start) };
}
