import type { Expr, Module, Stmt } from '../../syntax/ast.js';
import { namesIn, rootName, suitesOf } from '../../syntax/walk.js';
import type { RepairContext } from '../context.js';
import { OrderedEffects } from '../order/ordered-effects.js';
import { type CopiedRows, NotCopies, RowCopies, type Rows } from './row-copies.js';

/** What a statement does with copied rows: makes them, makes parts of them, or only looks at them. */
type Role = 'copies' | 'projects' | 'looks';

/** The lines that copy rows, up to the division of the rows. */
export interface Copying {
  /** The first line that copies. */
  readonly first: Stmt;
  /** From the first line that copies up to the division, that one excluded. */
  readonly statements: readonly Stmt[];
  readonly roles: ReadonlyMap<Stmt, Role>;
  /** The tables whose rows are copied, in the order in which they are read. */
  readonly bases: readonly string[];
  /** Variables that hold all copied rows of a table in the end, by that table. */
  readonly finals: ReadonlyMap<string, string>;
  /** Where the copied rows of a table begin to be in such a variable. */
  readonly copiedFrom: ReadonlyMap<string, number>;
  /** Variables of rows that are made of those: features, labels. */
  readonly projections: readonly string[];
  /** Variables that hold other rows than before once only training rows are copied. */
  readonly changed: ReadonlySet<string>;
  /** White space before the lines. */
  readonly indent: string;
}

/**
 * The lines that copy rows for the leaks of a block.
 * @param division the statement that divides the copied rows, or the loop over folds
 * @throws NotCopies if it is not certain that all other rows stay as they are
 */
export function copyingOf(context: RepairContext, division: Stmt): Copying {
  const { source, module, leaks } = context;
  if (leaks.some(({ kind }) => kind !== 'duplicated-rows' && kind !== 'over-sampling'))
    throw new NotCopies('the block holds a leak that cannot be moved');
  const { statements: suite } = division.suite;
  const to = suite.indexOf(division);
  const anchors = leaks.map(({ statement }) => suite.findIndex((other) => holds(other, statement)));
  const from = Math.min(...anchors);
  const isDefined = anchors.some((at) => /^(function|class)$/.test(suite[at]?.type ?? ''));
  if (from < 0 || to <= from || isDefined) throw new NotCopies('the rows are not copied beside the split');
  const start = firstOf(context, suite, from, to);
  const statements = suite.slice(start, to);
  const [first] = statements;
  if (first === undefined) throw new NotCopies('the rows are not copied beside the split');
  const indent = source.slice(source.lastIndexOf('\n', first.start - 1) + 1, first.start);
  if (/\S/.test(indent)) throw new NotCopies('the line that copies shares its line');
  return follow(
    context,
    module,
    statements,
    division,
    first,
    indent,
    new Set(anchors.map((at) => suite[at])),
  );
}

