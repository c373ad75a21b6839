import type { Expr, Module, Stmt } from '../../syntax/ast.js';
import { functionAround, statementsIn } from '../../syntax/walk.js';
import { helpersOf } from '../helper-calls.js';

/** Whether rows of a variable are taken by `iloc`, or by an index alone. */
export type TableKind = 'frame' | 'array';

const ARRAY_END = /(\.values|\.astype\(np\.\w+\))$/;
const ARRAY_METHOD = /\.(to_numpy|toarray|transform|fit_transform)$/;
/** Functions of NumPy that compute value by value: of a column of a frame they give a column. */
const VALUE_BY_VALUE =
  'log1p|log10|log2|log|expm1|exp|sqrt|cbrt|square|power|abs|absolute|fabs|sign|clip|round|around|rint|floor|ceil|sin|cos|tan|tanh|arcsinh|maximum|minimum|nan_to_num';
const IS_VALUE_BY_VALUE = new RegExp(`^(${VALUE_BY_VALUE})$`);
const ARRAY_START = new RegExp(`^(np|numpy)\\.(?!(${VALUE_BY_VALUE})\\()\\w+\\(`);
const FRAME_START = /^(pd|pandas)\.(read_\w+|DataFrame|Series|concat|merge|get_dummies)\(/;
/** `frame[["first", "second"]]`: columns by their names. */
const NAMED_COLUMNS = /^\w+\[\s*\[[^\]"']*["'][^\]]*\]\s*\](\.copy\(\))?$/;
/** Whether code ends in a call or attribute that gives an array. */
function endsAsArray(text: string): boolean {
  return ARRAY_END.test(text) || isArrayCall(text);
}

/** `scaler.fit_transform(X)`, but not `pd.DataFrame(scaler.fit_transform(X))`. */
function isArrayCall(text: string): boolean {
  if (!text.endsWith(')')) return false;
  let depth = 0;
  for (let at = text.length - 1; at >= 0; at -= 1) {
    if (text[at] === ')') depth += 1;
    if (text[at] === '(') depth -= 1;
    if (depth === 0) return ARRAY_METHOD.test(text.slice(Math.max(0, at - 20), at));
  }
  return false;
}

/** What pandas has and arrays have not. */
const FRAME_USES =
  'groupby|fillna|iloc|loc|columns|value_counts|quantile|median|mode|map|isnull|isna|notnull|notna|dtypes|select_dtypes|drop|merge|rename|describe|apply|nunique|corr|pop|head|info|skew|rank';

/**
 * What a variable holds before a statement, by the last line that assigns it and by what is done with it; nothing where
 * neither tells.
 */
export function tableKind(module: Module, name: string, before: Stmt): TableKind | undefined {
  const { source } = module;
  const scope = functionAround(before);
  const from = scope?.start ?? 0;
  const assigned = lastAssigned(module, name, from, before.start);
  // What a method of the script gives is not known by its name.
  const isOwn = assigned?.type === 'call' && helpersOf(module, assigned).length > 0;
  const text = assigned === undefined || isOwn ? '' : source.slice(assigned.start, assigned.end).trim();
  const steps = assigned === undefined || isOwn ? undefined : kindAfterSteps(module, assigned, from);
  if (steps !== undefined) return steps;
  if (/\bpolars\b|\bdask\b/.test(source)) return undefined;
  // Transformers may be told to give frames.
  if (/\bset_output\(|\btransform_output\b/.test(source) && isArrayCall(text)) return undefined;
  if ((FRAME_START.test(text) && !endsAsArray(text)) || NAMED_COLUMNS.test(text)) return 'frame';
  const isArray = ARRAY_START.test(text) || endsAsArray(text);
  // Transformers of other libraries give frames.
  if (isArray) return isIndexedAsFrame(module, name, assigned?.end ?? from, before) ? undefined : 'array';
  if (assigned !== undefined && isOfArray(module, assigned, from)) return 'array';
  if (/return_X_y\s*=\s*True/.test(text) && !/as_frame/.test(text)) return 'array';
  const next = nextAssigned(module, name, before.end);
  const since = source.slice(
    assigned?.start ?? from,
    Math.min(next ?? source.length, scope?.end ?? source.length),
  );
  const used = new RegExp(`(?<![\\w.])${name}(\\[[^[\\]]*(\\[[^[\\]]*)?\\]{1,2})?\\.(${FRAME_USES})\\b`);
  // Columns have names in a frame alone.
  const named = new RegExp(`(?<![\\w.])${name}\\[\\s*(?:\\[\\s*)?["']`);
  return used.test(since) || used.test(text) || named.test(since) ? 'frame' : undefined;
}

/** `X.loc[:, chosen]` up to the statement that gives the variable another value, and in that. */
function isIndexedAsFrame(module: Module, name: string, from: number, before: Stmt): boolean {
  const { source } = module;
  const next = nextAssigned(module, name, before.end) ?? source.length;
  const end = source.indexOf('\n', next);
  const since = source.slice(from, end < 0 ? source.length : end);
  return new RegExp(`(?<![\\w.])${name}\\.(i?loc|columns)\\b`).test(since);
}

/** Methods that only arrays have, and those that both have and that leave an array an array. */
const RESHAPES = /^(reshape|ravel|flatten)$/;
const KEEPS_KIND = /^(astype|copy|clip|round)$/;
/** Methods that only frames have, and that give one. */
const ONLY_OF_FRAMES = /^(select_dtypes|sort_values|reset_index|set_index|fillna|assign)$/;

const OF_FRAMES = /^(drop|rename|dropna|filter|merge|join|query|head|tail|sample|replace)$/;

/** `series.values.reshape(-1, 1)`, `values.astype("float32")`, `frame.filter(regex="^f_")` */
function kindAfterSteps(module: Module, value: Expr, from: number): TableKind | undefined {
  if (value.type === 'name') {
    const made = lastAssigned(module, value.id, from, value.start);
    return made === undefined || made.start >= value.start ? undefined : kindAfterSteps(module, made, from);
  }
  if (value.type === 'attribute' && value.name === 'values') return 'array';
  if (value.type === 'attribute' || value.type === 'subscript') return kindOfColumn(module, value, from);
  if (value.type !== 'call' || value.callee.type !== 'attribute') return undefined;
  const { name, object } = value.callee;
  if (object.type === 'name' && /^(np|numpy)$/.test(object.id) && IS_VALUE_BY_VALUE.test(name)) {
    const [first] = value.args;
    return first === undefined ? undefined : kindAfterSteps(module, first.value, from);
  }
  const isOfModule = object.type === 'name' && /^(np|numpy|pd|pandas|pl|torch)$/.test(object.id);
  if (isOfModule) return undefined;
  if (RESHAPES.test(name) || name === 'to_numpy') return 'array';
  if (KEEPS_KIND.test(name)) return kindAfterSteps(module, object, from);
  if (/\bpolars\b|\bdask\b/.test(module.source)) return undefined;
  if (ONLY_OF_FRAMES.test(name)) return 'frame';
  if (OF_FRAMES.test(name) && object.type === 'name' && isFrameName(module, object.id, from, value.start))
    return 'frame';
  const isOfColumns = value.args.some((argument) => /^(regex|like|columns)$/.test(argument.name ?? ''));
  return /^(filter|drop|rename)$/.test(name) && isOfColumns ? 'frame' : undefined;
}

/** `frame["label"]`, `frame.label`: a column of a frame. */
function kindOfColumn(module: Module, value: Expr, from: number): TableKind | undefined {
  if (value.type !== 'attribute' && value.type !== 'subscript') return undefined;
  const { object } = value;
  const isColumn =
    value.type === 'attribute'
      ? !/^(T|index|columns|shape|size|dtypes?|str|dt|cat|iloc|loc|iat|at|plot)$/.test(value.name)
      : value.indices.length === 1 &&
        value.indices[0]?.type === 'constant' &&
        typeof value.indices[0].value === 'string';
  if (!isColumn || object.type !== 'name') return undefined;
  return isFrameName(module, object.id, from, value.start) ? 'frame' : undefined;
}

function isFrameName(module: Module, name: string, from: number, before: number): boolean {
  const made = lastAssigned(module, name, from, before);
  if (made === undefined) return false;
  const text = module.source.slice(made.start, made.end).trim();
  return (FRAME_START.test(text) && !endsAsArray(text)) || kindAfterSteps(module, made, from) === 'frame';
}

/** `scaled = raw / norms`, where `raw` is an array. */
function isOfArray(module: Module, value: Expr, from: number): boolean {
  if (value.type !== 'binary' || value.left.type !== 'name') return false;
  const made = lastAssigned(module, value.left.id, from, value.start);
  const text = made === undefined ? '' : module.source.slice(made.start, made.end).trim();
  return ARRAY_START.test(text) || endsAsArray(text);
}

/** Where a variable is assigned the next time. */
function nextAssigned(module: Module, name: string, after: number): number | undefined {
  let next: number | undefined;
  for (const outer of module.body.statements) {
    for (const statement of statementsIn(outer)) {
      const isNext =
        statement.type === 'assign' &&
        statement.start >= after &&
        statement.targets
          .flatMap((target) => (target.type === 'sequence' ? target.items : [target]))
          .some((target) => target.type === 'name' && target.id === name);
      if (isNext && (next === undefined || statement.start < next)) next = statement.start;
    }
  }
  return next;
}

/** What a variable was assigned last between two offsets of the script. */
export function lastAssigned(module: Module, name: string, from: number, before: number): Expr | undefined {
  let last: Expr | undefined;
  for (const outer of module.body.statements) {
    for (const statement of statementsIn(outer)) {
      if (statement.type !== 'assign' || statement.start < from || statement.end > before) continue;
      for (const target of statement.targets) {
        if (target.type === 'name' && target.id === name) last = statement.value;
        if (target.type !== 'sequence') continue;
        const at = target.items.findIndex((item) => item.type === 'name' && item.id === name);
        if (at < 0) continue;
        last = statement.value.type === 'sequence' ? statement.value.items[at] : statement.value;
      }
    }
  }
  return last;
}
