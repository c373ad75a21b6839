import type { Attribute } from '../syntax/ast.js';
import { NO_FACTS } from '../values/facts.js';
import { emptyTable, list, newSequence, newTable } from '../values/join.js';
import {
  type ClassOf,
  type FunctionOf,
  factsOf,
  type Instance,
  type Method,
  opaque,
  UNKNOWN,
  type Value,
} from '../values/value.js';
import { countWork } from '../values/work.js';
import { argumentsOf } from './arguments.js';
import { libraryMember } from './bounds.js';
import { lengthOf } from './builtins.js';
import { readSearchResult } from './fitted-attributes.js';
import type { Interpreter } from './interpreter.js';
import { columnOf } from './rows-and-columns.js';

/** Classes that are looked through for a name. */
const MAX_BASES = 64;

/** Attributes of a table that are the same rows in another form. */
const SAME_ROWS = new Set(['values', 'T', 'str', 'dt', 'cat', 'array', 'data', 'real', 'x', 'y', 'tensors']);

/** Looks a name up in a class and its bases, each class once: a class may be reached in many ways. */
function memberOf(of: ClassOf, name: string, seen = new Set<object>()): Value | undefined {
  countWork(1);
  const own = of.members.get(name)?.value;
  if (own !== undefined || seen.size >= MAX_BASES) return own;
  seen.add(of.members);
  for (const base of of.bases) {
    if (base.type !== 'class' || seen.has(base.members)) continue;
    const inherited = memberOf(base, name, seen);
    if (inherited !== undefined) return inherited;
  }
  return undefined;
}

export function boundMethod(self: Value, of: ClassOf, name: string): FunctionOf | undefined {
  const member = memberOf(of, name);
  if (member?.type !== 'function') return undefined;
  if (isDecorated(member, 'staticmethod')) return { ...member, owner: of };
  return { ...member, self: isDecorated(member, 'classmethod') ? of : self, owner: of };
}

/** Whether a function of a class has this decorator of Python: it says what the function is called with. */
function isDecorated({ definition }: FunctionOf, ...names: readonly string[]): boolean {
  return (
    definition.type === 'function' &&
    definition.decorators.some((decorator) => decorator.type === 'name' && names.includes(decorator.id))
  );
}

function instanceAttribute(
  interp: Interpreter,
  instance: Instance,
  name: string,
  expression: Attribute,
): Value {
  const own = instance.attributes.get(name);
  if (own !== undefined) return own.value;
  const method = boundMethod(instance, instance.of, name);
  if (method === undefined) return memberOf(instance.of, name) ?? methodOf(instance, name);
  if (!isDecorated(method, 'property', 'cached_property')) return method;
  // To read it is to call it.
  const { start, end } = expression;
  return interp.callFunction(method, argumentsOf([]), {
    type: 'call',
    callee: expression,
    args: [],
    start,
    end,
  });
}

function classAttribute(of: ClassOf, name: string): Value {
  const member = memberOf(of, name) ?? UNKNOWN;
  return member.type === 'function' && isDecorated(member, 'classmethod')
    ? { ...member, self: of, owner: of }
    : member;
}

export function attributeOf(interp: Interpreter, object: Value, name: string, expression: Attribute): Value {
  switch (object.type) {
    case 'library':
      return libraryMember(object.path, name);
    case 'instance':
      return instanceAttribute(interp, object, name, expression);
    case 'class':
      return classAttribute(object, name);
    case 'table': {
      const state = object.cell.value;
      if (name === 'shape') return list([lengthOf(interp, object), UNKNOWN], true);
      if (name === 'height') return lengthOf(interp, object);
      // `indices` of a part that `random_split` made.
      const isSubset =
        name === 'indices' && state.rows.some(({ partition }) => partition?.form === 'holdout');
      if (name === 'index' || isSubset) return { type: 'positions', steps: [], of: state.rows };
      if (name === 'columns' && state.closed && state.shape === 'frame') {
        countWork(state.columns.size);
        return { ...opaque({ ...NO_FACTS, fits: state.fits }), names: [...state.columns.keys()] };
      }
      if (name === 'columns' || name === 'dtypes' || name === 'dtype' || name === 'size' || name === 'ndim') {
        return opaque({ ...NO_FACTS, fits: state.fits });
      }
      // A frame whose columns are samples: they have names again, other ones.
      if (name === 'T' && state.shape === 'frame') return newTable(emptyTable(factsOf(object), 'frame'));
      if (name === 'values' || name === 'T') {
        const stays = state.shape === 'row' || (state.shape === 'column' && name === 'values');
        return newTable(stays ? state : { ...state, shape: 'array' });
      }
      if (SAME_ROWS.has(name) && state.shape !== 'frame') return object;
      // What `predict` of a trainer gives holds the predictions, and the labels beside them.
      if (name === 'predictions' && state.shape === 'array' && state.predictions.length > 0) return object;
      if (name === 'label_ids' && state.shape === 'array' && state.predictions.length > 0)
        return newTable(emptyTable({ ...NO_FACTS, rows: state.rows, certain: state.certain }));
      if (state.shape === 'frame' && state.columns.has(name)) return newTable(columnOf(state, name));
      return methodOf(object, name);
    }
    case 'estimator':
      return readSearchResult(interp, object, name, expression) ?? methodOf(object, name);
    case 'opaque':
      if (object.source !== undefined && name === 'shape')
        return newSequence({ items: [lengthOf(interp, object)], rest: UNKNOWN, tuple: true });
      if (object.source !== undefined) return object;
      // Of what a search found: where the best score is, not how good that is.
      if (FOUND.test(name) && object.facts.fits.some(({ kind }) => kind === 'selection'))
        return opaque({ ...object.facts, scores: NO_FACTS.scores });
      return methodOf(object, name);
    case 'mapping':
      return name === 'history' ? object : methodOf(object, name);
    case 'positions':
      return name === 'values' || name === 'array' ? object : methodOf(object, name);
    case 'sequence':
    case 'view':
      return methodOf(object, name);
    default:
      return factsOf(object) === NO_FACTS ? UNKNOWN : methodOf(opaque(factsOf(object)), name);
  }
}

/** What `minimize(…)` and a study found. */
const FOUND = /^(x|best_params)$/;

/** Attributes of grouped rows that are not columns. */
const GROUP_ATTRIBUTES = /^(groups|indices|ngroups|plot|str|dt|cat|rolling|expanding|resample)$/;

/** `frame.price` that is not called is a column, unless it is a locator or an accessor. */
export function columnOrAttribute(interp: Interpreter, object: Value, expression: Attribute): Value {
  if (object.type === 'view' && object.form === 'groups' && !GROUP_ATTRIBUTES.test(expression.name))
    return { ...object, table: newTable(columnOf(object.table.cell.value, expression.name)) };
  const value = attributeOf(interp, object, expression.name, expression);
  const isLocator = /^(loc|iloc|ix|at|iat|str|dt|cat|plot|skb)$/.test(expression.name);
  if (value.type !== 'method' || object.type !== 'table' || isLocator) return value;
  const state = object.cell.value;
  return state.shape === 'frame' ? newTable(columnOf(state, expression.name)) : value;
}

function methodOf(receiver: Value, name: string): Method {
  return { type: 'method', receiver, name };
}
