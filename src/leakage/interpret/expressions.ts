import { estimatorFamily } from '../library-models/estimators.js';
import { functionFamily } from '../library-models/functions.js';
import type { Comprehension, Expr } from '../syntax/ast.js';
import { type FitEvent, joinFacts, NO_FACTS, wholeFacts, withFits } from '../values/facts.js';
import { emptyTable, list, newCell, newMapping, newSequence, newTable } from '../values/join.js';
import { Scope } from '../values/store.js';
import { constant, factsOf, opaque, type TableState, textOf, UNKNOWN, type Value } from '../values/value.js';
import { countWork } from '../values/work.js';
import { accessorProperty, hasAccessor, isAccessor } from './accessors.js';
import { assign } from './assign.js';
import { columnOrAttribute } from './attributes.js';
import { boundedText } from './bounds.js';
import { evaluateCall, makeFunction } from './calls.js';
import { noteRowTest, selectionFits, withChoices } from './choices.js';
import { ofOneRound } from './collecting.js';
import { columnsLeftOut } from './column-names.js';
import type { Interpreter } from './interpreter.js';
import { elementsOf } from './iterate.js';
import { maskOfPositions, pickedPositions } from './membership.js';
import { binaryValue, compareValue, unaryValue } from './operators.js';
import { bindRemovedFrame } from './removed-cells.js';
import { comprehensionRepeatsRow } from './repeated-rows.js';
import { counterOf } from './row-events.js';
import { subscriptValue } from './subscripts.js';

const BUILTINS = new Set(
  'print len zip enumerate range list dict tuple set frozenset max min sorted sum int float str bool map filter isinstance getattr setattr hasattr next iter reversed abs round any all type open input super vars locals globals eval exec format repr id callable pow divmod slice display'.split(
    ' ',
  ),
);

/** The abstract value of an expression; evaluating it has the effects that running it would have. */
export function evaluate(interp: Interpreter, expression: Expr): Value {
  if (!interp.step() || !interp.enter(expression)) return UNKNOWN;
  const value = evaluated(interp, expression);
  interp.leave();
  return value;
}

function evaluated(interp: Interpreter, expression: Expr): Value {
  switch (expression.type) {
    case 'constant':
      return constant(expression.value);
    case 'name': {
      const cell = interp.scope.lookup(expression.id);
      if (cell !== undefined) return cell.value;
      return BUILTINS.has(expression.id)
        ? { type: 'library', path: `builtins.${expression.id}` }
        : expression.id === '__name__'
          ? constant('__main__')
          : unresolved(interp, expression.id);
    }
    case 'attribute': {
      const inner = expression.object;
      bindRemovedFrame(interp, inner, expression.name);
      if (!isAccessor(inner)) return columnOrAttribute(interp, evaluate(interp, inner), expression);
      const owner = evaluate(interp, inner.object);
      if (hasAccessor(owner, inner.name)) return accessorProperty(interp, owner);
      return columnOrAttribute(interp, columnOrAttribute(interp, owner, inner), expression);
    }
    case 'subscript': {
      bindRemovedFrame(interp, expression.object, expression.indices);
      const object = evaluate(interp, expression.object);
      return subscriptValue(interp, object, expression);
    }
    case 'call':
      return evaluateCall(interp, expression);
    case 'formatted':
      return formatted(interp, expression.parts);
    case 'sequence':
      return sequenceValue(interp, expression.items, expression.form === 'tuple');
    case 'dictionary':
      return dictionaryValue(interp, expression.entries);
    case 'binary': {
      const left = evaluate(interp, expression.left);
      const right = evaluate(interp, expression.right);
      const nodes = { node: expression, left: expression.left, right: expression.right };
      return binaryValue(interp, expression.operator, left, right, nodes);
    }
    case 'compare':
      return compareValue(interp, expression);
    case 'unary':
      return unaryValue(interp, expression.operator, evaluate(interp, expression.operand), expression);
    case 'lambda':
      return makeFunction(interp, expression);
    case 'comprehension':
      return comprehensionValue(interp, expression);
    case 'conditional': {
      const condition = evaluate(interp, expression.test);
      const truth = truthOf(condition);
      noteRowTest(interp, condition);
      if (truth === true) return evaluate(interp, expression.whenTrue);
      if (truth === false) return evaluate(interp, expression.whenFalse);
      const [a, b] = [evaluate(interp, expression.whenTrue), evaluate(interp, expression.whenFalse)];
      return newCell(a).join(a, b);
    }
    case 'walrus': {
      const value = evaluate(interp, expression.value);
      const inner = interp.scope;
      // In a comprehension it binds the variable of the code around.
      while (interp.scope.isComprehension && interp.scope.parent !== undefined) {
        interp.scope = interp.scope.parent;
      }
      assign(interp, expression.target, value, expression.value);
      interp.scope = inner;
      return value;
    }
    case 'starred':
      return evaluate(interp, expression.value);
    case 'slice':
      for (const bound of [expression.lower, expression.upper, expression.step]) {
        if (bound !== undefined) evaluate(interp, bound);
      }
      return UNKNOWN;
    case 'other': {
      let facts = NO_FACTS;
      for (const part of expression.parts) facts = joinFacts(facts, factsOf(evaluate(interp, part)));
      return opaque(facts);
    }
  }
}

