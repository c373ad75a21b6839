import type { Call, Comprehension, Expr, Subscript } from '../syntax/ast.js';
import { countWork } from '../values/work.js';
import { callFunction, callOn } from './calls.js';
import { type Arguments, fittedValue, pickedColumns } from './estimators.js';
import type { Follower } from './follower.js';
import { type Columns, Table } from './table.js';
import { combine, maskText, used } from './table-calls.js';
import { type ColumnNames, columnSetOf, keyOf, NONE, plain, Scope, textValue, type Value } from './values.js';
import { SAME } from './words.js';

/** Elements of a list that a comprehension or a loop runs over one by one. */
export const MAX_ROUNDS = 40;

export function evaluate(follower: Follower, scope: Scope, expression: Expr): Value {
  countWork(1);
  const of = (part: Expr): Value => evaluate(follower, scope, part);
  switch (expression.type) {
    case 'name':
      return scope.get(expression.id) ?? unbound(follower, scope, expression.id);
    case 'constant':
      if (typeof expression.value === 'string') return textValue(expression.value);
      return expression.value === null ? NONE : plain(String(expression.value));
    case 'attribute':
      return attributeOf(of(expression.object), expression.name);
    case 'subscript':
      return subscriptOf(follower, scope, expression);
    case 'call':
      return callOf(follower, scope, expression);
    case 'binary':
      return binary(expression.operator, of(expression.left), of(expression.right));
    case 'compare':
      return combine(expression.operators.join(' '), expression.operands.map(of));
    case 'unary':
      return used(expression.operator, [of(expression.operand)]);
    case 'sequence':
      return { kind: 'items', items: expression.items.flatMap((item) => spread(of(item), item)) };
    case 'dictionary': {
      const entries = new Map<string, Value>();
      for (const { key, value } of expression.entries) {
        const made = of(value);
        if (key === undefined) {
          if (made.kind === 'dictionary') for (const [name, entry] of made.entries) entries.set(name, entry);
          continue;
        }
        const name = of(key);
        entries.set(name.kind === 'plain' ? (name.text ?? name.label) : keyOf(name), made);
      }
      return { kind: 'dictionary', entries };
    }
    case 'formatted':
      return formatted(follower, expression, expression.parts.map(of));
    case 'conditional': {
      const [yes, no] = [of(expression.whenTrue), of(expression.whenFalse)];
      if (keyOf(yes) === keyOf(no)) return yes;
      return uncertain(yes) ?? uncertain(no) ?? plain(follower.text(expression), [yes, no]);
    }
    case 'lambda':
      return { kind: 'function', name: 'lambda', params: expression.params, body: expression.body, scope };
    case 'comprehension':
      return comprehension(follower, scope, expression);
    case 'starred':
      return of(expression.value);
    case 'walrus': {
      const value = of(expression.value);
      follower.bind(scope, expression.target, value);
      return value;
    }
    case 'slice':
      return plain(sliceText(follower, scope, expression));
    default:
      return plain(follower.text(expression), expression.parts.map(of));
  }
}

function spread(value: Value, item: Expr): Value[] {
  if (item.type !== 'starred') return [value];
  return value.kind === 'items' ? value.items : [value];
}

function uncertain(value: Value): Table | undefined {
  return value.kind === 'table' ? value.with({ isFollowed: false }) : undefined;
}

const BUILTIN =
  /^(True|False|None|NotImplemented|Ellipsis|__\w+__|int|float|str|bool|list|dict|set|tuple|object|type|len|sum|min|max|range|print|map|filter|zip|sorted|\w*(Error|Exception|Warning))$/;

/** A name that nothing binds is one of Python's, or a table of a cell that was taken out. */
function unbound(follower: Follower, scope: Scope, name: string): Value {
  const path = follower.imports.get(name);
  if (path !== undefined) return plain(path);
  if (BUILTIN.test(name)) return plain(name);
  follower.unbound.add(name);
  const table = Table.from(`=${name}`);
  scope.set(name, table);
  return table;
}

