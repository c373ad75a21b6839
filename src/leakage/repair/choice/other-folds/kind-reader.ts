import type { Argument, Call, Expr, FunctionDefinition, Lambda } from '../../../syntax/ast.js';
import { calleeName, namesInExpression } from '../../../syntax/walk.js';
import { countWork } from '../../../values/work.js';
import {
  isLearnedHere,
  isOfRows,
  LEARNED,
  notFollowed,
  PLAIN,
  type RowKind,
  type Rows,
} from './row-kinds.js';

export type Kinds = (name: string) => RowKind;

/** Functions of numpy that give one value for each one of their arguments. */
const EACH = /^(abs|absolute|exp|expm1|log|log1p|sqrt|square|clip|maximum|minimum|power|nan_to_num)$/;
const ROUNDS = /^(round|rint|floor|ceil|around|sign)$/;
/** Methods of a table that give one value for each one of it. */
const EACH_METHOD = /^(clip|copy|abs)$/;
/** What one value for each row is made of several. */
const OVER_COLUMNS = /^(mean|sum|average|max|min|median)$/;
const MAX_CALLS = 4;

type Bound = ReadonlyMap<string, RowKind>;
const NOTHING_BOUND: Bound = new Map();

/** What a value of an expression has to do with the rows, as far as it is computed row by row. */
export function kindOfValue(expression: Expr, kinds: Kinds): RowKind {
  return new KindReader(kinds, 0).of(expression, NOTHING_BOUND);
}

class KindReader {
  readonly #kinds: Kinds;
  readonly #depth: number;

  constructor(kinds: Kinds, depth: number) {
    this.#kinds = kinds;
    this.#depth = depth;
  }

  of(expression: Expr, bound: Bound): RowKind {
    countWork(1);
    switch (expression.type) {
      case 'constant':
        return PLAIN;
      case 'name':
        return bound.get(expression.id) ?? this.#kinds(expression.id);
      case 'compare':
        return this.#compared(expression, bound);
      case 'binary':
        return this.#combined(expression.operator, expression.left, expression.right, bound);
      case 'unary':
        return this.#negated(expression, bound);
      case 'attribute':
        return this.#attribute(expression, bound);
      case 'subscript':
        return this.#picked(expression, bound);
      case 'call':
        return this.#called(expression, bound);
      case 'comprehension':
        return this.#listed(expression, bound);
      case 'sequence':
        return this.#together(expression.items, bound);
      default:
        return this.#otherwise(expression, bound);
    }
  }

  /** Something that is not followed: learned from the rows, if it reads any. */
  #otherwise(expression: Expr, bound: Bound): RowKind {
    return notFollowed([...namesInExpression(expression)].map(({ id }) => bound.get(id) ?? this.#kinds(id)));
  }

  /** Values of the same rows, one by one, with what is the same for all rows. */
  #eachOf(parts: readonly RowKind[], type: Rows['type'] | undefined): RowKind {
    if (parts.some((part) => /^(list|entries|function)$/.test(part.is) || isLearnedHere(part)))
      return notFollowed(parts);
    const rows = parts.filter((part): part is Rows => part.is === 'rows');
    const [first] = rows;
    const isLearned = parts.some(({ is }) => is === 'learned');
    if (first === undefined) return isLearned ? LEARNED : PLAIN;
    const like = rows.find((one) => one.like !== undefined)?.like;
    const isSame = <T>(pick: (one: Rows) => T): T | undefined =>
      rows.every((one) => pick(one) === pick(first)) ? pick(first) : undefined;
    return {
      is: 'rows',
      axes: isSame((one) => one.axes),
      type:
        type ?? (rows.length === parts.length && rows.every((one) => one.type !== 'float') ? 'int' : 'float'),
      isArray: isSame((one) => one.isArray),
      ...(like === undefined ? {} : { like }),
      isApplied: isLearned || rows.some((one) => one.isApplied),
    };
  }

