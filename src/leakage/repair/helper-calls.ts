import { FIT_METHODS } from '../library-models/methods.js';
import type { Argument, Call, Expr, FunctionDefinition, Module, Stmt } from '../syntax/ast.js';
import {
  calleeName,
  expressionsIn,
  namesInExpression,
  ownExpressions,
  partsOf,
  rootName,
  statementsIn,
} from '../syntax/walk.js';

/** Whether a statement calls a function of the script that learns from the rows that it gets: from each part of them by itself. */
export function learnsInHelper(module: Module, statement: Stmt, depth = 0): boolean {
  const parts = ownExpressions(statement).flatMap((own) => [...expressionsIn(own)]);
  const helpers = parts.flatMap((part) => (part.type === 'call' ? helpersOf(module, part) : []));
  return helpers.some((helper) =>
    helper.body.statements
      .flatMap((outer) => [...statementsIn(outer)])
      .some(
        (inner) =>
          ownExpressions(inner).some((own) => [...expressionsIn(own)].some(isFitCall)) ||
          (depth < MAX_HELPERS && learnsInHelper(module, inner, depth + 1)),
      ),
  );
}

function isFitCall(part: Expr): boolean {
  return part.type === 'call' && part.callee.type === 'attribute' && FIT_METHODS.has(part.callee.name);
}

const CHANGES_IN_PLACE = /^(pop|insert|update|fill|sort|append|extend|clear|remove|setdefault|shuffle)$/;

/** The functions and methods of a script that a call may run, by their name; none for those of libraries. */
export function helpersOf({ body }: Module, call: Call): FunctionDefinition[] {
  const name = calleeName(call);
  const isMethod = call.callee.type === 'attribute';
  return body.statements
    .flatMap((outer) => (outer.type === 'class' ? (isMethod ? outer.body.statements : []) : [outer]))
    .filter((one): one is FunctionDefinition => one.type === 'function' && one.name === name);
}

/** Why a helper may do more than to learn from the tables that it gets: it changes or keeps one of them. */
export function whyNotOnlyLearned(module: Module, helper: FunctionDefinition, depth = 0): string | undefined {
  if (depth > 4) return `\`${helper.name}\` calls other helpers too deep`;
  const params = new Set(helper.params.map(({ name }) => name).filter((name) => name !== 'self'));
  for (const outer of helper.body.statements) {
    for (const statement of statementsIn(outer)) {
      if (/^(global|function|class|delete|try|with)$/.test(statement.type))
        return `what \`${helper.name}\` does is not followed`;
      const targets =
        statement.type === 'assign'
          ? statement.targets.flatMap(flat)
          : statement.type === 'augmented'
            ? [statement.target]
            : [];
      for (const target of targets) {
        const root = rootName(target);
        if (
          root !== undefined &&
          params.has(root) &&
          (target.type !== 'name' || statement.type === 'augmented')
        )
          return `\`${helper.name}\` changes \`${root}\``;
        const keeps =
          root === 'self' &&
          statement.type === 'assign' &&
          statement.value.type === 'name' &&
          params.has(statement.value.id);
        if (keeps) return `\`${helper.name}\` keeps the rows that it gets`;
      }
      for (const own of ownExpressions(statement)) {
        for (const part of expressionsIn(own)) {
          const found = part.type === 'call' ? whyChanged(module, helper, part, params, depth) : undefined;
          if (found !== undefined) return found;
        }
      }
      // A parameter that gets another value is a variable of the helper from then on.
      for (const target of targets)
        if (target.type === 'name' && statement.type === 'assign' && isNew(statement.value, target.id))
          params.delete(target.id);
    }
  }
  return undefined;
}

/** Whether a call hands a variable to a function of the script that may change it. */
export function mayChangeArguments(module: Module, call: Call, name?: string): boolean {
  const isPassed = call.args.some(
    ({ value }) => value.type === 'name' && (name === undefined || value.id === name),
  );
  return (
    isPassed && helpersOf(module, call).some((helper) => whyNotOnlyLearned(module, helper) !== undefined)
  );
}

/** Whether an expression holds rows. */
export type HoldsRows = (value: Expr) => boolean;

/** What reads one of the variables that hold rows at a statement. */
export function mentionsRows(watched: ReadonlyMap<string, readonly unknown[]>): HoldsRows {
  return (value) => [...namesInExpression(value)].some(({ id }) => (watched.get(id)?.length ?? 0) > 0);
}

/** A call of a helper that takes nothing but statistics of some of its arguments. */
export interface SummarizedCall {
  readonly helper: FunctionDefinition;
  /** Parameters that get rows, and those of them that are only summarized. */
  readonly ofRows: ReadonlySet<string>;
  readonly parameters: ReadonlySet<string>;
  /** The arguments of these. */
  readonly values: readonly Expr[];
}

/**
 * A call whose only helper of this name takes nothing but statistics of some arguments, as of the second one in
 * `add_means(frame, frame)`; nothing where there are none.
 */
