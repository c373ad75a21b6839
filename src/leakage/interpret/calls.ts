import { functionFamily } from '../knowledge/functions.js';
import type { Call, Expr, Parameter } from '../syntax/ast.js';
import { joinFacts, NO_FACTS, union } from '../values/facts.js';
import { emptyTable, joinValues, list, newCell, newEstimator, newMapping, newTable } from '../values/join.js';
import { Scope } from '../values/store.js';
import { constant, type FunctionOf, factsOf, opaque, UNKNOWN, type Value } from '../values/value.js';
import { countWork } from '../values/work.js';
import { accessorMethod, hasAccessor, isAccessor } from './accessors.js';
import { attributeOf, boundMethod } from './attributes.js';
import { callEstimator, estimatorMethod, networkCall } from './estimator-methods.js';
import { columnOrAttribute, evaluate } from './expressions.js';
import { elementsOf } from './iterate.js';
import { callLibrary } from './library-calls.js';
import type { Machine } from './machine.js';
import { meetLabels } from './operators.js';
import { containerMethod, opaqueMethod } from './other-methods.js';
import { runBody } from './statements.js';
import { tableMethod } from './table-methods.js';
import { viewMethod } from './view-methods.js';

/** Arguments of a call, evaluated. */
export interface Arguments {
  readonly positional: readonly Value[];
  readonly keywords: ReadonlyMap<string, Value>;
  /** Expressions of the arguments, for texts: positions, then names. */
  readonly expressions: readonly Expr[];
  readonly keywordExpressions: ReadonlyMap<string, Expr>;
  readonly all: readonly Value[];
}

export function argument(args: Arguments, position: number, ...names: readonly string[]): Value | undefined {
  for (const name of names) {
    const value = args.keywords.get(name);
    if (value !== undefined) return value;
  }
  return args.positional[position];
}

export function argumentExpression(
  args: Arguments,
  position: number,
  ...names: readonly string[]
): Expr | undefined {
  for (const name of names) {
    const expression = args.keywordExpressions.get(name);
    if (expression !== undefined) return expression;
  }
  return args.expressions[position];
}

export function flag(args: Arguments, name: string): boolean | undefined {
  const value = args.keywords.get(name);
  return value?.type === 'constant' ? Boolean(value.value) : undefined;
}

export function evaluateArguments(machine: Machine, call: Call): Arguments {
  const positional: Value[] = [];
  const expressions: Expr[] = [];
  const keywords = new Map<string, Value>();
  const keywordExpressions = new Map<string, Expr>();
  const spread: Value[] = [];
  for (const { name, star, value: expression } of call.args) {
    const value = evaluate(machine, expression);
    if (name !== undefined) {
      keywords.set(name, value);
      keywordExpressions.set(name, expression);
    } else if (star === '**') {
      if (value.type !== 'mapping') {
        spread.push(value);
        continue;
      }
      countWork(8 * value.cell.value.entries.size);
      for (const [key, entry] of value.cell.value.entries) {
        keywords.set(key, entry);
        keywordExpressions.set(key, expression);
      }
    } else if (star === '*') {
      const elements = elementsOf(machine, value, expression);
      countWork(elements.known?.length ?? 1);
      for (const element of elements.known ?? [elements.common ?? UNKNOWN]) {
        positional.push(element);
        expressions.push(expression);
      }
    } else {
      positional.push(value);
      expressions.push(expression);
    }
  }
  const all = [...positional, ...keywords.values(), ...spread];
  return { positional, keywords, expressions, keywordExpressions, all };
}

export function argumentsOf(values: readonly Value[], expressions: readonly Expr[] = []): Arguments {
  return { positional: values, keywords: new Map(), expressions, keywordExpressions: new Map(), all: values };
}