  #all(expressions: readonly Expr[], bound: Bound): RowKind[] {
    return expressions.map((part) => this.of(part, bound));
  }

  #compared(expression: Extract<Expr, { type: 'compare' }>, bound: Bound): RowKind {
    if (
      expression.operators.some((operator) => !/^(<|>|<=|>=|==|!=)$/.test(operator)) ||
      expression.operands.length !== 2
    )
      return this.#otherwise(expression, bound);
    return this.#eachOf(this.#all(expression.operands, bound), 'bool');
  }

  #combined(operator: string, left: Expr, right: Expr, bound: Bound): RowKind {
    const [a, b] = [this.of(left, bound), this.of(right, bound)];
    if (operator === '@') return weighted(a, b);
    if (/^(and|or)$/.test(operator)) return notFollowed([a, b]);
    const isBool = /^[&|^]$/.test(operator);
    return this.#eachOf([a, b], isBool ? 'bool' : operator === '/' ? 'float' : undefined);
  }

  #negated(expression: Extract<Expr, { type: 'unary' }>, bound: Bound): RowKind {
    const value = this.of(expression.operand, bound);
    if (expression.operator === 'not') return notFollowed([value]);
    return this.#eachOf([value], value.is === 'rows' ? value.type : undefined);
  }

  #attribute(expression: Extract<Expr, { type: 'attribute' }>, bound: Bound): RowKind {
    const object = this.of(expression.object, bound);
    if (object.is === 'rows')
      return expression.name === 'values' ? { ...object, isArray: true } : notFollowed([object]);
    return notFollowed([object]);
  }

  #picked(expression: Extract<Expr, { type: 'subscript' }>, bound: Bound): RowKind {
    const { object, indices } = expression;
    const [first, second, ...more] = indices;
    // The number of columns is that of some rows, too.
    if (object.type === 'attribute' && object.name === 'shape')
      return first?.type === 'constant' && first.value === 1 ? PLAIN : this.#otherwise(expression, bound);
    const kind = this.of(object, bound);
    const isIndexed = this.#all(indices, bound).some(isOfRows);
    if (isIndexed || more.length > 0) return this.#otherwise(expression, bound);
    if (kind.is === 'list' || kind.is === 'entries')
      return second === undefined ? kind.of : notFollowed([kind]);
    if (kind.is === 'rows' && kind.isArray === true && kind.axes === 2)
      return first?.type === 'slice' && isWhole(first) && second !== undefined && second.type !== 'slice'
        ? { ...withoutShape(kind), axes: 1 }
        : notFollowed([kind]);
    if (kind.is === 'rows' && kind.isArray === false && kind.axes === 2)
      return second === undefined && first?.type !== 'slice' && first?.type !== 'sequence'
        ? { ...withoutShape(kind), axes: 1 }
        : notFollowed([kind]);
    return notFollowed([kind]);
  }

  #called(call: Call, bound: Bound): RowKind {
    const { callee, args } = call;
    const name = calleeName(call);
    const values = args.map(({ value }) => this.of(value, bound));
    if (args.some(({ star }) => star !== '')) return this.#unknownCall(call, bound);
    if (callee.type === 'name') {
      const known = bound.get(name) ?? this.#kinds(name);
      if (known.is === 'function') return this.#ownFunction(known.definition, args, values);
      if (name === 'sum' && args.length === 1) return this.#summed(values[0] ?? PLAIN);
      return /^(int|float|list|tuple)$/.test(name) && !values.some(isOfRows)
        ? PLAIN
        : this.#unknownCall(call, bound);
    }
    if (callee.type !== 'attribute') return this.#unknownCall(call, bound);
    if (callee.object.type === 'name' && callee.object.id === 'np')
      return this.#ofNumpy(name, args, values) ?? this.#unknownCall(call, bound);
    return this.#method(call, this.of(callee.object, bound), values) ?? this.#unknownCall(call, bound);
  }

  #unknownCall(call: Call, bound: Bound): RowKind {
    const parts = [call.callee, ...call.args.map(({ value }) => value)];
    return notFollowed(this.#all(parts, bound));
  }

  #ofNumpy(name: string, args: readonly Argument[], values: readonly RowKind[]): RowKind | undefined {
    const [first, second] = values;
    if (first === undefined) return undefined;
    const axis = axisOf(args);
    if (/^(asarray|array)$/.test(name)) return first.is === 'rows' ? { ...first, isArray: true } : undefined;
    if (EACH.test(name)) return this.#eachOf(values, undefined);
    if (ROUNDS.test(name)) return this.#eachOf(values, 'float');
    if (name === 'where' && values.length === 3) return this.#where(args, values);
    if (name === 'digitize') return inArray(this.#eachOf(values, 'int'));
    if (name === 'searchsorted' && second?.is === 'rows' && first.is !== 'rows')
      return inArray(this.#eachOf(values, 'int'));
    if (name === 'column_stack' && first.is === 'list')
      return { ...withoutShape(first.of), axes: 2, isArray: true };
    if (name === 'dot' && second !== undefined) return weighted(first, second);
    if (OVER_COLUMNS.test(name)) return this.#overColumns(first, axis, values.slice(1));
    return name === 'argmax' ? chosenColumn(first, axis) : undefined;
  }

  #where(args: readonly Argument[], values: readonly RowKind[]): RowKind {
    const constants = args.slice(1).map(({ value }) => (value.type === 'constant' ? value.value : undefined));
    if (constants.some((value) => typeof value === 'string')) return notFollowed(values);
    const isInt = constants.every((value) => typeof value === 'boolean' || Number.isInteger(value));
    return inArray(this.#eachOf(values, isInt ? 'int' : 'float'));
  }

  /** `np.mean(P, axis=1)`, `np.average([a, b], axis=0, weights=w)` */
  #overColumns(first: RowKind, axis: number | undefined, others: readonly RowKind[]): RowKind | undefined {
    if (others.some(isLearnedHere)) return undefined;
    const isLearned = others.some(isOfRows);
    if (first.is === 'list' && axis === 0)
      return { ...first.of, type: 'float', isApplied: first.of.isApplied || isLearned };
    if (first.is !== 'rows' || first.axes !== 2 || axis !== 1) return undefined;
    return { ...withoutShape(first), axes: 1, type: 'float', isApplied: first.isApplied || isLearned };
  }

  #method(call: Call, object: RowKind, values: readonly RowKind[]): RowKind | undefined {
    if (object.is !== 'rows') return undefined;
    const name = calleeName(call);
    const [first] = values;
    if (name === 'astype') {
      const type = typeNamed(call.args[0]?.value);
      return type === undefined || call.args.length > 1 ? undefined : { ...object, type };
    }
    if (name === 'to_numpy' && values.length === 0) return { ...object, isArray: true };
    if (name === 'round') return this.#eachOf([object, ...values], 'float');
    if (EACH_METHOD.test(name)) return this.#eachOf([object, ...values], object.type);
    if (name === 'dot' && first !== undefined) return weighted(object, first);
    if (OVER_COLUMNS.test(name) && name !== 'average')
      return this.#overColumns(object, axisOf(call.args, 0), []);
    return name === 'argmax' ? chosenColumn(object, axisOf(call.args, 0)) : undefined;
  }

  /** `sum(w * oof[name] for w, name in zip(weights, names))` */
  #summed(value: RowKind): RowKind {
    if (value.is !== 'list') return notFollowed([value]);
    return { ...value.of, type: value.of.type === 'float' ? 'float' : 'int' };
  }

  #listed(expression: Extract<Expr, { type: 'comprehension' }>, bound: Bound): RowKind {
    const [clause, ...more] = expression.clauses;
    if (
      clause === undefined ||
      more.length > 0 ||
      /^(dict|set)$/.test(expression.form) ||
      clause.conditions.length > 0
    )
      return this.#otherwise(expression, bound);
    const inner = this.#bind(clause.target, clause.iterable, bound);
    if (inner === undefined) return this.#otherwise(expression, bound);
    const element = this.of(expression.element, inner);
    return element.is === 'rows'
      ? { is: 'list', of: element }
      : isOfRows(element)
        ? notFollowed([element])
        : this.#otherwise(expression, bound);
  }

  /** The variables of a comprehension with what each turn gives them. */
  #bind(target: Expr, iterable: Expr, bound: Bound): Bound | undefined {
    const turns = this.#turns(iterable, bound);
    const [only] = turns;
    if (only === undefined) return undefined;
    if (target.type === 'name' && turns.length === 1) return new Map([...bound, [target.id, only]]);
    if (target.type !== 'sequence' || target.items.length !== turns.length) return undefined;
    const added = target.items.flatMap((item, at): [string, RowKind][] => {
      const turn = turns[at];
      return item.type === 'name' && turn !== undefined ? [[item.id, turn]] : [];
    });
    return added.length === turns.length ? new Map([...bound, ...added]) : undefined;
  }

  /** What each turn of a loop over something gives, one for each variable. */
  #turns(iterable: Expr, bound: Bound): RowKind[] {
    if (
      iterable.type === 'call' &&
      iterable.args.every(({ star, name }) => star === '' && name === undefined)
    ) {
      const name = calleeName(iterable);
      if (name === 'zip') return iterable.args.flatMap(({ value }) => this.#turns(value, bound).slice(0, 1));
      if (name === 'enumerate') {
        const [value] = iterable.args;
        const inner = value === undefined ? [] : this.#turns(value.value, bound);
        return inner.length === 1 ? [PLAIN, ...inner] : [];
      }
      const isOfMethod = iterable.callee.type === 'attribute' && iterable.args.length === 0;
      const object = iterable.callee.type === 'attribute' ? this.of(iterable.callee.object, bound) : PLAIN;
      if (isOfMethod && object.is === 'entries')
        return name === 'values' ? [object.of] : name === 'items' ? [PLAIN, object.of] : [];
    }
    const kind = this.of(iterable, bound);
    if (kind.is === 'list') return [kind.of];
    return kind.is === 'plain' || kind.is === 'learned' ? [kind] : [];
  }

  #together(items: readonly Expr[], bound: Bound): RowKind {
    const kinds = this.#all(items, bound);
    const rows = kinds.filter((kind): kind is Rows => kind.is === 'rows');
    const [first] = rows;
    if (first !== undefined && rows.length === kinds.length) {
      const of = this.#eachOf(rows, undefined);
      return of.is === 'rows' ? { is: 'list', of } : notFollowed(kinds);
    }
    return notFollowed(kinds);
  }

  /** What a function of the script gives for these arguments. */
  #ownFunction(
    definition: FunctionDefinition | Lambda,
    args: readonly Argument[],
    values: readonly RowKind[],
  ): RowKind {
    const unknown = notFollowed(values);
    if (this.#depth >= MAX_CALLS) return unknown;
    const bound = new Map<string, RowKind>();
    for (const parameter of definition.params) {
      if (parameter.star !== '') return unknown;
      bound.set(parameter.name, PLAIN);
    }
    args.forEach(({ name }, at) => {
      const parameter = name ?? definition.params[at]?.name;
      const value = values[at];
      if (parameter !== undefined && value !== undefined) bound.set(parameter, value);
    });
    const reader = new KindReader(this.#kinds, this.#depth + 1);
    if (definition.type === 'lambda') return reader.of(definition.body, bound);
    return reader.returned(definition, bound) ?? unknown;
  }

  /** What a function of assignments and one `return` gives. */
  returned({ body, decorators }: FunctionDefinition, bound: Map<string, RowKind>): RowKind | undefined {
    if (decorators.length > 0) return undefined;
    for (const statement of body.statements) {
      if (statement.type === 'return')
        return statement.value === undefined ? undefined : this.of(statement.value, bound);
      if (statement.type === 'expression' && statement.value.type === 'constant') continue;
      if (statement.type !== 'assign') return undefined;
      const value = this.of(statement.value, bound);
      for (const target of statement.targets) {
        if (target.type !== 'name') return undefined;
        bound.set(target.id, value);
      }
    }
    return undefined;
  }
}

function inArray(kind: RowKind): RowKind {
  return kind.is === 'rows' ? { ...kind, isArray: true } : kind;
}

/** `P @ w`: one value for each row of a table with several, where `w` has no rows. */
function weighted(table: RowKind, weights: RowKind): RowKind {
  if (!isOfRows(table) && !isOfRows(weights)) return PLAIN;
  if (isLearnedHere(weights)) return weights;
  if (table.is !== 'rows' || table.axes !== 2 || (weights.is !== 'plain' && weights.is !== 'learned'))
    return notFollowed([table, weights]);
  return {
    ...withoutShape(table),
    axes: 1,
    type: 'float',
    isApplied: table.isApplied || weights.is === 'learned',
  };
}

/** `P.argmax(axis=1)` */
function chosenColumn(table: RowKind, axis: number | undefined): RowKind | undefined {
  if (table.is !== 'rows' || table.axes !== 2 || table.isArray !== true || axis !== 1) return undefined;
  return { ...withoutShape(table), axes: 1, type: 'int' };
}

function withoutShape(rows: Rows): Rows {
  const { like: _like, ...rest } = rows;
  return rest;
}

function axisOf(args: readonly Argument[], position = 1): number | undefined {
  const axis =
    args.find(({ name }) => name === 'axis') ?? args.filter(({ name }) => name === undefined)[position];
  return axis?.value.type === 'constant' && typeof axis.value.value === 'number'
    ? axis.value.value
    : undefined;
}

function isWhole({ lower, upper, step }: Extract<Expr, { type: 'slice' }>): boolean {
  return lower === undefined && upper === undefined && step === undefined;
}

/** `int`, `"int8"`, `np.int64`, `bool` */
function typeNamed(type: Expr | undefined): Rows['type'] | undefined {
  const name =
    type?.type === 'name'
      ? type.id
      : type?.type === 'constant' && typeof type.value === 'string'
        ? type.value
        : type?.type === 'attribute'
          ? type.name
          : '';
  const [, known] = /^(bool|int|float)(8|16|32|64|_)?$/.exec(name) ?? [];
  return known === 'bool' || known === 'int' || known === 'float' ? known : undefined;
}
