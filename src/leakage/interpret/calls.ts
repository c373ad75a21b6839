import { functionFamily } from '../library-models/functions.js';
import type { Call, Expr, FunctionDefinition, Lambda, Parameter } from '../syntax/ast.js';
import { joinFacts, NO_FACTS } from '../values/facts.js';
import { joinValues, list, newCell, newEstimator, newMapping } from '../values/join.js';
import { Scope } from '../values/store.js';
import { constant, type FunctionOf, factsOf, opaque, UNKNOWN, type Value } from '../values/value.js';
import { countWork } from '../values/work.js';
import { accessorMethod, hasAccessor, isAccessor } from './accessors.js';
import { type Arguments, argumentsOf } from './arguments.js';
import { attributeOf, boundMethod, columnOrAttribute } from './attributes.js';
import { callEstimator, estimatorMethod, networkCall } from './estimator-methods.js';
import type { Interpreter } from './interpreter.js';
import { elementsOf } from './iterate.js';
import { callLibrary } from './library-calls.js';
import { containerMethod, opaqueMethod } from './other-methods.js';
import { bindRemovedFrame } from './removed-cells.js';
import { tableMethod } from './table-methods.js';
import { unknownCall } from './unknown-calls.js';
import { viewMethod } from './view-methods.js';

function evaluateArguments(interp: Interpreter, call: Call): Arguments {
  const positional: Value[] = [];
  const expressions: Expr[] = [];
  const keywords = new Map<string, Value>();
  const keywordExpressions = new Map<string, Expr>();
  const spread: Value[] = [];
  for (const { name, star, value: expression } of call.args) {
    const value = interp.evaluate(expression);
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
      const elements = elementsOf(interp, value, expression);
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

export function evaluateCall(interp: Interpreter, call: Call): Value {
  interp.reachedCalls.add(call.end);
  if (call.callee.type === 'attribute') {
    const { name, object: expression } = call.callee;
    bindRemovedFrame(interp, expression, name);
    const owner = isAccessor(expression) ? interp.evaluate(expression.object) : undefined;
    if (owner !== undefined && isAccessor(expression) && hasAccessor(owner, expression.name)) {
      const args = evaluateArguments(interp, call);
      return accessorMethod(interp, owner, expression.name, name, args, call);
    }
    const object =
      owner !== undefined && expression.type === 'attribute'
        ? columnOrAttribute(interp, owner, expression)
        : interp.evaluate(expression);
    nameUnknownTraining(interp, object, name, call);
    if (name === 'reset_parameters') interp.foldRounds.resetAll();
    // The method of something unknown: not an attribute of it that is called.
    if (object.type === 'opaque')
      return opaqueMethod(interp, object, name, evaluateArguments(interp, call), call);
    const method = attributeOf(interp, object, name, call.callee);
    return callValue(interp, method, evaluateArguments(interp, call), call);
  }
  const callee = interp.evaluate(call.callee);
  const args = evaluateArguments(interp, call);
  return callValue(interp, callee, args, call);
}

/** `thing.fit(…)` where nobody knows what the thing is, or of the class itself instead of an object. */
function nameUnknownTraining(interp: Interpreter, object: Value, name: string, call: Call): void {
  if (!/^(partial_)?fit(_transform|_predict|_resample)?$/.test(name)) return;
  const isKnown =
    object.type === 'library'
      ? functionFamily(`${object.path}.${name}`) !== undefined
      : object.type === 'estimator' || object.type === 'instance' || object.type === 'class';
  if (!isKnown) interp.skip(call, 'what is trained here is not known');
}

/** Calls any value. */
export function callValue(interp: Interpreter, callee: Value, args: Arguments, call: Call): Value {
  switch (callee.type) {
    case 'library':
      return callLibrary(interp, callee.path, args, call);
    case 'function':
      return callFunction(interp, callee, args, call);
    case 'class':
      return instantiate(interp, callee, args, call);
    case 'method':
      return callMethod(interp, callee.receiver, callee.name, args, call);
    case 'estimator':
      return callEstimator(interp, callee, args, call);
    case 'instance': {
      const own = boundMethod(callee, callee.of, '__call__');
      if (own !== undefined) return callFunction(interp, own, args, call);
      return networkCall(interp, callee.learned, args, call) ?? unknownCall(interp, args, call);
    }
    default:
      return unknownCall(interp, args, call);
  }
}

function callMethod(interp: Interpreter, receiver: Value, name: string, args: Arguments, call: Call): Value {
  switch (receiver.type) {
    case 'table':
      return tableMethod(interp, receiver, name, args, call);
    case 'view':
      return viewMethod(interp, receiver, name, args, call);
    case 'estimator':
      return estimatorMethod(interp, receiver, name, args, call);
    case 'instance':
      return instanceMethod(interp, receiver, name, args, call);
    case 'opaque':
      return opaqueMethod(interp, receiver, name, args, call);
    default:
      return containerMethod(interp, receiver, name, args, call);
  }
}

/** A method that the class inherits from a library. */
function instanceMethod(
  interp: Interpreter,
  receiver: Value & { type: 'instance' },
  name: string,
  args: Arguments,
  call: Call,
): Value {
  const method = (wanted: string): FunctionOf | undefined => boundMethod(receiver, receiver.of, wanted);
  const [fit, transform] = [method('fit'), method('transform')];
  if (name === 'fit_transform' && fit !== undefined && transform !== undefined) {
    callFunction(interp, fit, args, call);
    const [rows] = args.positional;
    return callFunction(
      interp,
      transform,
      argumentsOf(rows === undefined ? [] : [rows], args.expressions),
      call,
    );
  }
  return estimatorMethod(interp, { type: 'estimator', cell: receiver.learned }, name, args, call, receiver);
}

export function callFunction(interp: Interpreter, fn: FunctionOf, passed: Arguments, call: Call): Value {
  const args = withBoundNames(fn, passed);
  const inputs = [...(fn.self === undefined ? [] : [fn.self]), ...(fn.bound ?? []), ...args.positional];
  const isRepeated = interp.isRepeated(fn);
  if (isRepeated || !interp.mayCall(fn)) {
    interp.skip(
      call,
      interp.exhausted
        ? 'the script is too entangled to follow to its end'
        : isRepeated
          ? 'a function that is called too often to follow each call'
          : 'a recursive call',
    );
    const facts = args.all.map((value) => factsOf(value)).reduce(joinFacts, NO_FACTS);
    return (
      (isRepeated ? interp.calls.resultOf(fn, inputs) : undefined) ?? opaque({ ...facts, certain: false })
    );
  }
  const outer = interp.scope;
  const statement = interp.statement;
  interp.scope = new Scope(fn.scope);
  const frame = { fn, site: call.start, call, statement, returns: [] as Value[] };
  bindParameters(interp, fn, args, inputs);
  interp.context.enterCall(frame);
  interp.runBody(fn.definition.body);
  interp.context.leaveCall();
  interp.scope = outer;
  interp.statement = statement;
  const isGenerator = fn.definition.type === 'function' && frame.returns.length === 0;
  const [first, ...others] = frame.returns;
  const result =
    first === undefined ? (isGenerator ? constant(null) : UNKNOWN) : others.reduce(joinValues, first);
  interp.calls.noteRun(fn, inputs, result);
  interp.calls.noteResult(statement, result.type === 'instance' ? 'object' : interp.dataOf(result).rows);
  return result;
}

/** The arguments of a call, with those that `functools.partial` has bound by name. */
function withBoundNames({ boundNames }: FunctionOf, args: Arguments): Arguments {
  if (boundNames === undefined || boundNames.size === 0) return args;
  countWork(boundNames.size);
  const keywords = new Map([...boundNames, ...args.keywords]);
  return { ...args, keywords, all: [...args.positional, ...keywords.values()] };
}

function bindParameters(
  interp: Interpreter,
  fn: FunctionOf,
  args: Arguments,
  positional: readonly Value[],
): void {
  let position = 0;
  const used = new Set<string>();
  for (const parameter of fn.definition.params) {
    let value: Value;
    if (parameter.star === '*') {
      value = list(positional.slice(position), true);
      position = positional.length;
    } else if (parameter.star === '**') {
      value = newMapping({ entries: new Map([...args.keywords].filter(([name]) => !used.has(name))) });
    } else {
      value = positional[position] ?? args.keywords.get(parameter.name) ?? fallback(interp, fn, parameter);
      used.add(parameter.name);
      position += 1;
    }
    interp.scope.names.set(parameter.name, newCell(value));
  }
}

function fallback(interp: Interpreter, fn: FunctionOf, parameter: Parameter): Value {
  if (parameter.fallback === undefined) return UNKNOWN;
  const known = fn.defaults?.get(parameter.name);
  if (known !== undefined) return known;
  const outer = interp.scope;
  interp.scope = fn.scope;
  const value = interp.evaluate(parameter.fallback);
  interp.scope = outer;
  return value;
}

function instantiate(interp: Interpreter, of: Value & { type: 'class' }, args: Arguments, call: Call): Value {
  const learned = newEstimator({
    path: of.definition.name,
    role: 'network',
    options: new Map(),
    steps: [],
    training: undefined,
    fits: [],
    argumentFacts: NO_FACTS,
  });
  const instance: Value = { type: 'instance', of, attributes: new Map(), learned: learned.cell };
  interp.sharedLayers.addInstance(instance);
  const init = boundMethod(instance, of, '__init__');
  if (init !== undefined) callFunction(interp, init, args, call);
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

/** A function with the values of its parameters as they are now. */
export function makeFunction(interp: Interpreter, definition: FunctionDefinition | Lambda): FunctionOf {
  const defaults = new Map<string, Value>();
  for (const { name, fallback } of definition.params) {
    if (fallback !== undefined) defaults.set(name, interp.evaluate(fallback));
  }
  return { type: 'function', definition, scope: interp.scope, ...(defaults.size > 0 ? { defaults } : {}) };
}
