import type { Interpreter } from '../interpret/interpreter.js';
import type { Call, Expr, FunctionDefinition, Stmt } from '../syntax/ast.js';
import {
  calleeName,
  expressionsIn,
  functionAround,
  ownExpressions,
  rootName,
  statementsIn,
} from '../syntax/walk.js';
import type { FitEvent, Score, Training } from '../values/facts.js';

/** More rows than there were: right for the rows that a model is trained on. */
const ADDS_ROWS = new Set(['duplicated-rows', 'over-sampling']);
/** What a training watches is decided where it is trained. */
const AT_TRAINING = new Set(['early-stopping']);

/**
 * Whether the helper in which something was computed is right as it is, so that its call has to change: it only learns from
 * the rows that it gets, learns from other ones than it gives back, or adds rows to them.
 *
 * @param calledBy the statement that calls the helper with the wrong rows
 * @param score the score that the leak reaches
 */
export function isRightHelper(
  interp: Interpreter,
  { kind, rows, statement, callers }: FitEvent,
  calledBy: Stmt,
  score: Score,
): boolean {
  // It is no helper: the rows are scored in it as well.
  if (kind !== 'selection' && score.callers.includes(calledBy)) return false;
  const at = callers.indexOf(calledBy);
  const inner = at === 0 ? statement : callers[at - 1];
  const helper = inner === undefined ? undefined : functionAround(inner);
  if (helper?.type !== 'function' || AT_TRAINING.has(kind)) return false;
  const calls = callsOf(calledBy, helper);
  if (calls.length === 0 || !calls.every(({ args }) => args.some(({ value }) => value.type !== 'constant')))
    return false;
  if (ADDS_ROWS.has(kind)) return true;
  if (calls.some(passesTwice)) return true;
  if (changesArguments(helper)) return false;
  // Models are trained in it, of which it keeps the best.
  if (kind === 'selection' && interp.record.trainings.some((training) => training && isIn(training, helper)))
    return false;
  return !interp.calls.givesBack(calledBy, rows);
}

function isIn({ node }: Training, { start, end }: FunctionDefinition): boolean {
  return node.start >= start && node.end <= end;
}

function callsOf(statement: Stmt, { name }: FunctionDefinition): readonly Call[] {
  return ownExpressions(statement)
    .flatMap((own) => [...expressionsIn(own)])
    .filter((part): part is Call => part.type === 'call' && calleeName(part) === name);
}

/** `add_means(frame, frame)`, `encode(train, [train, test])`: one table to change, and one to learn from. */
function passesTwice({ args }: Call): boolean {
  const names = args.flatMap(({ value }) => [...new Set(namesPassed(value))]);
  return new Set(names).size < names.length;
}

function namesPassed(value: Expr): readonly string[] {
  if (value.type === 'name') return [value.id];
  return value.type === 'sequence'
    ? value.items.flatMap((item) => (item.type === 'name' ? [item.id] : []))
    : [];
}

/** Whether a helper puts values into one of the tables that it gets. */
function changesArguments({ params, body }: FunctionDefinition): boolean {
  const names = new Set(params.map(({ name }) => name).filter((name) => name !== 'self'));
  return body.statements
    .flatMap((outer) => [...statementsIn(outer)])
    .flatMap((statement) => (statement.type === 'assign' ? statement.targets : []))
    .some((target) => target.type !== 'name' && names.has(rootName(target) ?? ''));
}
