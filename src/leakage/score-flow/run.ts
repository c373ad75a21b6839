import type { Expr, For, Stmt, Suite } from '../syntax/ast.js';
import { rootName } from '../syntax/walk.js';
import { countWork } from '../values/work.js';
import type { Arguments } from './estimators.js';
import { elementOf, MAX_ROUNDS } from './evaluate.js';
import type { Follower } from './follower.js';
import type { Table } from './table.js';
import { assign, besides, used } from './table-calls.js';
import { columnSetOf, keyOf, NONE, plain, Scope, type UserFunction, type Value } from './values.js';

/** What the statements of a function returned, if they did. */
type Returned = Value | undefined;

export function runSuite(follower: Follower, scope: Scope, statements: readonly Stmt[]): Returned {
  let returned: Returned;
  for (const statement of statements) {
    const value = run(follower, scope, statement);
    // A second return is that of another branch.
    returned ??= value;
    if (value !== undefined && statement.type === 'return') break;
  }
  return returned;
}

function run(follower: Follower, scope: Scope, statement: Stmt): Returned {
  countWork(1);
  switch (statement.type) {
    case 'assign': {
      const value = follower.evaluate(scope, statement.value);
      for (const target of statement.targets) bind(follower, scope, target, value);
      return undefined;
    }
    case 'augmented': {
      const operator = statement.operator.replace('=', '');
      const before = follower.evaluate(scope, statement.target);
      const more = follower.evaluate(scope, statement.value);
      const value =
        before.kind === 'items' && more.kind === 'items'
          ? { kind: 'items' as const, items: [...before.items, ...more.items] }
          : used(operator, [before, more]);
      bind(follower, scope, statement.target, value);
      return undefined;
    }
    case 'expression': {
      const value = follower.evaluate(scope, statement.value);
      const target = changedInPlace(statement.value);
      if (target !== undefined && value.kind === 'table') bind(follower, scope, target, value);
      return undefined;
    }
    case 'return':
      return statement.value === undefined ? NONE : follower.evaluate(scope, statement.value);
    case 'if': {
      let returned: Returned;
      for (const { test, body } of statement.branches) {
        if (test !== undefined) follower.evaluate(scope, test);
        returned ??= runSuite(follower, scope, body.statements);
      }
      return returned;
    }
    case 'for':
      return loop(follower, scope, statement);
    case 'while':
      return runSuite(follower, scope, statement.body.statements);
    case 'try':
      return inOrder(follower, scope, [statement.body, statement.orelse, statement.final]);
    case 'with':
      for (const { value, target } of statement.items) {
        const made = follower.evaluate(scope, value);
        if (target !== undefined) bind(follower, scope, target, made);
      }
      return runSuite(follower, scope, statement.body.statements);
    case 'function':
      scope.set(statement.name, {
        kind: 'function',
        name: statement.name,
        params: statement.params,
        body: statement.body,
        scope,
      });
      return undefined;
    case 'class':
      scope.set(statement.name, { kind: 'class', label: `class ${follower.text(statement)}` });
      return undefined;
    case 'import':
      for (const { name, path } of statement.bindings) follower.imports.set(name, path);
      return undefined;
    case 'delete':
      for (const target of statement.targets) deleted(follower, scope, target);
      return undefined;
    default:
      return undefined;
  }
}

/** `frame["a"].fillna(0, inplace=True)` changes the column of the frame. */
function changedInPlace(value: Expr): Expr | undefined {
  if (value.type !== 'call' || value.callee.type !== 'attribute') return undefined;
  const isInPlace = value.args.some(
    (argument) =>
      argument.name === 'inplace' && argument.value.type === 'constant' && argument.value.value === true,
  );
  const { object } = value.callee;
  return isInPlace && (object.type === 'subscript' || object.type === 'attribute') ? object : undefined;
}

function inOrder(follower: Follower, scope: Scope, suites: readonly (Suite | undefined)[]): Returned {
  let returned: Returned;
  for (const suite of suites)
    if (suite !== undefined) returned ??= runSuite(follower, scope, suite.statements);
  return returned;
}

/** `del frame["a"]` */
function deleted(follower: Follower, scope: Scope, target: Expr): void {
  if (target.type !== 'subscript') return;
  const table = follower.evaluate(scope, target.object);
  const index = target.indices[0];
  const columns = index === undefined ? undefined : columnSetOf(follower.evaluate(scope, index));
  if (table.kind === 'table' && columns !== undefined) table.state = table.without(columns).state;
}