function unresolved(interp: Interpreter, name: string): Value {
  for (const module of interp.stars) {
    const path = `${module}.${name}`;
    if (estimatorFamily(path) !== undefined || functionFamily(path) !== undefined)
      return { type: 'library', path };
  }
  interp.unresolved.add(name);
  return UNKNOWN;
}

/** Whether a value is known to be true or false. */
export function truthOf(value: Value): boolean | undefined {
  if (value.type === 'constant') return Boolean(value.value);
  return undefined;
}

function formatted(interp: Interpreter, parts: readonly Expr[]): Value {
  let text: string | undefined = '';
  let facts = NO_FACTS;
  const shown: Value[] = [];
  for (const part of parts) {
    const value = evaluate(interp, part);
    shown.push(value);
    facts = joinFacts(facts, factsOf(value));
    const added = textOf(value);
    text = text === undefined || added === undefined ? undefined : boundedText(text, added);
  }
  return text === undefined ? { ...opaque(facts), formatted: true, shown } : constant(text);
}

function sequenceValue(interp: Interpreter, items: readonly Expr[], tuple: boolean): Value {
  const values: Value[] = [];
  let rest: Value | undefined;
  const star = items.findIndex((item) => item.type === 'starred');
  const written = star < 0 ? items.length : star;
  for (const item of items) {
    const value = evaluate(interp, item);
    if (item.type !== 'starred') {
      values.push(value);
      continue;
    }
    const elements = elementsOf(interp, value, item);
    if (elements.known !== undefined) for (const element of elements.known) values.push(element);
    else rest = elements.common ?? UNKNOWN;
  }
  return newSequence({ items: values, tuple, written, ...(rest === undefined ? {} : { rest }) });
}

function dictionaryValue(
  interp: Interpreter,
  parts: readonly { readonly key?: Expr; readonly value: Expr }[],
): Value {
  const entries = new Map<string, Value>();
  let rest: Value | undefined;
  for (const { key, value } of parts) {
    const content = evaluate(interp, value);
    if (key === undefined) {
      if (content.type === 'mapping') {
        countWork(8 * content.cell.value.entries.size);
        for (const [name, entry] of content.cell.value.entries) entries.set(name, entry);
      } else rest = content;
      continue;
    }
    const name = evaluate(interp, key);
    // `True` is the key 1.
    if (name.type === 'constant') {
      entries.set(String(typeof name.value === 'boolean' ? Number(name.value) : name.value), content);
    } else rest = rest === undefined ? content : newCell(rest).join(rest, content);
  }
  return newMapping({ entries, ...(rest === undefined ? {} : { rest }) });
}

const MAX_UNROLLED = 12;

