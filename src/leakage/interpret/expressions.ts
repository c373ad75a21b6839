import { estimatorFamily } from '../knowledge/estimators.js';
import { functionFamily } from '../knowledge/functions.js';
import type { Attribute, Comprehension, Expr } from '../syntax/ast.js';
import { type FitEvent, joinFacts, NO_FACTS, wholeFacts, withFits } from '../values/facts.js';
import { emptyTable, list, newCell, newMapping, newSequence, newTable } from '../values/join.js';
import { Scope } from '../values/store.js';
import { textOf } from '../values/texts.js';
import { constant, factsOf, type Method, opaque, UNKNOWN, type Value } from '../values/value.js';
import { countWork } from '../values/work.js';
import { accessorProperty, hasAccessor, isAccessor } from './accessors.js';
import { assign } from './assign.js';
import { attributeOf } from './attributes.js';
import { boundedText } from './bounds.js';
import { evaluateCall } from './calls.js';
import { markChosen, noteRowTest, selectionFits } from './choices.js';
import { elementsOf } from './iterate.js';
import type { Machine } from './machine.js';
import { binaryValue, compareValue, unaryValue } from './operators.js';
import { makeFunction } from './statements.js';
import { columnOf, subscriptValue } from './subscripts.js';
import { slidingVariable } from './windows.js';

const BUILTINS = new Set(
  'print len zip enumerate range list dict tuple set frozenset max min sorted sum int float str bool map filter isinstance getattr setattr hasattr next iter reversed abs round any all type open input super vars locals globals eval exec format repr id callable pow divmod slice display'.split(
    ' ',
  ),
);

/** The abstract value of an expression; evaluating it has the effects that running it would have. */
export function evaluate(machine: Machine, expression: Expr): Value {
  if (!machine.step() || !machine.enter(expression)) return UNKNOWN;
  const value = evaluated(machine, expression);
  machine.leave();
  return value;
}

function evaluated(machine: Machine, expression: Expr): Value {
  switch (expression.type) {
    case 'constant':
      return constant(expression.value);
    case 'name': {
      const cell = machine.scope.lookup(expression.id);
      if (cell !== undefined) return cell.value;
      return BUILTINS.has(expression.id)
        ? { type: 'library', path: `builtins.${expression.id}` }
        : expression.id === '__name__'
          ? constant('__main__')
          : unresolved(machine, expression.id);
    }
    case 'attribute': {
      const inner = expression.object;
      if (!isAccessor(inner)) return columnOrAttribute(machine, evaluate(machine, inner), expression);
      const owner = evaluate(machine, inner.object);
      if (hasAccessor(owner, inner.name)) return accessorProperty(machine, owner);
      return columnOrAttribute(machine, columnOrAttribute(machine, owner, inner), expression);
    }
    case 'subscript': {
      const object = evaluate(machine, expression.object);
      return subscriptValue(machine, object, expression);
    }
    case 'call':
      return evaluateCall(machine, expression);
    case 'formatted':
      return formatted(machine, expression.parts);
    case 'sequence':
      return sequenceValue(machine, expression.items, expression.form === 'tuple');
    case 'dictionary':
      return dictionaryValue(machine, expression.entries);
    case 'binary': {
      const left = evaluate(machine, expression.left);
      const right = evaluate(machine, expression.right);
      const place = { node: expression, left: expression.left, right: expression.right };
      return binaryValue(machine, expression.operator, left, right, place);
    }
    case 'compare':
      return compareValue(machine, expression);
    case 'unary':
      return unaryValue(machine, expression.operator, evaluate(machine, expression.operand), expression);
    case 'lambda':
      return makeFunction(machine, expression);
    case 'comprehension':
      return comprehensionValue(machine, expression);
    case 'conditional': {
      const condition = evaluate(machine, expression.test);
      const truth = truthOf(condition);
      noteRowTest(machine, condition);
      if (truth === true) return evaluate(machine, expression.whenTrue);
      if (truth === false) return evaluate(machine, expression.whenFalse);
      const [a, b] = [evaluate(machine, expression.whenTrue), evaluate(machine, expression.whenFalse)];
      return newCell(a).join(a, b);
    }
    case 'walrus': {
      const value = evaluate(machine, expression.value);
      const inner = machine.scope;
      // In a comprehension it binds the variable of the code around.
      while (machine.scope.isComprehension && machine.scope.parent !== undefined) {
        machine.scope = machine.scope.parent;
      }
      assign(machine, expression.target, value, expression.value);
      machine.scope = inner;
      return value;
    }
    case 'starred':
      return evaluate(machine, expression.value);
    case 'slice':
      for (const bound of [expression.lower, expression.upper, expression.step]) {
        if (bound !== undefined) evaluate(machine, bound);
      }
      return UNKNOWN;
    case 'other': {
      let facts = NO_FACTS;
      for (const part of expression.parts) facts = joinFacts(facts, factsOf(evaluate(machine, part)));
      return opaque(facts);
    }
  }
}

