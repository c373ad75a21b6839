import type { Expr, Module, Stmt } from '../../syntax/ast.js';
import { statementsIn } from '../../syntax/walk.js';

/** Whether rows of a variable are taken by `iloc`, or by an index alone. */
export type TableKind = 'frame' | 'array';

const ARRAY_END = /(\.values|\.astype\(np\.\w+\))$/;
const ARRAY_METHOD = /\.(to_numpy|toarray|transform|fit_transform)$/;
const ARRAY_START = /^(np|numpy)\.\w+\(/;
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
  const text = assigned === undefined ? '' : source.slice(assigned.start, assigned.end).trim();
  if (/\bpolars\b|\bdask\b/.test(source)) return undefined;
  // Transformers may be told to give frames.
  if (/\bset_output\(|\btransform_output\b/.test(source) && isArrayCall(text)) return undefined;
  if ((FRAME_START.test(text) && !endsAsArray(text)) || NAMED_COLUMNS.test(text)) return 'frame';
  if (ARRAY_START.test(text) || endsAsArray(text)) return 'array';
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

/** `scaled = raw / norms`, where `raw` is an array. */
function isOfArray(module: Module, value: Expr, from: number): boolean {
  if (value.type !== 'binary' || value.left.type !== 'name') return false;
  const made = lastAssigned(module, value.left.id, from, value.start);
  const text = made === undefined ? '' : module.source.slice(made.start, made.end).trim();
  return ARRAY_START.test(text) || endsAsArray(text);
}

/** The function that a statement is in. */
export function functionAround(statement: Stmt): Stmt | undefined {
  let owner = statement.suite.owner;
  while (owner !== undefined && owner.type !== 'function') owner = owner.suite.owner;
  return owner;
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

function lastAssigned(module: Module, name: string, from: number, before: number): Expr | undefined {
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
