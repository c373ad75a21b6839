import type { Call, ConstantValue, Expr, Module, Stmt } from '../../syntax/ast.js';
import { expressionsIn, ownExpressions, statementsIn } from '../../syntax/walk.js';

/** `frame.groupby(keys)[column].transform(…)`: one number per group, put on every row of the group. */
export interface GroupTransform {
  readonly node: Call;
  readonly frame: string;
  /** The column or columns that name the groups. */
  readonly by: Expr;
  /** Texts of the names of these columns. */
  readonly keys: readonly string[];
  /** Text of the name of the column. */
  readonly column: string;
  /** What the statistic is called by. */
  readonly label: string;
  /** Name of the statistic. */
  readonly statistic: string;
  /** Whether the statistic only fills missing values. */
  readonly fills: boolean;
}

const STATISTICS = /^(mean|median|std|min|max|sum|count|nunique|first)$/;

export function groupTransformIn(module: Module, statement: Stmt): GroupTransform | undefined {
  for (const own of ownExpressions(statement)) {
    for (const part of expressionsIn(own)) {
      const found = part.type === 'call' ? read(module, statement, part) : undefined;
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** The parts of `frame.groupby(…)[columns].transform(…)`. */
export function transformOfGroups({
  callee,
}: Call): { frame: Expr; grouped: Call; columns: readonly Expr[] } | undefined {
  if (callee.type !== 'attribute' || callee.name !== 'transform' || callee.object.type !== 'subscript')
    return undefined;
  const { object: grouped, indices } = callee.object;
  if (grouped.type !== 'call' || grouped.callee.type !== 'attribute' || grouped.callee.name !== 'groupby')
    return undefined;
  return { frame: grouped.callee.object, grouped, columns: indices };
}

function read(module: Module, statement: Stmt, node: Call): GroupTransform | undefined {
  const { callee } = node;
  if (callee.type !== 'attribute' || callee.name !== 'transform' || node.args.length !== 1) return undefined;
  const groups = readGroups(module, statement, callee.object);
  const how = node.args[0]?.value;
  if (groups === undefined || how === undefined) return undefined;
  if (how.type === 'constant' && typeof how.value === 'string' && STATISTICS.test(how.value)) {
    return { node, ...groups, statistic: how.value, fills: false };
  }
  const statistic = filling(how);
  return statistic === undefined ? undefined : { node, ...groups, statistic, fills: true };
}

type Groups = Pick<GroupTransform, 'frame' | 'by' | 'keys' | 'column' | 'label'>;

/** `frame.groupby(keys)[column]`, `frame.groupby(keys).column`, or a variable for either part of it. */
function readGroups(module: Module, statement: Stmt, groups: Expr): Groups | undefined {
  const whole = groups.type === 'name' ? madeOnce(module, statement, groups.id) : { value: groups };
  if (whole === undefined) return undefined;
  const { value: taken } = whole;
  if (taken.type !== 'subscript' && taken.type !== 'attribute') return undefined;
  const source = taken.object;
  const grouping = source.type === 'name' ? madeOnce(module, statement, source.id) : { value: source };
  const grouped = grouping?.value;
  if (grouped?.type !== 'call' || grouped.callee.type !== 'attribute' || grouped.callee.name !== 'groupby')
    return undefined;
  const { object: frame } = grouped.callee;
  const [by, ...others] = grouped.args;
  if (frame.type !== 'name' || by === undefined || by.name !== undefined || others.length > 0)
    return undefined;
  const items = by.value.type === 'sequence' ? by.value.items : [by.value];
  const names = items.map((item) => nameOf(module, statement, item));
  const [index, ...more] = taken.type === 'subscript' ? taken.indices : [];
  if (more.length > 0) return undefined;
  const column =
    taken.type === 'attribute'
      ? { text: `"${taken.name}"`, label: taken.name, values: [taken.name] }
      : index && nameOf(module, statement, index);
  if (column === undefined || names.length === 0) return undefined;
  const keys = names.flatMap((name) => (name === undefined ? [] : [name]));
  if (keys.length < names.length) return undefined;
  const read = [...keys, column].flatMap(({ values }) => values);
  // The groups of a variable are those of the table that was there when it was made.
  for (const made of [whole.madeBy, grouping?.madeBy])
    if (made !== undefined && isOtherTable(made, statement, frame.id, read)) return undefined;
  const label = `${column.label}_by_${keys.map((key) => key.label).join('_')}`;
  return {
    frame: frame.id,
    by: by.value,
    keys: keys.map(({ text }) => text),
    column: column.text,
    label,
  };
}

interface ColumnName {
  readonly text: string;
  readonly label: string;
  /** The names that it may be. */
  readonly values: readonly ConstantValue[];
}

/** The name of one column: a text, or the variable of a loop over texts that are written out, there or in a list with a name. */
export function nameOf(module: Module, statement: Stmt, name: Expr): ColumnName | undefined {
  const { source } = module;
  const text = source.slice(name.start, name.end);
  if (name.type === 'constant')
    return typeof name.value === 'string' ? { text, label: name.value, values: [name.value] } : undefined;
  if (name.type !== 'name') return undefined;
  for (let owner = statement.suite.owner; owner !== undefined; owner = owner.suite.owner) {
    if (owner.type !== 'for' || owner.target.type !== 'name' || owner.target.id !== name.id) continue;
    const list = owner.iterable.type === 'name' ? listOf(module, owner, owner.iterable.id) : owner.iterable;
    const items = list?.type === 'sequence' ? list.items : [];
    const values = items.flatMap((item) => (item.type === 'constant' ? [item.value] : []));
    const areTexts = values.length === items.length && values.every((value) => typeof value === 'string');
    return items.length > 0 && areTexts ? { text, label: name.id, values } : undefined;
  }
  return undefined;
}

/** The list that a variable is, if it stays as it was made. */
function listOf(module: Module, statement: Stmt, name: string): Expr | undefined {
  const grows = new RegExp(`\\b${name}\\s*\\.\\s*(?:append|extend|insert|remove|pop|clear)\\(`);
  return grows.test(module.source) ? undefined : madeOnce(module, statement, name)?.value;
}

interface Made {
  readonly value: Expr;
  readonly madeBy?: Stmt;
}

/** What a variable is, if one statement before this one, in its suite or in one around it, gives it its only value. */
function madeOnce(module: Module, statement: Stmt, name: string): Made | undefined {
  const makers = module.body.statements
    .flatMap((outer) => [...statementsIn(outer)])
    .filter((other) => targetsOf(other).some((target) => target.type === 'name' && target.id === name));
  const [only, ...others] = makers;
  if (only?.type !== 'assign' || others.length > 0 || only.targets.length !== 1 || only.end > statement.start)
    return undefined;
  const [target] = only.targets;
  let suite: Stmt['suite'] | undefined = statement.suite;
  while (suite !== undefined && suite !== only.suite) suite = suite.owner?.suite;
  return target?.type === 'name' && suite !== undefined ? { value: only.value, madeBy: only } : undefined;
}

function targetsOf(statement: Stmt): readonly Expr[] {
  const targets =
    statement.type === 'assign'
      ? statement.targets
      : statement.type === 'augmented' || statement.type === 'for'
        ? [statement.target]
        : [];
  return targets.flatMap((target) => (target.type === 'sequence' ? target.items : [target]));
}

/** Whether a table is another one, or has other values in some columns, between two statements. */
function isOtherTable(from: Stmt, to: Stmt, frame: string, columns: readonly ConstantValue[]): boolean {
  for (const outer of from.suite.statements) {
    if (outer.start < from.end) continue;
    for (const statement of statementsIn(outer)) {
      if (statement.start >= to.start) return false;
      for (const target of targetsOf(statement)) {
        if (target.type === 'name' && target.id === frame) return true;
        if (target.type === 'attribute' && isName(target.object, frame)) return true;
        if (target.type !== 'subscript') continue;
        const isIts = isName(target.object, frame);
        const isPart = !isIts && [...expressionsIn(target.object)].some((part) => isName(part, frame));
        const [index] = target.indices;
        if (isPart || (isIts && (index === undefined || columns.some((name) => mayBe(index, name)))))
          return true;
      }
      const isInPlace = ownExpressions(statement)
        .flatMap((own) => [...expressionsIn(own)])
        .some((part) => part.type === 'call' && part.args.some(({ name }) => name === 'inplace'));
      if (isInPlace) return true;
    }
  }
  return false;
}

function isName(expression: Expr, name: string): boolean {
  return expression.type === 'name' && expression.id === name;
}

/** Whether an index may be this column: of `c + "_freq"` the end is known. */
function mayBe(index: Expr, column: ConstantValue): boolean {
  if (index.type === 'constant') return index.value === column;
  if (index.type === 'sequence') return index.items.some((item) => mayBe(item, column));
  const end = index.type === 'binary' && index.operator === '+' ? index.right : undefined;
  return end?.type !== 'constant' || `${column}`.endsWith(`${end.value}`);
}

/** `lambda s: s.fillna(s.median())`: the name of the statistic. */
function filling(how: Expr): string | undefined {
  if (how.type !== 'lambda' || how.body.type !== 'call' || how.body.callee.type !== 'attribute')
    return undefined;
  const [parameter] = how.params;
  const { callee, args } = how.body;
  const value = args[0]?.value;
  if (callee.name !== 'fillna' || callee.object.type !== 'name' || callee.object.id !== parameter?.name)
    return undefined;
  if (value?.type !== 'call' || value.callee.type !== 'attribute' || value.args.length > 0) return undefined;
  const { object, name } = value.callee;
  return object.type === 'name' && object.id === parameter.name && STATISTICS.test(name) ? name : undefined;
}