/** `frame.price` that is not called is a column, unless it is a locator or an accessor. */
export function columnOrAttribute(machine: Machine, object: Value, expression: Attribute): Value {
  const value = attributeOf(machine, object, expression.name, expression);
  const isLocator = /^(loc|iloc|at|iat|str|dt|cat|plot|skb)$/.test(expression.name);
  if (value.type !== 'method' || object.type !== 'table' || isLocator) return value;
  const state = object.cell.value;
  return state.shape === 'frame' ? newTable(columnOf(state, expression.name)) : value;
}

function unresolved(machine: Machine, name: string): Value {
  for (const module of machine.stars) {
    const path = `${module}.${name}`;
    if (estimatorFamily(path) !== undefined || functionFamily(path) !== undefined)
      return { type: 'library', path };
  }
  machine.unresolved.add(name);
  return UNKNOWN;
}

/** Whether a value is known to be true or false. */
export function truthOf(value: Value): boolean | undefined {
  if (value.type === 'constant') return Boolean(value.value);
  return undefined;
}

function formatted(machine: Machine, parts: readonly Expr[]): Value {
  let text: string | undefined = '';
  let facts = NO_FACTS;
  for (const part of parts) {
    const value = evaluate(machine, part);
    facts = joinFacts(facts, factsOf(value));
    const added = textOf(value);
    text = text === undefined || added === undefined ? undefined : boundedText(text, added);
  }
  return text === undefined ? opaque(facts) : constant(text);
}

export function sequenceValue(machine: Machine, items: readonly Expr[], tuple: boolean): Value {
  const values: Value[] = [];
  let rest: Value | undefined;
  const star = items.findIndex((item) => item.type === 'starred');
  const written = star < 0 ? items.length : star;
  for (const item of items) {
    const value = evaluate(machine, item);
    if (item.type !== 'starred') {
      values.push(value);
      continue;
    }
    const elements = elementsOf(machine, value, item);
    if (elements.known !== undefined) for (const element of elements.known) values.push(element);
    else rest = elements.common ?? UNKNOWN;
  }
  return newSequence({ items: values, tuple, written, ...(rest === undefined ? {} : { rest }) });
}

function dictionaryValue(
  machine: Machine,
  parts: readonly { readonly key?: Expr; readonly value: Expr }[],
): Value {
  const entries = new Map<string, Value>();
  let rest: Value | undefined;
  for (const { key, value } of parts) {
    const content = evaluate(machine, value);
    if (key === undefined) {
      if (content.type === 'mapping') {
        countWork(8 * content.cell.value.entries.size);
        for (const [name, entry] of content.cell.value.entries) entries.set(name, entry);
      } else rest = content;
      continue;
    }
    const name = evaluate(machine, key);
    // `True` is the key 1.
    if (name.type === 'constant') {
      entries.set(String(typeof name.value === 'boolean' ? Number(name.value) : name.value), content);
    } else rest = rest === undefined ? content : newCell(rest).join(rest, content);
  }
  return newMapping({ entries, ...(rest === undefined ? {} : { rest }) });
}

const MAX_UNROLLED = 12;