/** Runs the clauses of a comprehension; element by element where the elements are known. */
function comprehensionValue(interp: Interpreter, expression: Comprehension): Value {
  const outer = interp.scope;
  interp.scope = new Scope(outer, false, true);
  const results: { key: Value | undefined; value: Value }[] = [];
  let complete = true;
  /** Fits that the remaining elements were picked by. */
  const fits: FitEvent[] = [];
  const iterables: Value[] = [];
  const run = (depth: number): void => {
    const clause = expression.clauses[depth];
    if (clause === undefined) {
      const key = expression.key === undefined ? undefined : evaluate(interp, expression.key);
      const element = ofOneRound(interp, evaluate(interp, expression.element));
      results.push({ key, value: interp.windows.inRepeat(interp, expression, element) });
      return;
    }
    const iterable = evaluate(interp, clause.iterable);
    iterables.push(iterable);
    const elements = elementsOf(interp, iterable, clause.iterable);
    const { known } = elements;
    const exact =
      known !== undefined && known.length <= MAX_UNROLLED && interp.mayUnroll(known.length) === known.length;
    if (!exact || clause.conditions.length > 0) complete = false;
    for (const element of exact ? known : [elements.common ?? UNKNOWN]) {
      if (results.length > 64 || !interp.step()) {
        complete = false;
        return;
      }
      assign(interp, clause.target, element, clause.iterable);
      interp.context.enterRound(expression, counterOf(interp, clause.target, clause.iterable));
      const conditions = clause.conditions.map((condition) => evaluate(interp, condition));
      for (const condition of conditions) {
        for (const fit of selectionFits(condition)) if (!fits.includes(fit)) fits.push(fit);
      }
      const truths = conditions.map(truthOf);
      if (!truths.includes(false)) run(depth + 1);
      interp.context.leaveRound();
    }
  };
  interp.context.enterRow();
  run(0);
  const tests = interp.context.leaveRow();
  interp.scope = outer;
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
  const [over] = iterables;
  const picked = pickedPositions(interp, expression, over) ?? maskOfPositions(interp, expression, over);
  if (picked !== undefined) return picked;
  const [first, ...others] = values;
  if (first === undefined) return list([]);
  const all = others.reduce((a, b) => newCell(a).join(a, b), first);
  const common = fits.length === 0 ? all : withChoices(all, [...new Set(fits)]);
  const rows = perRow(interp, expression, iterables, common, tests);
  if (rows !== undefined) return rows;
  const allBut = columnsLeftOut(interp, expression);
  return newSequence({
    items: [],
    rest: withCopies(interp, expression, common),
    tuple: false,
    ...(allBut === undefined ? {} : { allBut }),
  });
}

/** What all elements have in common, with an event where several of them are altered copies of one row. */
function withCopies(interp: Interpreter, expression: Comprehension, common: Value): Value {
  const facts = interp.dataOf(common);
  if (facts.rows.length === 0 || facts.predictions.length > 0) return common;
  if (!comprehensionRepeatsRow(interp, expression)) return common;
  const subject = `\`${interp.label(expression.element)}\` several times for each row`;
  const event = interp.fit('duplicated-rows', subject, facts, interp.label(expression), expression);
  return newTable(emptyTable(withFits(facts, [event]), 'row'));
}

/** `{level: index for index, level in enumerate(order)}`: the value depends on what the keys were computed from. */
function keyed(key: Value, value: Value): Value {
  const { fits } = factsOf(key);
  const isPlain = value.type === 'constant' || (value.type === 'opaque' && value.source === undefined);
  return isPlain ? withChoices(value, fits) : value;
}

/** What is iterated over row by row: a column, or a list of one value for each row. */
function rowsOf(interp: Interpreter, iterable: Value): TableState | undefined {
  if (iterable.type === 'table') return iterable.cell.value;
  // A list of files.
  if (iterable.type === 'opaque' && iterable.source !== undefined && iterable.element !== true)
    return emptyTable(interp.dataOf(iterable));
  if (iterable.type !== 'sequence') return undefined;
  const { items, rest } = iterable.cell.value;
  if (items.length === 0 && rest?.type === 'opaque' && rest.source !== undefined && rest.element === true)
    return emptyTable({ ...NO_FACTS, rows: [rest.source] });
  if (items.length > 0 || rest?.type !== 'table' || rest.cell.value.single !== true) return undefined;
  return { ...rest.cell.value, shape: 'array' };
}

/** `[f(text) for text in frame['text']]`: one element for each row. */
function perRow(
  interp: Interpreter,
  expression: Comprehension,
  iterables: readonly Value[],
  common: Value,
  tests: readonly FitEvent[],
): Value | undefined {
  const [iterable, ...others] = iterables;
  const conditions = expression.clauses.some((clause) => clause.conditions.length > 0);
  if (iterable === undefined || others.length > 0 || conditions || expression.form === 'set')
    return undefined;
  const state = rowsOf(interp, iterable);
  // What is read from each file of a list is the row that the file is.
  const isRead =
    iterable.type !== 'table' &&
    common.type === 'opaque' &&
    common.source !== undefined &&
    !interp.dataOf(iterable).rows.includes(common.source);
  const facts = isRead ? factsOf(common) : interp.dataOf(common);
  if (state === undefined || state.shape === 'frame' || facts.rows.length > 0) return undefined;
  const all = { ...withFits(wholeFacts(facts), tests), rows: state.rows, certain: state.certain };
  if (isRead)
    return newSequence({
      items: [],
      rest: newTable(emptyTable({ ...all, single: true }, 'row')),
      tuple: false,
    });
  return newTable(emptyTable(all, state.shape === 'row' ? 'row' : 'array'));
}