export function evaluateCall(machine: Machine, call: Call): Value {
  machine.reachedCalls.add(call.end);
  if (call.callee.type === 'attribute') {
    const { name, object: expression } = call.callee;
    const owner = isAccessor(expression) ? evaluate(machine, expression.object) : undefined;
    if (owner !== undefined && isAccessor(expression) && hasAccessor(owner, expression.name)) {
      const args = evaluateArguments(machine, call);
      return accessorMethod(machine, owner, expression.name, name, args, call);
    }
    const object =
      owner !== undefined && expression.type === 'attribute'
        ? columnOrAttribute(machine, owner, expression)
        : evaluate(machine, expression);
    nameUnknownTraining(machine, object, name, call);
    // The method of something unknown: not an attribute of it that is called.
    if (object.type === 'opaque')
      return opaqueMethod(machine, object, name, evaluateArguments(machine, call), call);
    const method = attributeOf(machine, object, name, call.callee);
    return callValue(machine, method, evaluateArguments(machine, call), call);
  }
  const callee = evaluate(machine, call.callee);
  const args = evaluateArguments(machine, call);
  return callValue(machine, callee, args, call);
}

/** `thing.fit(…)` where nobody knows what the thing is, or of the class itself instead of an object. */
function nameUnknownTraining(machine: Machine, object: Value, name: string, call: Call): void {
  if (!/^(partial_)?fit(_transform|_predict|_resample)?$/.test(name)) return;
  const isKnown =
    object.type === 'library'
      ? functionFamily(`${object.path}.${name}`) !== undefined
      : object.type === 'estimator' || object.type === 'instance' || object.type === 'class';
  if (!isKnown) machine.skip(call, 'what is trained here is not known');
}

/** Calls any value. */
export function callValue(machine: Machine, callee: Value, args: Arguments, call: Call): Value {
  switch (callee.type) {
    case 'library':
      return callLibrary(machine, callee.path, args, call);
    case 'function':
      return callFunction(machine, callee, args, call);
    case 'class':
      return instantiate(machine, callee, args, call);
    case 'method':
      return callMethod(machine, callee.receiver, callee.name, args, call);
    case 'estimator':
      return callEstimator(machine, callee, args, call);
    case 'instance': {
      const own = boundMethod(callee, callee.of, '__call__');
      if (own !== undefined) return callFunction(machine, own, args, call);
      return networkCall(machine, callee.learned, args, call) ?? unknownCall(machine, args, call);
    }
    default:
      return unknownCall(machine, args, call);
  }
}

function callMethod(machine: Machine, receiver: Value, name: string, args: Arguments, call: Call): Value {
  switch (receiver.type) {
    case 'table':
      return tableMethod(machine, receiver, name, args, call);
    case 'view':
      return viewMethod(machine, receiver, name, args, call);
    case 'estimator':
      return estimatorMethod(machine, receiver, name, args, call);
    case 'instance':
      return instanceMethod(machine, receiver, name, args, call);
    case 'opaque':
      return opaqueMethod(machine, receiver, name, args, call);
    default:
      return containerMethod(machine, receiver, name, args, call);
  }
}

/** A method that the class inherits from a library. */
function instanceMethod(
  machine: Machine,
  receiver: Value & { type: 'instance' },
  name: string,
  args: Arguments,
  call: Call,
): Value {
  const method = (wanted: string): FunctionOf | undefined => boundMethod(receiver, receiver.of, wanted);
  const [fit, transform] = [method('fit'), method('transform')];
  if (name === 'fit_transform' && fit !== undefined && transform !== undefined) {
    callFunction(machine, fit, args, call);
    const [rows] = args.positional;
    return callFunction(
      machine,
      transform,
      argumentsOf(rows === undefined ? [] : [rows], args.expressions),
      call,
    );
  }
  return estimatorMethod(machine, { type: 'estimator', cell: receiver.learned }, name, args, call, receiver);
}