function follow(
  context: RepairContext,
  module: Module,
  statements: readonly Stmt[],
  division: Stmt,
  first: Stmt,
  indent: string,
  anchors: ReadonlySet<Stmt | undefined>,
): Copying {
  const copies = new RowCopies(module);
  const effects = new OrderedEffects(module);
  const rows = new Map<string, Rows>();
  for (const name of tablesRead(context, statements))
    rows.set(name, { form: 'table', base: name, isCopied: false, hasUnaltered: true, isOwn: false });
  const roles = new Map<Stmt, Role>();
  const bases: string[] = [];
  const finals = new Map<string, string>();
  const intermediate = new Set<string>();
  const projections = new Set<string>();
  const isCopied = (name: string): boolean => {
    const contents = rows.get(name);
    return contents !== undefined && (contents.form !== 'table' || contents.isCopied);
  };
  const useAsFinal = (name: string, contents: Rows | undefined): void => {
    if (contents?.form !== 'table' || !contents.isCopied) return;
    if (!contents.hasUnaltered)
      throw new NotCopies(`all rows of \`${name}\` are altered, so the scored rows would lack a step`);
    const other = [...finals].find(([known, base]) => base === contents.base && known !== name);
    if (other !== undefined) throw new NotCopies(`\`${other[0]}\` and \`${name}\` both hold the copied rows`);
    finals.set(name, contents.base);
    if (!bases.includes(contents.base)) bases.push(contents.base);
  };
  for (const statement of statements) {
    if (statement.type === 'function' || statement.type === 'class' || statement.type === 'import') continue;
    const read = readNames(statement);
    const touched = read.filter((name) => isCopied(name) || projections.has(name));
    if (!anchors.has(statement) && touched.length === 0 && !picksRows(copies, statement, rows)) continue;
    const targets = targetNames(statement);
    const makesRows =
      targets.some((name) => context.watched.has(name)) &&
      statement.type === 'assign' &&
      !anchors.has(statement);
    const before = new Map(rows);
    if (anchors.has(statement)) copies.run([statement], rows);
    const made = anchors.has(statement) ? [] : runAgain(copies, statement, rows);
    if (anchors.has(statement) || made.some((one) => one?.form === 'table' && one.isCopied)) {
      roles.set(statement, 'copies');
      for (const name of touched)
        if (projections.has(name)) throw new NotCopies(`\`${name}\` is copied after it was made`);
      for (const name of targets) intermediate.add(name);
      continue;
    }
    if (makesRows) {
      for (const name of touched) useAsFinal(name, before.get(name));
    }
    const ofFinals = touched.every((name) => finals.has(name) || projections.has(name));
    if (makesRows && ofFinals) {
      roles.set(statement, 'projects');
      for (const name of targets) projections.add(name);
    } else if (suitesOf(statement).length === 0 || effects.of(statement).length > 0) {
      roles.set(statement, touched.length > 0 ? 'looks' : 'copies');
      const readsColumns = touched.every((name) => readsColumnsAlone(context.source, statement, name));
      if (!readsColumns) for (const name of targets) intermediate.add(name);
    } else throw new NotCopies('the rows are copied in a way that is not followed');
  }
  for (const { id } of namesIn(division))
    if (isCopied(id) && !projections.has(id)) useAsFinal(id, rows.get(id));
  if (bases.length === 0) throw new NotCopies('which rows are copied is not known');
  for (const [name, value] of rows) {
    // A table beside the copied one, whose rows are not copied, would not go with it.
    if (value.form === 'table' && value.isCopied && !bases.includes(value.base) && finals.has(name))
      throw new NotCopies(`\`${name}\` is not divided`);
  }
  const changed = new Set<string>([...finals.keys(), ...intermediate, ...projections]);
  const copiedFrom = new Map<string, number>();
  for (const [name, base] of finals) {
    const made = statements.find(
      (statement) => roles.has(statement) && targetNames(statement).includes(name),
    );
    if (made === undefined) throw new NotCopies(`where \`${name}\` is copied is not known`);
    const again = statements.find(
      (statement) =>
        roles.get(statement) === 'copies' &&
        statement.start > made.start &&
        name !== base &&
        readNames(statement).includes(base),
    );
    if (again !== undefined) throw new NotCopies(`\`${base}\` is read again after its rows are copied`);
    copiedFrom.set(base, made.end);
  }
  return {
    first,
    statements,
    roles,
    bases,
    finals,
    copiedFrom,
    projections: [...projections],
    changed,
    indent,
  };
}