export function summarizedCall(module: Module, call: Call, holdsRows: HoldsRows): SummarizedCall | undefined {
  if (call.callee.type !== 'name') return undefined;
  const [helper, ...others] = helpersOf(module, call);
  if (helper === undefined || others.length > 0) return undefined;
  const passed = [...argumentsByParameter(call, helper)].filter(([, value]) => holdsRows(value));
  const ofRows = new Set(passed.map(([name]) => name));
  const parameters = summarizedParameters(module, helper, ofRows);
  const values = passed.flatMap(([name, value]) =>
    parameters.has(name) && rootName(value) !== undefined ? [value] : [],
  );
  return values.length === 0 ? undefined : { helper, ofRows, parameters, values };
}

/** The arguments of a call of which its helper takes nothing but statistics. */
export function summarizedArguments(module: Module, call: Call, holdsRows: HoldsRows): readonly Expr[] {
  return summarizedCall(module, call, holdsRows)?.values ?? [];
}

/** Whether a computation is a call of a helper of the script that gives back no rows of what it gets. */
export function isOnlyLearnedByHelper(module: Module, node: Expr, holdsRows: HoldsRows): boolean {
  if (node.type !== 'call' || helpersOf(module, node).length === 0) return false;
  return summarizedArguments(module, node, holdsRows).length === 0;
}

/** What each parameter of a function of the script gets; nothing where that is not told by name or position. */
function argumentsByParameter(call: Call, helper: FunctionDefinition): ReadonlyMap<string, Expr> {
  const passed = new Map<string, Expr>();
  if (call.args.some(({ star }) => star !== '') || helper.params.some(({ star }) => star !== ''))
    return passed;
  call.args.forEach(({ name, value }, at) => {
    const parameter = name ?? helper.params[at]?.name;
    if (parameter !== undefined) passed.set(parameter, value);
  });
  return passed;
}

/** Statistics that are one value, or one for each group: no value for each row. */
const SUMMARIZES = /^(mean|median|std|var|min|max|sum|count|size|nunique|quantile|value_counts)$/;
const AGGREGATES = /^agg(regate)?$/;
/** Arguments that leave a statistic one value for each column or group. */
const PLAIN_OPTIONS = /^(ddof|numeric_only|skipna|min_count|dropna|normalize|q|interpolation|ascending)$/;
const GROUPS = /^group_?by$/;

/** `rows.mean()`, `groups["a"].agg(["mean", "std"])`: not `rows.sum(axis=1)`, which gives a value for each row. */
export function isStatisticCall({ callee, args }: Call): boolean {
  if (callee.type !== 'attribute') return false;
  if (AGGREGATES.test(callee.name)) return args.length > 0 && args.every(isNamedStatistic);
  return (
    SUMMARIZES.test(callee.name) &&
    args.every(({ name, star, value }, at) => {
      if (star !== '') return false;
      if (name === 'axis') return value.type === 'constant' && /^(0|index)$/.test(`${value.value}`);
      if (name === undefined) return callee.name === 'quantile' && at === 0;
      return PLAIN_OPTIONS.test(name);
    })
  );
}

/** `"mean"`, `["mean", "std"]`, `{"a": "mean"}`, `total=("a", "sum")`, each by a name that is known. */
function isNamedStatistic({ name, star, value }: Argument): boolean {
  if (star !== '' || name === 'axis') return false;
  if (name !== undefined && !/^(func|arg)$/.test(name) && value.type === 'sequence')
    return value.items.length === 2 && isStatisticName(value.items[1]);
  if (value.type === 'sequence') return value.items.length > 0 && value.items.every(isStatisticName);
  if (value.type !== 'dictionary') return isStatisticName(value);
  return value.entries.every(
    ({ value: one }) =>
      isStatisticName(one) ||
      (one.type === 'sequence' && one.items.length > 0 && one.items.every(isStatisticName)),
  );
}

function isStatisticName(value: Expr | undefined): boolean {
  if (value?.type === 'constant') return typeof value.value === 'string' && SUMMARIZES.test(value.value);
  const isOfNumpy =
    value?.type === 'attribute' && value.object.type === 'name' && /^(np|numpy)$/.test(value.object.id);
  return isOfNumpy && SUMMARIZES.test(value.name);
}

const MAX_HELPERS = 4;

/**
 * The parameters, of those that hold rows, of which a helper takes nothing but statistics, `table.groupby("a")["b"].mean()`,
 * itself or by a helper that it hands them to. Values and their groups belong together: either both are such parameters, or none.
 */
function summarizedParameters(
  module: Module,
  helper: FunctionDefinition,
  ofRows: ReadonlySet<string>,
  depth = 0,
): ReadonlySet<string> {
  let summarized = new Set(depth > MAX_HELPERS ? [] : ofRows);
  for (let size = -1; size !== summarized.size; ) {
    size = summarized.size;
    const known = summarized;
    summarized = new Set(
      [...known].filter((name) => isOnlySummarized(module, helper, name, { known, ofRows, depth })),
    );
  }
  return summarized;
}