/** A call of something unknown: the result is made of the arguments, whatever happens inside. */
export function unknownCall(machine: Machine, args: Arguments, call: Call): Value {
  let facts = NO_FACTS;
  let scored = NO_FACTS.scores;
  for (const value of args.all) {
    const next = factsOf(value);
    scored = union(scored, meetLabels(machine, facts, next, call));
    facts = joinFacts(facts, next);
  }
  for (const value of args.all) runCallback(machine, value, call);
  const result = { ...facts, scores: union(facts.scores, scored) };
  if (facts === NO_FACTS) {
    const place = machine.placeKey(call);
    return { type: 'opaque', facts, source: machine.source(`call:${place}`, machine.label(call)) };
  }
  const single = args.all.find((value) => value.type === 'table');
  if (single?.type !== 'table' || facts.rows.length === 0) return opaque(result);
  const from = args.all.flatMap((value) => (value.type === 'table' ? [...value.cell.value.from] : []));
  return newTable({ ...emptyTable(result, single.cell.value.shape), from: [...new Set(from)] });
}

/** A function handed to unknown code is called by it, with arguments nobody knows. */
export function runCallback(machine: Machine, value: Value, call: Call): void {
  if (value.type !== 'function' || value.self !== undefined) return;
  if (value.definition.type === 'function' && value.definition.decorators.length > 0) return;
  callFunction(machine, value, argumentsOf([]), call);
}

export function callFunction(machine: Machine, fn: FunctionOf, args: Arguments, call: Call): Value {
  if (!machine.mayCall(fn)) {
    machine.skip(
      call,
      machine.exhausted ? 'the script is too entangled to follow to its end' : 'a recursive call',
    );
    return opaque({ ...args.all.map((value) => factsOf(value)).reduce(joinFacts, NO_FACTS), certain: false });
  }
  const outer = machine.scope;
  const statement = machine.statement;
  machine.scope = new Scope(fn.scope);
  const frame = { fn, site: call.start, call, statement, returns: [] as Value[] };
  bindParameters(machine, fn, args);
  machine.frames.push(frame);
  runBody(machine, fn.definition.body);
  machine.frames.pop();
  machine.scope = outer;
  machine.statement = statement;
  const isGenerator = fn.definition.type === 'function' && frame.returns.length === 0;
  const [first, ...others] = frame.returns;
  if (first === undefined) return isGenerator ? constant(null) : UNKNOWN;
  return others.reduce(joinValues, first);
}

function bindParameters(machine: Machine, fn: FunctionOf, args: Arguments): void {
  const given = [...(fn.self === undefined ? [] : [fn.self]), ...(fn.bound ?? []), ...args.positional];
  let position = 0;
  const used = new Set<string>();
  for (const parameter of fn.definition.params) {
    let value: Value;
    if (parameter.star === '*') {
      value = list(given.slice(position), true);
      position = given.length;
    } else if (parameter.star === '**') {
      value = newMapping({ entries: new Map([...args.keywords].filter(([name]) => !used.has(name))) });
    } else {
      value = given[position] ?? args.keywords.get(parameter.name) ?? fallback(machine, fn, parameter);
      used.add(parameter.name);
      position += 1;
    }
    machine.scope.names.set(parameter.name, newCell(value));
  }
}

function fallback(machine: Machine, fn: FunctionOf, parameter: Parameter): Value {
  if (parameter.fallback === undefined) return UNKNOWN;
  const known = fn.defaults?.get(parameter.name);
  if (known !== undefined) return known;
  const outer = machine.scope;
  machine.scope = fn.scope;
  const value = evaluate(machine, parameter.fallback);
  machine.scope = outer;
  return value;
}

function instantiate(machine: Machine, of: Value & { type: 'class' }, args: Arguments, call: Call): Value {
  const learned = newEstimator({
    path: of.definition.name,
    role: 'network',
    options: new Map(),
    steps: [],
    training: undefined,
    fits: [],
    held: NO_FACTS,
  });
  const instance: Value = { type: 'instance', of, attributes: new Map(), learned: learned.cell };
  const init = boundMethod(instance, of, '__init__');
  if (init !== undefined) callFunction(machine, init, args, call);
  else {
    // A data class: its fields are filled in order.
    const fields = [...of.members.keys()];
    args.positional.forEach((value, at) => {
      const field = fields[at];
      if (field !== undefined) instance.attributes.set(field, newCell(value));
    });
    for (const [name, value] of args.keywords) instance.attributes.set(name, newCell(value));
  }
  return instance;
}
