import type { Leak } from '../../findings/find-leaks.js';
import type { Call, Expr, Stmt } from '../../syntax/ast.js';
import { calleeName, expressionsIn, ownExpressions, statementsIn } from '../../syntax/walk.js';
import type { RepairContext, TextEdit } from '../context.js';
import { isConstant, keyword, removedArgument, replacedArgument } from './arguments.js';
import { sortedByDate } from './by-date.js';
import type { Mending } from './mend-experiment.js';
import { statementAround, whyNotOneSeries } from './one-series.js';

const NOT_KNOWN = 'how to divide the time is a decision about the experiment';

/**
 * Rows of one series that are dealt out at random are divided in their order: the first ones are trained on, and the last ones
 * scored. Folds become those of a series, each of which follows the rows that are trained on. Rows of several series are put in the
 * order of their dates before that.
 */
export function divideInOrder(context: RepairContext, leak: Leak): Mending {
  const { split } = leak;
  if (split === undefined) return { declined: NOT_KNOWN };
  // Of folds, the statement of the split is the first one that takes their rows.
  const division = statementAround(context.module, split.node) ?? split.statement;
  const single = callsIn(division).find((call) => calleeName(call) === 'train_test_split');
  const mending = single === undefined ? foldsInOrder(context, division) : inOrder(context.source, single);
  if ('declined' in mending) return mending;
  const problem = whyNotOneSeries(context.module, leak, division);
  if (problem === undefined) return mending;
  const sorted = sortedByDate(context, division);
  return sorted === undefined
    ? { declined: `${NOT_KNOWN}: ${problem}` }
    : { edits: [sorted, ...mending.edits] };
}

/** `train_test_split(X, y, test_size=0.2, random_state=0)`: the same with `shuffle=False`. */
function inOrder(source: string, call: Call): Mending {
  const [shuffle, seed, stratify] = ['shuffle', 'random_state', 'stratify'].map((name) =>
    keyword(call, name),
  );
  if (call.args.some(({ star }) => star !== '')) return { declined: NOT_KNOWN };
  // Classes in the order of the rows would not be in both parts.
  if (stratify !== undefined && !isConstant(stratify, null))
    return { declined: `${NOT_KNOWN}: the split is stratified` };
  if (shuffle !== undefined && !isConstant(shuffle, true)) return { declined: NOT_KNOWN };
  const edits: TextEdit[] = [];
  if (stratify !== undefined) edits.push(removedArgument(source, call, stratify));
  if (shuffle !== undefined) {
    edits.push(replacedArgument(source, call, shuffle, 'shuffle=False'));
    if (seed !== undefined) edits.push(removedArgument(source, call, seed));
  } else if (seed !== undefined) {
    edits.push(replacedArgument(source, call, seed, 'shuffle=False'));
  } else {
    const last = call.args.at(-1)?.value.end;
    if (last === undefined) return { declined: NOT_KNOWN };
    edits.push({ start: last, end: last, text: ', shuffle=False' });
  }
  return { edits };
}

/** `KFold(n_splits=5, shuffle=True)`: `TimeSeriesSplit(n_splits=5)`. */
function foldsInOrder({ source, module, lineEnding }: RepairContext, division: Stmt): Mending {
  const made = splitterOf(module.body.statements, division);
  if (made === undefined) return { declined: NOT_KNOWN };
  const { call, statement } = made;
  const [count] = call.args;
  const others = call.args.filter(
    ({ name }) => !/^(n_splits|shuffle|random_state)$/.test(name ?? 'n_splits'),
  );
  if (!isConstant(keyword(call, 'shuffle'), true) || others.length > 0 || call.args.length > 3)
    return { declined: NOT_KNOWN };
  const number = keyword(call, 'n_splits') ?? (count?.name === undefined ? count : undefined);
  if (gathersFolds(division)) return { declined: `${NOT_KNOWN}: the first rows would have no prediction` };
  const splits = number === undefined ? '' : `n_splits=${source.slice(number.value.start, number.value.end)}`;
  const { start, end } = call;
  const line = source.lastIndexOf('\n', statement.start - 1) + 1;
  const indent = source.slice(line, statement.start);
  if (/\S/.test(indent)) return { declined: NOT_KNOWN };
  const imported = `from sklearn.model_selection import TimeSeriesSplit${lineEnding}${indent}`;
  return {
    edits: [
      { start: statement.start, end: statement.start, text: imported },
      { start, end, text: `TimeSeriesSplit(${splits})` },
    ],
  };
}

/** The call that makes the splitter of a loop over folds or of a cross-validation, if it divides nothing else. */
function splitterOf(body: readonly Stmt[], division: Stmt): { call: Call; statement: Stmt } | undefined {
  const isFolds = (call: Call): boolean => calleeName(call) === 'KFold';
  const inline = callsIn(division).filter(isFolds);
  if (inline.length > 0)
    return inline[0] === undefined ? undefined : { call: inline[0], statement: division };
  const made = body
    .flatMap((outer) => [...statementsIn(outer)])
    .flatMap((statement) =>
      statement.type === 'assign' && statement.value.type === 'call' && isFolds(statement.value)
        ? [{ call: statement.value, statement, target: statement.targets[0] }]
        : [],
    );
  const [only, ...others] = made;
  if (only?.target?.type !== 'name' || others.length > 0) return undefined;
  const { id } = only.target;
  const uses = body
    .flatMap((outer) => [...statementsIn(outer)])
    .filter((statement) => readsName(statement, id) && statement !== only.statement);
  return uses.length === 1 && uses[0] === division ? only : undefined;
}

function readsName(statement: Stmt, name: string): boolean {
  return ownExpressions(statement)
    .flatMap((own) => [...expressionsIn(own)])
    .some((part) => part.type === 'name' && part.id === name);
}

/** Whether the predictions of all folds are put together: those of a series leave the first rows out. */
function gathersFolds(division: Stmt): boolean {
  if (callsIn(division).some((call) => calleeName(call) === 'cross_val_predict')) return true;
  if (division.type !== 'for') return false;
  const turn = new Set(namesOf(division.target));
  return division.body.statements
    .flatMap((outer) => [...statementsIn(outer)])
    .some((inner) => {
      const targets =
        inner.type === 'assign' ? inner.targets : inner.type === 'augmented' ? [inner.target] : [];
      return targets.some(
        (target) =>
          target.type === 'subscript' &&
          target.indices.some((index) =>
            [...expressionsIn(index)].some((part) => part.type === 'name' && turn.has(part.id)),
          ),
      );
    });
}

function namesOf(target: Expr): string[] {
  return [...expressionsIn(target)].flatMap((part) => (part.type === 'name' ? [part.id] : []));
}

function callsIn(statement: Stmt): Call[] {
  return ownExpressions(statement)
    .flatMap((own) => [...expressionsIn(own)])
    .filter((part): part is Call => part.type === 'call');
}
