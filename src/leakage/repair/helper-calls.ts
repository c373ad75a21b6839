import type { Call, Expr, FunctionDefinition, Module } from '../syntax/ast.js';
import {
  calleeName,
  expressionsIn,
  namesInExpression,
  ownExpressions,
  partsOf,
  rootName,
  statementsIn,
} from '../syntax/walk.js';

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

/** Whether an expression holds rows. */
export type HoldsRows = (value: Expr) => boolean;

/** What reads one of the variables that hold rows at a statement. */
export function mentionsRows(watched: ReadonlyMap<string, readonly unknown[]>): HoldsRows {
  return (value) => [...namesInExpression(value)].some(({ id }) => (watched.get(id)?.length ?? 0) > 0);
}

/**
 * The arguments of a call of which the only helper of this name takes nothing but statistics, as the second one in
 * `add_means(frame, frame)`.
 */
export function summarizedArguments(module: Module, call: Call, holdsRows: HoldsRows): readonly Expr[] {
  if (call.callee.type !== 'name') return [];
  const [helper, ...others] = helpersOf(module, call);
  if (helper === undefined || others.length > 0) return [];
  const passed = argumentsByParameter(call, helper);
  const ofRows = [...passed].filter(([, value]) => holdsRows(value));
  const summarized = summarizedParameters(module, helper, new Set(ofRows.map(([name]) => name)));
  return ofRows.flatMap(([name, value]) =>
    summarized.has(name) && rootName(value) !== undefined ? [value] : [],
  );
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
const SUMMARIZES =
  /^(agg|aggregate|mean|median|std|var|min|max|sum|count|size|nunique|quantile|value_counts)$/;
const GROUPS = /^group_?by$/;
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
      if (/^(T|values|index|loc|iloc|at|iat)$/.test(outer.name)) return false;
    } else if (outer.type === 'call' && outer.callee === inner) {
      if (!goTogether(outer)) return false;
      const called = calleeName(outer);
      if (SUMMARIZES.test(called)) return outer.callee.type === 'attribute';
      if (!GROUPS.test(called)) return false;
    } else if (outer.type === 'call' && GROUPS.test(calleeName(outer))) {
      // The groups of other values.
      if (!goTogether(outer)) return false;
    } else {
      return outer.type === 'call' && isHandedOver(module, outer, inner, { known, ofRows, depth });
    }
    inner = outer;
  }
  return false;
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