interface Assumed {
  /** Parameters that are taken to be only summarized. */
  readonly known: ReadonlySet<string>;
  readonly ofRows: ReadonlySet<string>;
  readonly depth: number;
}

function isOnlySummarized(
  module: Module,
  helper: FunctionDefinition,
  parameter: string,
  assumed: Assumed,
): boolean {
  let uses = 0;
  const visit = (part: Expr, parents: readonly Expr[]): boolean => {
    if (part.type === 'name' && part.id === parameter) {
      uses += 1;
      return isInStatistic(module, part, parents, assumed);
    }
    return partsOf(part).every((inner) => visit(inner, [part, ...parents]));
  };
  for (const statement of helper.body.statements.flatMap((outer) => [...statementsIn(outer)])) {
    const bound =
      statement.type === 'assign'
        ? statement.targets.flatMap(flat)
        : statement.type === 'for' || statement.type === 'augmented'
          ? flat(statement.target)
          : [];
    if (bound.some((target) => rootName(target) === parameter)) return false;
    if (!ownExpressions(statement).every((own) => visit(own, []))) return false;
  }
  return uses > 0;
}

/** Whether a name ends up in a statistic, with all rows beside it. */
function isInStatistic(
  module: Module,
  name: Expr,
  parents: readonly Expr[],
  { known, ofRows, depth }: Assumed,
): boolean {
  const goTogether = (part: Expr): boolean =>
    [...namesInExpression(part)].every(({ id }) => !ofRows.has(id) || known.has(id));
  let inner = name;
  for (const outer of parents) {
    if (outer.type === 'subscript' && outer.object === inner) {
      if (!outer.indices.every(goTogether)) return false;
    } else if (outer.type === 'attribute' && outer.object === inner) {
      const around = parents[parents.indexOf(outer) + 1];
      if (outer.name === 'shape' || (outer.name === 'size' && !isCalled(outer, around))) return true;
      if (/^(T|values|index|loc|iloc|at|iat)$/.test(outer.name)) return false;
    } else if (outer.type === 'call' && outer.callee === inner) {
      if (!goTogether(outer)) return false;
      if (isStatisticCall(outer)) return true;
      if (!GROUPS.test(calleeName(outer)) || outer.args.some((argument) => argument.name === 'axis'))
        return false;
    } else if (outer.type === 'call' && GROUPS.test(calleeName(outer))) {
      // The groups of other values.
      if (!goTogether(outer)) return false;
    } else if (outer.type === 'call' && outer.callee.type === 'name' && outer.callee.id === 'len') {
      return true;
    } else {
      return outer.type === 'call' && isHandedOver(module, outer, inner, { known, ofRows, depth });
    }
    inner = outer;
  }
  return false;
}

function isCalled(method: Expr, around: Expr | undefined): boolean {
  return around?.type === 'call' && around.callee === method;
}

/** Whether another helper takes nothing but statistics of an argument and of all rows beside it. */
function isHandedOver(
  module: Module,
  call: Call,
  argument: Expr,
  { known, ofRows, depth }: Assumed,
): boolean {
  const [helper, ...others] = call.callee.type === 'name' ? helpersOf(module, call) : [];
  if (helper === undefined || others.length > 0) return false;
  const holdsRows = (value: Expr): boolean => [...namesInExpression(value)].some(({ id }) => ofRows.has(id));
  const passed = [...argumentsByParameter(call, helper)].filter(([, value]) => holdsRows(value));
  const summarized = summarizedParameters(module, helper, new Set(passed.map(([name]) => name)), depth + 1);
  const isWhole = passed.every(
    ([name, value]) =>
      !summarized.has(name) ||
      [...namesInExpression(value)].every(({ id }) => !ofRows.has(id) || known.has(id)),
  );
  return isWhole && passed.some(([name, value]) => value === argument && summarized.has(name));
}

function whyChanged(
  module: Module,
  helper: FunctionDefinition,
  call: Call,
  params: ReadonlySet<string>,
  depth: number,
): string | undefined {
  const { callee, args } = call;
  const root = callee.type === 'attribute' ? rootName(callee.object) : undefined;
  const isInPlace = args.some(({ name }) => name === 'inplace') || CHANGES_IN_PLACE.test(calleeName(call));
  if (root !== undefined && params.has(root) && isInPlace) return `\`${helper.name}\` changes \`${root}\``;
  const passed = args.some(({ value }) => [...namesInExpression(value)].some(({ id }) => params.has(id)));
  if (!passed) return undefined;
  return helpersOf(module, call)
    .filter((other) => other !== helper)
    .map((other) => whyNotOnlyLearned(module, other, depth + 1))
    .find((found) => found !== undefined);
}

/** `frame = frame.copy()`, `frame = frame[columns]`: another object than the one that was passed. */
function isNew(value: Expr, name: string): boolean {
  if (value.type === 'name') return false;
  return value.type !== 'subscript' || rootName(value) !== name || value.indices[0]?.type !== 'slice';
}

function flat(target: Expr): Expr[] {
  return target.type === 'sequence' ? target.items.flatMap(flat) : [target];
}