/** `f"{column}_rate"`: a text if its parts are texts. */
function formatted(
  follower: Follower,
  { start, end, parts }: Expr & { type: 'formatted' },
  values: readonly Value[],
): Value {
  const source = follower.source.slice(start, end);
  let text = '';
  let from = 0;
  for (const [at, part] of parts.entries()) {
    const value = values[at];
    if (value?.kind !== 'plain' || value.text === undefined) return plain('text', values);
    const open = source.lastIndexOf('{', part.start - start);
    const close = source.indexOf('}', part.end - start);
    if (open < from || close < 0) return plain('text', values);
    text += source.slice(from, open) + value.text;
    from = close + 1;
  }
  const quoted = text + source.slice(from);
  const quote = /["']/.exec(quoted)?.index ?? 0;
  const width = quoted.startsWith(quoted.charAt(quote).repeat(3), quote) ? 3 : 1;
  return textValue(quoted.slice(quote + width, -width));
}

function binary(operator: string, left: Value, right: Value): Value {
  if (
    operator === '+' &&
    left.kind === 'plain' &&
    right.kind === 'plain' &&
    left.text !== undefined &&
    right.text !== undefined
  )
    return textValue(left.text + right.text);
  if (operator === '+' && left.kind === 'items' && right.kind === 'items')
    return { kind: 'items', items: [...left.items, ...right.items] };
  if (operator === '*' && left.kind === 'items') return left;
  return used(operator, [left, right]);
}

function namesOf(table: Table): ColumnNames {
  const { columns } = table.state;
  return { kind: 'columns', columns, set: columns.names ?? '*' };
}

function attributeOf(value: Value, name: string): Value {
  switch (value.kind) {
    case 'table': {
      if (name === 'columns') return namesOf(value);
      if (name === 'index') return value.with({ isPositions: true });
      if (name === 'shape')
        return { kind: 'items', items: [{ ...plain('#len'), lengthOf: value }, plain('#width')] };
      if (/^(loc|iloc|at|iat|ix)$/.test(name)) return value;
      if (SAME.test(name)) return value.with({});
      if (/^(size|ndim|dtypes|dtype|empty)$/.test(name)) return plain(`#${name}`);
      return value.only([name]);
    }
    case 'estimator':
      if (/^(best_estimator_|named_steps)$/.test(name)) return value;
      return fittedValue(value, name);
    case 'learned':
      if (name === 'index') return { ...value, label: `${value.label}.index` };
      return SAME.test(name) ? value : plain(`${value.label}.${name}`);
    case 'prediction':
      return SAME.test(name) ? value : { ...value, uses: [...value.uses, name] };
    case 'columns':
      return value;
    case 'plain':
      return plain(`${value.label}.${name}`, value.parts);
    case 'dictionary':
      return value.entries.get(name) ?? plain(`${keyOf(value)}.${name}`);
    default:
      return plain(`${keyOf(value)}.${name}`, [value]);
  }
}

function subscriptOf(follower: Follower, scope: Scope, { object, indices }: Subscript): Value {
  const value = evaluate(follower, scope, object);
  const [first, second] = indices;
  if (first === undefined) return value;
  switch (value.kind) {
    case 'table':
      return second === undefined
        ? pickedBy(follower, scope, value, first, object)
        : cell(follower, scope, value, first, second);
    case 'items': {
      const at = evaluate(follower, scope, first);
      const number = at.kind === 'plain' ? Number(at.label) : Number.NaN;
      const item = Number.isInteger(number) ? value.items.at(number) : undefined;
      return item ?? (value.items.length > 0 && first.type === 'slice' ? value : plain('item', value.items));
    }
    case 'dictionary': {
      const key = evaluate(follower, scope, first);
      const found = value.entries.get(key.kind === 'plain' ? (key.text ?? key.label) : keyOf(key));
      return found ?? plain(`${keyOf(value)}[${keyOf(key)}]`, [...value.entries.values()]);
    }
    case 'grouped': {
      const columns = columnSetOf(evaluate(follower, scope, first));
      return columns === undefined ? value : { ...value, table: value.table.only(columns) };
    }
    case 'columns': {
      const by = evaluate(follower, scope, first);
      return by.kind === 'learned'
        ? { ...value, set: [`?${by.label}`], by }
        : { ...value, set: [`?columns ${follower.text(first)}`] };
    }
    case 'prediction': {
      const text = indices.map((index) => follower.text(index)).join();
      return { ...value, uses: [...value.uses, `[${text}]`] };
    }
    case 'learned':
      return value;
    case 'estimator':
      return value;
    default:
      return plain(`${keyOf(value)}[${indices.map((index) => indexText(follower, scope, index)).join()}]`, [
        value,
      ]);
  }
}

function indexText(follower: Follower, scope: Scope, index: Expr): string {
  return index.type === 'slice' ? sliceText(follower, scope, index) : keyOf(evaluate(follower, scope, index));
}

function sliceText(follower: Follower, scope: Scope, slice: Expr & { type: 'slice' }): string {
  const part = (bound: Expr | undefined): string =>
    bound === undefined ? '' : keyOf(evaluate(follower, scope, bound));
  return `${part(slice.lower)}:${part(slice.upper)}:${part(slice.step)}`;
}

/** `frame["a"]`, `frame[mask]`, `X[:n]`, `X[rows]` */
function pickedBy(follower: Follower, scope: Scope, table: Table, index: Expr, object: Expr): Value {
  if (index.type === 'slice') {
    const text = sliceText(follower, scope, index);
    return text === '::' ? table : table.withPick(`[${text}]`);
  }
  const made = evaluate(follower, scope, index);
  const isRows = object.type === 'attribute' && /^(loc|iloc|ix)$/.test(object.name);
  return rowsBy(table, made, isRows);
}

function rowsBy(table: Table, index: Value, isRows: boolean): Table {
  if (index.kind === 'columns') return selected(table, index);
  if (index.kind === 'table') {
    if (index.state.isMask === true) return table.withPick(`[${maskText(index)}]`);
    // Positions of rows of this very table: the same rows as those that they were picked from.
    const { picks } = index.state;
    if (table.state.picks.every((pick, at) => picks[at] === pick)) return table.with({ picks });
    return table.withPick(`[${picks.join('>')}]`);
  }
  if (index.kind === 'learned' && !isRows) return pickedColumns(table, index);
  const columns = isRows ? undefined : columnSetOf(index);
  if (columns !== undefined) return table.only(columns);
  const picked = table.withPick(`[${keyOf(index)}]`);
  if (isRows) return picked;
  // Rows that were looked up for others, as those of neighbors: they replace these.
  if (isOfRows(index)) return table.with({ isFollowed: false });
  // Rows of an array, or a column of a table whose name is not known.
  return index.kind === 'plain' && !/^-?\d/.test(index.label) ? table.only([`?${index.label}`]) : picked;
}

/** How deep the parts of a number are looked into. */
const MAX_PARTS_DEPTH = 4;

/** Whether a value is computed from rows in a way that is not followed. */
function isOfRows(value: Value, depth = 0): boolean {
  if (value.kind === 'table') return true;
  return (
    value.kind === 'plain' && depth < MAX_PARTS_DEPTH && value.parts.some((part) => isOfRows(part, depth + 1))
  );
}

/** Columns by the names that a table had when they were read. */
function selected(table: Table, { columns, set, by }: ColumnNames): Table {
  if (by !== undefined) return pickedColumns(table, by);
  if (set !== '*') return table.only(set);
  const all = table.state.columns;
  const isKnown = (name: string): boolean => columns.added.includes(name);
  return table.with({
    columns: {
      ...all,
      names: undefined,
      added: all.added.filter(isKnown),
      dropped: [
        ...new Set([...all.dropped, ...columns.dropped, ...all.added.filter((name) => !isKnown(name))]),
      ],
      selections: [...new Set([...all.selections, ...columns.selections])],
    },
  });
}

/** `frame.loc[rows, columns]`, `X[:, 1:]` */
function cell(follower: Follower, scope: Scope, table: Table, first: Expr, second: Expr): Value {
  const rows =
    first.type === 'slice'
      ? sliceText(follower, scope, first) === '::'
        ? table
        : table.withPick(`[${sliceText(follower, scope, first)}]`)
      : rowsBy(table, evaluate(follower, scope, first), true);
  if (second.type === 'slice') {
    const text = sliceText(follower, scope, second);
    return text === '::' ? rows : rows.only([`?${text}`]);
  }
  const index = evaluate(follower, scope, second);
  if (index.kind === 'columns') return selected(rows, index);
  if (index.kind === 'learned') return pickedColumns(rows, index);
  return rows.only(columnSetOf(index) ?? [`?${keyOf(index)}`]);
}

function comprehension(follower: Follower, scope: Scope, expression: Comprehension): Value {
  const [clause] = expression.clauses;
  if (clause === undefined || expression.clauses.length > 1) return plain(follower.text(expression), []);
  const over = evaluate(follower, scope, clause.iterable);
  const isWhole =
    expression.element.type === 'name' &&
    clause.target.type === 'name' &&
    expression.element.id === clause.target.id;
  if (over.kind === 'columns' && isWhole) return filteredColumns(follower, scope, over, expression);
  const inner = new Scope(scope);
  const isListed = over.kind === 'items' && over.items.length <= MAX_ROUNDS;
  const rounds = isListed ? over.items : [elementOf(over)];
  const items: Value[] = [];
  const keys: string[] = [];
  for (const item of rounds) {
    follower.bind(inner, clause.target, item);
    if (isListed && clause.conditions.some((condition) => isFalse(follower, inner, condition))) continue;
    items.push(evaluate(follower, inner, expression.element));
    if (expression.key !== undefined) {
      const key = evaluate(follower, inner, expression.key);
      keys.push(key.kind === 'plain' ? (key.text ?? key.label) : keyOf(key));
    }
  }
  if (expression.form === 'dict')
    return { kind: 'dictionary', entries: new Map(items.map((item, at) => [keys[at] ?? `${at}`, item])) };
  if (isListed) return { kind: 'items', items };
  if (over.kind === 'table') {
    const made = items[0];
    const label = made === undefined ? '' : keyOf(made);
    return over
      .withStep({ label: `each ${label}`, columns: '*' })
      .with({ isPositions: over.state.isPositions ?? false });
  }
  return { kind: 'items', items };
}

/** A condition on texts that is false as it is: `if name != "y"` for the name `y`. */
function isFalse(follower: Follower, scope: Scope, condition: Expr): boolean {
  if (condition.type !== 'compare' || condition.operands.length !== 2) return false;
  const [left, right] = condition.operands.map((one) => evaluate(follower, scope, one));
  if (left?.kind !== 'plain' || left.text === undefined || right === undefined) return false;
  const names = columnSetOf(right);
  if (names === undefined || names === '*') return false;
  const isIn = names.includes(left.text);
  const operator = condition.operators[0] ?? '';
  return /^(!=|not ?in)$/.test(operator) ? isIn : /^(==|in)$/.test(operator) && !isIn;
}

/** `[c for c in frame.columns if c != "y"]` */
function filteredColumns(
  follower: Follower,
  scope: Scope,
  over: ColumnNames,
  { clauses }: Comprehension,
): Value {
  const conditions = clauses[0]?.conditions ?? [];
  let names = over.columns.names;
  const dropped: string[] = [];
  for (const condition of conditions) {
    const operands =
      condition.type === 'compare' && condition.operands.length === 2 ? condition.operands : [];
    const right = operands[1];
    const without = right === undefined ? undefined : columnSetOf(evaluate(follower, scope, right));
    const isLess = condition.type === 'compare' && /^(!=|not ?in)$/.test(condition.operators[0] ?? '');
    if (!isLess || without === undefined || without === '*')
      return { ...over, set: [`?each ${conditions.map((one) => follower.text(one)).join()}`] };
    dropped.push(...without);
  }
  names = names?.filter((name) => !dropped.includes(name));
  const columns: Columns = {
    ...over.columns,
    names,
    added: over.columns.added.filter((name) => !dropped.includes(name)),
    dropped: [...new Set([...over.columns.dropped, ...dropped])],
  };
  return { kind: 'columns', columns, set: names ?? (over.set === '*' ? '*' : over.set) };
}

/** What a loop over a value gets, if its rounds are not run one by one. */
export function elementOf(value: Value): Value {
  switch (value.kind) {
    case 'columns':
      return textValue(`?each of ${keyOf(value)}`);
    case 'grouped':
      return { kind: 'items', items: [plain('group'), value.table.withPick(`group ${value.keys}`)] };
    case 'items':
      return value.items[0] ?? plain('item');
    case 'plain':
      return plain(`each ${value.label}`);
    default:
      return plain(`each ${keyOf(value)}`);
  }
}

function argumentsOf(follower: Follower, scope: Scope, call: Call): Arguments {
  const positional: Value[] = [];
  const named = new Map<string, Value>();
  for (const { name, star, value } of call.args) {
    const made = evaluate(follower, scope, value);
    if (star === '**') {
      if (made.kind === 'dictionary') for (const [key, entry] of made.entries) named.set(key, entry);
      else named.set('**', made);
    } else if (star === '*') positional.push(...(made.kind === 'items' ? made.items : [made]));
    else if (name === undefined) positional.push(made);
    else named.set(name, made);
  }
  return { positional, named };
}

function callOf(follower: Follower, scope: Scope, call: Call): Value {
  const { callee } = call;
  if (callee.type === 'attribute') {
    const object = evaluate(follower, scope, callee.object);
    const isLocal = object.kind !== 'plain' || object.text !== undefined;
    if (isLocal && object.kind !== 'class') {
      const args = argumentsOf(follower, scope, call);
      return callOn(follower, callee.name, object, args);
    }
    const args = argumentsOf(follower, scope, call);
    return callFunction(follower, callee.name, keyOf(object), args, follower.text(call));
  }
  const target =
    callee.type === 'name'
      ? (scope.get(callee.id) ?? plain(follower.imports.get(callee.id) ?? callee.id))
      : evaluate(follower, scope, callee);
  const args = argumentsOf(follower, scope, call);
  if (target.kind === 'function') return follower.runFunction(target, args);
  if (target.kind === 'class')
    return { kind: 'estimator', label: target.label, isSampler: false, isFollowed: false };
  const path = keyOf(target);
  const name = path.split('.').at(-1) ?? path;
  return callFunction(follower, name, path.slice(0, -name.length), args, follower.text(call));
}