/** What a statement makes of copied rows, if those count as the rows of a table: whether it copies them once more. */
function runAgain(copies: RowCopies, statement: Stmt, rows: Map<string, Rows>): (Rows | undefined)[] {
  const fresh = new Map<string, Rows>();
  for (const [name, contents] of rows)
    fresh.set(name, contents.form === 'table' ? { ...contents, isCopied: false, isOwn: true } : contents);
  copies.run([statement], fresh);
  const made = targetNames(statement).map((name) => fresh.get(name));
  const isCopied = made.some((one) => one?.form === 'table' && one.isCopied);
  for (const name of targetNames(statement)) {
    const contents = fresh.get(name);
    if (contents === undefined) rows.delete(name);
    // A step that each row goes through by itself leaves the copies what they are.
    else if (!isCopied && contents.form === 'table')
      rows.set(name, { ...contents, isCopied: true, hasUnaltered: true });
    else rows.set(name, contents);
  }
  return made;
}

/** Whether a statement takes some rows of a table into a variable, which is copied later. */
function picksRows(copies: RowCopies, statement: Stmt, rows: ReadonlyMap<string, Rows>): boolean {
  if (statement.type !== 'assign') return false;
  const value = copies.of(statement.value, rows);
  const tables: (Rows | undefined)[] =
    value?.form === 'tuple' || value?.form === 'list' ? value.items : [value];
  return tables.some((one): one is CopiedRows => one?.form === 'table' && one.isCopied);
}

/** The first line that takes some of the rows: `minority = frame[frame["y"] == 1]` is before the line that copies it. */
function firstOf(context: RepairContext, suite: readonly Stmt[], from: number, to: number): number {
  let first = from;
  for (let at = from - 1; at >= 0; at -= 1) {
    const statement = suite[at];
    if (statement?.type !== 'assign') continue;
    const needed = new Set(suite.slice(first, to).flatMap(readNames));
    const copies = new RowCopies(context.module);
    const rows = new Map<string, Rows>();
    for (const name of tablesRead(context, [statement]))
      rows.set(name, { form: 'table', base: name, isCopied: false, hasUnaltered: true, isOwn: false });
    const isNeeded = targetNames(statement).some((name) => needed.has(name) && !rows.has(name));
    if (!isNeeded) continue;
    let isPick = false;
    try {
      isPick = picksRows(copies, statement, rows);
    } catch (error) {
      if (!(error instanceof NotCopies)) throw error;
    }
    if (isPick) first = at;
  }
  return first;
}

/** Tables that are read in statements and are not made by them before. */
function tablesRead(context: RepairContext, statements: readonly Stmt[]): Set<string> {
  const found = new Set<string>();
  const made = new Set<string>();
  for (const statement of statements) {
    for (const name of readNames(statement)) {
      const isTable = context.watchedEarlier.has(name) || context.watched.has(name);
      if (isTable && !made.has(name)) found.add(name);
    }
    for (const name of targetNames(statement)) made.add(name);
  }
  return found;
}

/** `[c for c in frame.columns if c != "label"]`: copied rows have the same columns. */
export function readsColumnsAlone(source: string, statement: Stmt, name: string): boolean {
  return [...namesIn(statement)].every(
    ({ id, end }) => id !== name || /^\s*\.\s*(columns|dtypes)\b/.test(source.slice(end, end + 30)),
  );
}

function readNames(statement: Stmt): string[] {
  const stored = new Set<Expr>(storedIn(statement));
  return [...new Set([...namesIn(statement)].filter((name) => !stored.has(name)).map(({ id }) => id))];
}

function targetNames(statement: Stmt): string[] {
  if (statement.type === 'augmented') return [rootName(statement.target) ?? ''];
  if (statement.type !== 'assign') return [];
  return flat(statement.targets).flatMap((target) => rootName(target) ?? []);
}

function storedIn(statement: Stmt): Expr[] {
  return statement.type === 'assign' ? flat(statement.targets).filter(({ type }) => type === 'name') : [];
}

function flat(targets: readonly Expr[]): Expr[] {
  return targets.flatMap((target) => (target.type === 'sequence' ? flat(target.items) : [target]));
}

function holds(outer: Stmt, inner: Stmt): boolean {
  return outer.start <= inner.start && inner.end <= outer.end;
}