/** Runs the clauses of a comprehension; element by element where the elements are known. */
function comprehensionValue(machine: Machine, expression: Comprehension): Value {
  const outer = machine.scope;
  machine.scope = new Scope(outer, false, true);
  const results: { key: Value | undefined; value: Value }[] = [];
  let complete = true;
  /** What the kept elements were picked by. */
  const kept: FitEvent[] = [];
  const iterables: Value[] = [];
  const run = (depth: number): void => {
    const clause = expression.clauses[depth];
    if (clause === undefined) {
      const key = expression.key === undefined ? undefined : evaluate(machine, expression.key);
      results.push({ key, value: evaluate(machine, expression.element) });
      return;
    }
    const iterable = evaluate(machine, clause.iterable);
    iterables.push(iterable);
    const elements = elementsOf(machine, iterable, clause.iterable);
    const { known } = elements;
    const exact = known !== undefined && known.length <= MAX_UNROLLED;
    if (!exact || clause.conditions.length > 0) complete = false;
    for (const element of exact ? known : [elements.common ?? UNKNOWN]) {
      if (results.length > 64 || !machine.step()) {
        complete = false;
        return;
      }
      assign(machine, clause.target, element, clause.iterable);
      const sliding = slidingVariable(clause.target, clause.iterable);
      if (sliding !== undefined) machine.sliding.push(sliding);
      const conditions = clause.conditions.map((condition) => evaluate(machine, condition));
      for (const condition of conditions) {
        for (const fit of selectionFits(condition)) if (!kept.includes(fit)) kept.push(fit);
      }
      const truths = conditions.map(truthOf);
      if (!truths.includes(false)) run(depth + 1);
      if (sliding !== undefined) machine.sliding.pop();
    }
  };
  machine.rowTests.push([]);
  run(0);
  const tests = machine.rowTests.pop() ?? [];
  machine.scope = outer;
  const values = results.map((result) => result.value);
  if (expression.form === 'dict') {
    const entries = new Map<string, Value>();
    let rest: Value | undefined;
    for (const { key, value } of results) {
      if (key?.type === 'constant') {
        entries.set(String(key.value), value);
        continue;
      }
      const content = key === undefined ? value : keyed(key, value);
      rest = rest === undefined ? content : newCell(rest).join(rest, content);
    }
    return newMapping({ entries, ...(rest === undefined ? {} : { rest }) });
  }
  if (complete) return list(values);
  const [first, ...others] = values;
  if (first === undefined) return list([]);
  const all = others.reduce((a, b) => newCell(a).join(a, b), first);
  const common = kept.length === 0 ? all : markChosen(all, [...new Set(kept)]);
  const rows = perRow(machine, expression, iterables, common, tests);
  if (rows !== undefined) return rows;
  return newSequence({ items: [], rest: common, tuple: false });
}

/** `{level: place for place, level in enumerate(order)}`: the value depends on what the keys were computed from. */
function keyed(key: Value, value: Value): Value {
  const { fits } = factsOf(key);
  const isPlain = value.type === 'constant' || (value.type === 'opaque' && value.source === undefined);
  return isPlain ? markChosen(value, fits) : value;
}

/** `[f(text) for text in frame['text']]`: one element for each row. */
function perRow(
  machine: Machine,
  expression: Comprehension,
  iterables: readonly Value[],
  common: Value,
  tests: readonly FitEvent[],
): Value | undefined {
  const [iterable, ...others] = iterables;
  const conditions = expression.clauses.some((clause) => clause.conditions.length > 0);
  if (iterable?.type !== 'table' || others.length > 0 || conditions || expression.form === 'set')
    return undefined;
  const state = iterable.cell.value;
  const facts = machine.dataOf(common);
  if (state.shape === 'frame' || facts.rows.length > 0) return undefined;
  return newTable(
    emptyTable(
      { ...withFits(wholeFacts(facts), tests), rows: state.rows, certain: state.certain },
      state.shape === 'row' ? 'row' : 'array',
    ),
  );
}

export function methodOf(receiver: Value, name: string): Method {
  return { type: 'method', receiver, name };
}
