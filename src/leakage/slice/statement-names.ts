import type { Call, Expr, Stmt } from '../syntax/ast.js';
import { expressionsIn, namesInExpression, ownExpressions, rootName } from '../syntax/walk.js';

/** What one statement, without the suites that it holds, does with names. A name is the same one in all scopes. */
export interface StatementNames {
  /** Names that it binds or may change. */
  readonly writes: ReadonlySet<string>;
  /** Names that it reads. */
  readonly reads: ReadonlySet<string>;
  /** It only draws, or only prints. */
  readonly shows: 'plot' | 'text' | undefined;
}

/** Modules and objects that draw, by the names that scripts give them. */
const PLOTTERS: ReadonlySet<string> = new Set(
  'plt sns ax axs axes fig matplotlib seaborn px go alt pylab'.split(' '),
);
/** Functions and objects that print, and what has no part in data. */
const TEXTS: ReadonlySet<string> = new Set(
  'print display pprint logger logging log warnings tqdm gc'.split(' '),
);

/** Methods that leave their object as it is, unless they are told to work in place. */
const READING_METHODS: ReadonlySet<string> = new Set(
  `isna isnull notna notnull sum mean median std var min max count nunique unique value_counts describe info head tail sample copy
  groupby agg aggregate corr quantile mode items keys values get astype map apply applymap transform predict predict_proba
  decision_function score split get_n_splits join format strip lower upper startswith endswith replace select_dtypes to_numpy tolist
  to_list round abs duplicated isin any all sort_values reset_index memory_usage to_csv to_string plot hist boxplot`.split(
    /\s+/,
  ),
);

/** What is known of the names of a script. */
export interface KnownNames {
  /** Names of imports, whose methods change nothing of the script. */
  readonly modules: ReadonlySet<string>;
  /** Functions of the script, and whether they may change what they are passed. */
  readonly functions: ReadonlyMap<string, boolean>;
}

/** The names of a statement. */
export function namesOf(statement: Stmt, known: KnownNames): StatementNames {
  const writes = new Set<string>();
  const reads = new Set<string>();
  for (const target of targetsOf(statement)) {
    const parts = target.type === 'sequence' ? [...expressionsIn(target)] : [target];
    for (const part of parts) {
      const root = rootName(part);
      if (root !== undefined) writes.add(root);
    }
  }
  const shows = shownBy(statement);
  for (const own of expressionsOf(statement)) {
    for (const { id } of namesInExpression(own)) reads.add(id);
    for (const part of expressionsIn(own)) {
      if (part.type === 'walrus' && part.target.type === 'name') writes.add(part.target.id);
      // A call may change its object, and its arguments.
      const isAlone = statement.type === 'expression' && part === statement.value;
      if (part.type === 'call' && shows === undefined)
        for (const name of changedBy(part, isAlone, known)) if (!known.modules.has(name)) writes.add(name);
    }
  }
  if (statement.type === 'import')
    for (const { name } of statement.bindings) writes.add(name.split('.')[0] ?? name);
  if (statement.type === 'function' || statement.type === 'class') writes.add(statement.name);
  if (statement.type === 'global') for (const name of statement.names) writes.add(name);
  return { writes, reads, shows };
}

function expressionsOf(statement: Stmt): readonly Expr[] {
  const own = ownExpressions(statement);
  if (statement.type === 'class') return [...own, ...statement.bases];
  if (statement.type !== 'function') return own;
  return [...own, ...statement.params.flatMap(({ fallback }) => (fallback === undefined ? [] : [fallback]))];
}

/** What a statement assigns to, deletes, or counts through. */
export function targetsOf(statement: Stmt): readonly Expr[] {
  switch (statement.type) {
    case 'assign':
    case 'delete':
      return statement.targets;
    case 'augmented':
    case 'for':
      return [statement.target];
    case 'with':
      return statement.items.flatMap(({ target }) => (target === undefined ? [] : [target]));
    default:
      return [];
  }
}

/** @param isAlone Whether nothing takes the result, so that the call is there for what it changes. */
function changedBy({ callee, args }: Call, isAlone: boolean, { functions }: KnownNames): string[] {
  const isInPlace = args.some(({ name }) => name === 'inplace');
  const isReading = callee.type === 'attribute' && READING_METHODS.has(callee.name) && !isInPlace;
  const of = callee.type === 'attribute' && !isReading ? rootName(callee.object) : undefined;
  const own = callee.type === 'name' ? functions.get(callee.id) : undefined;
  const passed =
    (own ?? isAlone) ? args.map(({ value }) => (value.type === 'starred' ? value.value : value)) : [];
  return [of, ...passed.map((value) => rootName(value))].filter((name) => name !== undefined);
}

function shownBy(statement: Stmt): StatementNames['shows'] {
  if (statement.type !== 'expression' || statement.value.type !== 'call') return undefined;
  const root = rootName(statement.value.callee) ?? '';
  if (PLOTTERS.has(root)) return 'plot';
  return TEXTS.has(root) ? 'text' : undefined;
}
