import type { Call, Expr, FunctionDefinition, Module, Stmt } from '../../syntax/ast.js';
import {
  calleeName,
  expressionsIn,
  functionAround,
  namesInExpression,
  ownExpressions,
  rootName,
  statementsIn,
} from '../../syntax/walk.js';
import { helpersOf } from '../helper-calls.js';
import { lastAssigned } from '../rows-first/table-kind.js';
import { isConstant, keyword } from './arguments.js';

/** What takes a column out of a table, or makes it the index. */
const TAKES_OUT = /^(drop|pop|set_index|rename|pivot|pivot_table|melt|stack|unstack|resample|asfreq)$/;
/** What leaves the columns of a table as they are. */
const KEEPS =
  /^(copy|dropna|reset_index|sort_values|sort_index|fillna|ffill|query|assign|merge|drop|astype)$/;
/** Values that pick rows. */
const CONDITION = /[<>]|[=!]=|\.(notna|notnull|isna|isnull|isin|between)\(/;

const MAX_DEPTH = 8;

/** A column of dates, with the quotes that the script puts around its name. */
export interface DateColumn {
  readonly name: string;
  readonly text: string;
}

/**
 * The one column of a table that holds dates: the script reads it as such, or makes it one. Nothing where the table may have lost it,
 * or where it may have several.
 */
export function dateColumnOf(module: Module, table: string, before: Stmt): DateColumn | undefined {
  const scope = functionAround(before);
  const own = statementsBefore(module, before).filter((one) => functionAround(one) === scope);
  const line = lineage(own, table);
  const made = own.filter((one) => rootsOfTargets(one).some((root) => line.has(root)));
  const found = new Map<string, DateColumn>();
  for (const part of made.flatMap((one) => datesIn(one))) {
    if (part.type !== 'constant' || typeof part.value !== 'string') continue;
    found.set(part.value, { name: part.value, text: module.source.slice(part.start, part.end) });
  }
  const [only, ...others] = found.values();
  if (only === undefined || others.length > 0 || !/^["'][^"'\\\n]+["']$/.test(only.text)) return undefined;
  const isLost =
    statementsBefore(module, before).some((one) => takesOut(one, only.name)) ||
    made.some((one) => mayLose(module, one));
  return isLost ? undefined : only;
}

function statementsBefore({ body }: Module, before: Stmt): Stmt[] {
  return body.statements
    .flatMap((outer) => [...statementsIn(outer)])
    .filter(({ start }) => start < before.start);
}

/** The names of a table and of those that it is made of. */
function lineage(statements: readonly Stmt[], table: string): ReadonlySet<string> {
  const line = new Set([table]);
  for (const one of statements.toReversed()) {
    if (one.type !== 'assign' || !one.targets.some((target) => target.type === 'name' && line.has(target.id)))
      continue;
    for (const { id } of namesInExpression(one.value)) line.add(id);
  }
  return line;
}

function rootsOfTargets(statement: Stmt): string[] {
  const targets = statement.type === 'assign' ? statement.targets : [];
  return targets
    .flatMap((target) => (target.type === 'sequence' ? target.items : [target]))
    .flatMap((target) => rootName(target) ?? []);
}

/** `parse_dates=["date"]`, `frame["date"] = pd.to_datetime(…)`: the names of the columns. */
function datesIn(statement: Stmt): Expr[] {
  if (statement.type !== 'assign') return [];
  const calls = callsIn(statement);
  const parsed = calls.flatMap((call) => {
    const dates = keyword(call, 'parse_dates')?.value;
    return dates?.type === 'sequence' ? dates.items : [];
  });
  const [target] = statement.targets;
  const isMade =
    statement.value.type === 'call' &&
    calleeName(statement.value) === 'to_datetime' &&
    target?.type === 'subscript' &&
    target.object.type === 'name';
  return isMade && target.type === 'subscript' ? [...parsed, ...target.indices] : parsed;
}

/** Whether a statement takes a column out of a table that it stores, or renames it. */
function takesOut(statement: Stmt, column: string): boolean {
  const names = (part: Expr): boolean =>
    [...expressionsIn(part)].some((inner) => inner.type === 'constant' && inner.value === column);
  if (statement.type === 'delete') return statement.targets.some(names);
  const stores = /^(assign|return)$/.test(statement.type);
  return callsIn(statement).some(
    (call) =>
      TAKES_OUT.test(calleeName(call)) &&
      (stores || calleeName(call) === 'pop' || isConstant(keyword(call, 'inplace'), true)) &&
      (call.args.some(({ value }) => names(value)) ||
        /^(resample|asfreq|stack|unstack)$/.test(calleeName(call))),
  );
}

/** Whether the table that a statement makes may have fewer columns than the one that it is made of. */
function mayLose(module: Module, statement: Stmt): boolean {
  if (statement.type !== 'assign') return false;
  const [target] = statement.targets;
  if (target?.type === 'attribute') return target.name === 'columns';
  if (target?.type !== 'name') return target?.type === 'sequence';
  return !keepsColumns(module, statement.value, statement);
}

/** Whether an expression is a table with all columns of the one that it is made of. */
function keepsColumns(module: Module, value: Expr, at: Stmt, depth = 0): boolean {
  if (depth > MAX_DEPTH) return false;
  if (value.type === 'name') return true;
  if (value.type === 'subscript')
    return picksRows(module, value.indices, at) && keepsColumns(module, value.object, at, depth + 1);
  if (value.type !== 'call') return false;
  const { callee } = value;
  const name = calleeName(value);
  if (callee.type === 'attribute' && /^(read_\w+|concat|merge)$/.test(name) && isModule(callee.object))
    return !isConstant(keyword(value, 'axis'), 1, 'columns');
  if (callee.type === 'attribute' && KEEPS.test(name))
    return keepsColumns(module, callee.object, at, depth + 1);
  const [helper, ...others] = helpersOf(module, value);
  return helper !== undefined && others.length === 0 && givesTableBack(module, helper, depth + 1);
}

function isModule(object: Expr): boolean {
  return object.type === 'name' && /^(pd|pandas)$/.test(object.id);
}

/** Whether a helper gives its table back, with all columns that it had. */
function givesTableBack(module: Module, helper: FunctionDefinition, depth: number): boolean {
  const all = [...statementsIn(helper)];
  const results = all.flatMap((one) => (one.type === 'return' ? [one] : []));
  const isTable = (name: string): boolean => {
    const made = all.flatMap((one) =>
      one.type === 'assign' && one.targets.some((target) => target.type === 'name' && target.id === name)
        ? [one]
        : [],
    );
    const isParameter = helper.params.some((param) => param.name === name);
    return (
      (isParameter || made.length > 0) &&
      made.every((one) => {
        const root = rootName(one.value);
        const isOwn = root === name || helper.params.some((param) => param.name === root);
        return isOwn && keepsColumns(module, one.value, one, depth);
      })
    );
  };
  return (
    results.length > 0 &&
    results.every(({ value }) => {
      const root = value === undefined ? undefined : rootName(value);
      return (
        value !== undefined &&
        root !== undefined &&
        isTable(root) &&
        keepsColumns(module, value, helper, depth)
      );
    })
  );
}

/** `frame[frame["open"] == 1]`, `frame[known]` */
function picksRows(module: Module, indices: readonly Expr[], at: Stmt): boolean {
  const [index, ...others] = indices;
  if (index === undefined || others.length > 0) return false;
  const { source } = module;
  const made =
    index.type === 'name' ? lastAssigned(module, index.id, functionAround(at)?.start ?? 0, at.start) : index;
  if (
    made === undefined ||
    made.type === 'sequence' ||
    made.type === 'constant' ||
    made.type === 'comprehension'
  )
    return false;
  return CONDITION.test(source.slice(made.start, made.end));
}

function callsIn(statement: Stmt): Call[] {
  return ownExpressions(statement)
    .flatMap((own) => [...expressionsIn(own)])
    .filter((part): part is Call => part.type === 'call');
}