function loop(follower: Follower, scope: Scope, { target, iterable, body, orelse }: For): Returned {
  const over = follower.evaluate(scope, iterable);
  const isListed = over.kind === 'items' && over.items.length > 0 && over.items.length <= MAX_ROUNDS;
  const rounds = isListed ? over.items : [elementOf(over)];
  let returned: Returned;
  for (const item of rounds) {
    bind(follower, scope, target, item);
    returned ??= runSuite(follower, scope, body.statements);
  }
  if (orelse !== undefined) returned ??= runSuite(follower, scope, orelse.statements);
  return returned;
}

/** Gives a value to a target of an assignment. */
export function bind(follower: Follower, scope: Scope, target: Expr, value: Value): void {
  if (target.type === 'name') scope.set(target.id, value);
  else if (target.type === 'starred') bind(follower, scope, target.value, value);
  else if (target.type === 'sequence') {
    for (const [at, item] of target.items.entries()) bind(follower, scope, item, partOf(value, at));
  } else if (target.type === 'subscript') bindItem(follower, scope, target, value);
  else if (target.type === 'attribute') {
    const object = follower.evaluate(scope, target.object);
    if (object.kind !== 'table') return;
    if (target.name === 'columns') {
      object.state = object.with({
        columns: { names: undefined, added: [], dropped: [], selections: [`renamed ${keyOf(value)}`] },
      }).state;
    } else if (target.name !== 'index') assign(object, [target.name], value);
  }
}

function partOf(value: Value, at: number): Value {
  if (value.kind === 'items') return value.items[at] ?? plain(`item ${at}`, value.items);
  if (value.kind === 'table') return value.with({ source: `${value.state.source} #${at}` });
  if (value.kind === 'dataset') return at === 0 ? value.X : (value.y ?? plain('labels'));
  return plain(`${keyOf(value)} #${at}`, [value]);
}

function bindItem(
  follower: Follower,
  scope: Scope,
  target: Expr & { type: 'subscript' },
  value: Value,
): void {
  const object = follower.evaluate(scope, target.object);
  const [first, second] = target.indices;
  if (first === undefined) return;
  if (object.kind === 'dictionary' || object.kind === 'items') {
    const key = follower.evaluate(scope, first);
    const name = key.kind === 'plain' ? (key.text ?? key.label) : keyOf(key);
    if (object.kind === 'dictionary') object.entries.set(name, value);
    else object.items.push(value);
    return;
  }
  // `oof[rows] = model.predict(…)`
  const isColumn = object.kind === 'table' && columnSetOf(follower.evaluate(scope, first)) !== undefined;
  if ((value.kind === 'prediction' && !isColumn) || object.kind === 'plain') {
    const root = rootName(target.object);
    const before = root === undefined ? undefined : scope.get(root);
    if (root !== undefined)
      scope.set(root, plain('filled', [...(before?.kind === 'plain' ? before.parts : []), value]));
    return;
  }
  if (object.kind !== 'table') return;
  if (first.type === 'slice' && second === undefined) {
    whole(object, value, follower.text(first));
    return;
  }
  if (second === undefined) {
    const index = follower.evaluate(scope, first);
    const columns = columnSetOf(index);
    if (columns !== undefined) assign(object, columns, value);
    else if (index.kind !== 'table') assign(object, [`?${keyOf(index)}`], value);
    else assign(object, '*', value, index);
    return;
  }
  const rows = first.type === 'slice' ? undefined : follower.evaluate(scope, first);
  const columns =
    second.type === 'slice'
      ? follower.text(second) === ':'
        ? '*'
        : [`?${follower.text(second)}`]
      : undefined;
  const named = columns ?? columnSetOf(follower.evaluate(scope, second)) ?? [`?${follower.text(second)}`];
  assign(object, named, value, rows?.kind === 'table' && rows.state.isMask !== true ? undefined : rows);
}

/** `X[:] = …` */
function whole(table: Table, value: Value, text: string): void {
  if (text !== ':') {
    table.set('*', [{ label: `[${text}]=${besides(value, table)}`, columns: '*' }]);
    return;
  }
  assign(table, '*', value);
}

/** Runs a function of the script with arguments. */
export function runFunction(
  follower: Follower,
  { params, body, scope, name }: UserFunction,
  args: Arguments,
): Value {
  const inner = new Scope(scope);
  let at = 0;
  for (const { name: param, star, fallback } of params) {
    if (star === '*') inner.set(param, { kind: 'items', items: args.positional.slice(at) });
    else if (star === '**') inner.set(param, { kind: 'dictionary', entries: new Map(args.named) });
    else {
      const input = args.named.get(param) ?? args.positional[at];
      if (!args.named.has(param)) at += 1;
      inner.set(param, input ?? (fallback === undefined ? plain(param) : follower.evaluate(scope, fallback)));
    }
  }
  const value = follower.call(() =>
    'statements' in body ? runSuite(follower, inner, body.statements) : follower.evaluate(inner, body),
  );
  return value ?? plain(`${name}()`, args.positional);
}
