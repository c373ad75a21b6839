import type { Leak } from '../../findings/find-leaks.js';
import type { Expr, Module, Stmt } from '../../syntax/ast.js';
import { expressionsIn, ownExpressions, rootName, statementsIn } from '../../syntax/walk.js';

/** Some columns of a frame: their names where these are known, and of which kind all of them are. */
export interface Columns {
  readonly names: ReadonlySet<string> | undefined;
  readonly kind: 'numeric' | 'categorical' | undefined;
}

export const ANY_COLUMNS: Columns = { names: undefined, kind: undefined };

export function mayOverlap(a: Columns, b: Columns): boolean {
  if (a.kind !== undefined && b.kind !== undefined && a.kind !== b.kind) return false;
  if (a.names === undefined || b.names === undefined) return true;
  for (const name of a.names) if (b.names.has(name)) return true;
  return false;
}

export function joinColumns(a: Columns, b: Columns): Columns {
  const names =
    a.names === undefined || b.names === undefined ? undefined : new Set([...a.names, ...b.names]);
  return { names, kind: a.kind === b.kind ? a.kind : undefined };
}

const NUMERIC_TYPES =
  /select_dtypes\(\s*(include\s*=\s*)?(?:\[\s*)?(np\.number|['"](number|float\w*|int\w*)['"]|float|int)/;
const OTHER_TYPES =
  /select_dtypes\(\s*(exclude\s*=\s*(?:\[\s*)?(np\.number|['"]number['"])|(include\s*=\s*)?(?:\[\s*)?(['"](object|category|string|bool)|object))/;
const NUMERIC_STATISTICS =
  /^(mean|median|std|var|quantile|StandardScaler|MinMaxScaler|RobustScaler|KNNImputer|IterativeImputer)$/;
const CATEGORICAL_STEPS = /^(factorize|LabelEncoder|OrdinalEncoder|OneHotEncoder|get_dummies|str|codes)$/;

/** What is known about the columns that an index selects. */
export class ColumnResolver {
  readonly #lists: ReadonlyMap<string, readonly string[]>;
  readonly #numeric = new Set<Stmt>();
  readonly #kinds = new Map<string, Columns['kind']>();

  constructor(module: Module, lists: ReadonlyMap<string, readonly string[]>, leaks: readonly Leak[]) {
    this.#lists = lists;

    const categories = /most_frequent|constant/.test(module.source);
    for (const { kind, statement } of leaks) {
      const isNumeric = kind === 'scaling' || kind === 'projection' || (kind === 'imputation' && !categories);
      if (isNumeric) this.#numeric.add(statement);
    }
    for (const outer of module.body.statements) {
      for (const statement of statementsIn(outer)) {
        if (statement.type !== 'assign' || statement.targets[0]?.type !== 'name') continue;
        const text = module.source.slice(statement.value.start, statement.value.end);
        const kind = OTHER_TYPES.test(text)
          ? 'categorical'
          : NUMERIC_TYPES.test(text)
            ? 'numeric'
            : undefined;
        if (kind !== undefined) this.#kinds.set(statement.targets[0].id, kind);
      }
    }
  }

  /** Columns of an index, as read in one statement of a loop over columns or outside of any. */
  of(index: Expr | undefined, statement: Stmt): Columns {
    const known = this.#read(index, statement);
    if (known.kind !== undefined) return known;
    const kind = this.#numeric.has(statement) ? 'numeric' : kindBySteps(statement);
    // A step on some column of a statement says nothing about another column that is named.
    return known.names === undefined || kind === 'numeric' ? { ...known, kind } : known;
  }

  #read(index: Expr | undefined, statement: Stmt): Columns {
    if (index === undefined) return ANY_COLUMNS;
    if (index.type === 'constant') {
      return typeof index.value === 'string'
        ? { names: new Set([index.value]), kind: undefined }
        : ANY_COLUMNS;
    }
    if (index.type === 'sequence') {
      return index.items
        .map((item) => this.#read(item, statement))
        .reduce(joinColumns, { names: new Set(), kind: undefined });
    }
    if (index.type === 'binary' && index.operator === '+') {
      return joinColumns(this.#read(index.left, statement), this.#read(index.right, statement));
    }
    if (index.type === 'call' && rootName(index.callee) === 'list')
      return this.#read(index.args[0]?.value, statement);
    if (index.type !== 'name') return ANY_COLUMNS;
    const list = this.#lists.get(index.id);
    if (list !== undefined) return { names: new Set(list), kind: this.#kinds.get(index.id) };
    const kind = this.#kinds.get(index.id);
    if (kind !== undefined) return { names: undefined, kind };
    let owner: Stmt | undefined = statement;
    while (owner !== undefined) {
      if (owner.type === 'for' && owner.target.type === 'name' && owner.target.id === index.id) {
        return owner.iterable.type === 'name' && owner.iterable.id === index.id
          ? ANY_COLUMNS
          : this.#read(owner.iterable, owner);
      }
      owner = owner.suite.owner;
    }
    return ANY_COLUMNS;
  }
}

/** Steps that only make sense for numbers, or only for categories. */
function kindBySteps(statement: Stmt): Columns['kind'] {
  let kind: Columns['kind'];
  for (const own of ownExpressions(statement)) {
    for (const part of expressionsIn(own)) {
      const word = part.type === 'attribute' ? part.name : part.type === 'name' ? part.id : '';
      if (NUMERIC_STATISTICS.test(word)) return 'numeric';
      if (CATEGORICAL_STEPS.test(word)) kind = 'categorical';
      if (part.type === 'call' && part.callee.type === 'attribute' && part.callee.name === 'fillna') {
        const value = part.args[0]?.value;
        if (value?.type === 'constant' && typeof value.value === 'string') kind = 'categorical';
      }
    }
  }
  return kind;
}
