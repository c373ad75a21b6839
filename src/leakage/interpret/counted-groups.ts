import type { Expr, Stmt } from '../syntax/ast.js';
import { expressionsIn, namesInExpression, ownExpressions, statementsIn } from '../syntax/walk.js';
import { type IgnoredGroups, type Region, sameRows } from '../values/region.js';
import type { TableState, Value } from '../values/value.js';
import { countWork } from '../values/work.js';
import type { Interpreter } from './interpreter.js';

/** Columns whose rows the code counts; each split is held against all of them. */
const MAX_COUNTED = 256;

/** Identifiers of those who are measured again and again. */
const MEASURED =
  /^((patient|subject|participant|speaker|person|donor|animal|mouse|writer|volunteer|driver|lesion|recording|video)[\s_]?(id|code|no|nr|number)|subject#|patient|participant|speaker|donor|writer|volunteer|lesion)s?$/i;

/** What those who are measured are called, where the code takes their name out of the name of each recording. */
const PERSON =
  /^((subject|patient|participant|speaker|person|donor|animal|writer|volunteer|user)(_?ids?|s)?|pats?|pids?|subjs?|spks?)$/i;

interface Counted {
  readonly column: string;
  readonly rows: readonly Region[];
  /** Columns that say which rows belong together; any of them among the features is what the author wanted. */
  readonly columns: readonly string[];
  /** Whether the code shows that there are fewer of them than rows. */
  readonly areFewer: boolean;
}

/** Columns of identifiers whose rows the code counts, each with the rows of its table. */
export class CountedGroups {
  #counted: Counted[] = [];
  /** Columns that have another value in each row of a table. */
  readonly #unique: { readonly column: string; readonly rows: readonly Region[] }[] = [];
  /** Variables that say how many of them there are. */
  readonly #numbers = new Map<string, Counted>();

  /** The rows of each value of a column are counted, as by `groupby(column).size()`. */
  add(interp: Interpreter, column: string, rows: readonly Region[]): void {
    if (!MEASURED.test(column)) return;
    const counted = { column, rows, columns: [column], areFewer: false };
    this.#add(counted);
    this.#keepNumber(interp, counted);
  }

  /** The rows of a table are counted: in one statement with a variable that says how many of them there are. */
  addRows(interp: Interpreter, rows: readonly Region[]): void {
    if (this.#numbers.size === 0) return;
    const named = new Set(statementNames(interp.statement));
    for (const [name, counted] of this.#numbers) {
      if (!named.has(name) || !sameRows(counted.rows, rows)) continue;
      if (countsRows(interp, interp.statement, rows)) this.#add({ ...counted, areFewer: true });
    }
  }

  /** `patients = frame["patient_id"].nunique()`: shown beside the number of rows later. */
  #keepNumber({ statement }: Interpreter, counted: Counted): void {
    const [target, ...others] = statement.type === 'assign' ? statement.targets : [];
    if (target?.type !== 'name' || others.length > 0 || this.#numbers.size >= MAX_COUNTED) return;
    this.#numbers.set(target.id, counted);
  }

  /** `frame["patient"].value_counts()`: how many rows each value of a column has. */
  addCounts(interp: Interpreter, { shape, from, rows }: TableState): void {
    const [column] = from;
    if (shape === 'column' && column !== undefined && !isAsserted(interp)) this.add(interp, column, rows);
  }

  /**
   * The values of a column are counted beside its rows, as in `len(frame), frame["patient"].nunique()`: code that shows both
   * has several rows of each.
   */
  addDistinct(interp: Interpreter, state: TableState, counted: Expr): void {
    const [own, ...made] = state.from;
    if (own === undefined && counted.type === 'name') this.#addCollected(interp, state, counted.id);
    if (state.shape !== 'column' || own === undefined || state.rows.length === 0) return;
    // A column that was made from the name of a recording, or a variable with what was taken out of it.
    const named = counted.type === 'name' && made.length === 0 ? counted.id : undefined;
    const isPerson = MEASURED.test(own) || (made.length > 0 && PERSON.test(own));
    const column = isPerson ? own : named !== undefined && PERSON.test(named) ? named : undefined;
    if (column === undefined) return;
    const distinct = { column, rows: state.rows, columns: state.from, areFewer: true };
    if (countsRows(interp, interp.statement, state.rows)) this.#add(distinct);
    else this.#keepNumber(interp, distinct);
  }

  /** The same of a list that a loop filled: who each row is of, if the code does nothing with it but count. */
  #addCollected(interp: Interpreter, { rows, shape }: TableState, name: string): void {
    if (shape !== 'array' || rows.length === 0 || !PERSON.test(name)) return;
    if (!countsRows(interp, interp.statement, rows) || !isOnlyCounted(interp, name)) return;
    this.#add({ column: name, rows, columns: [], areFewer: true });
  }

  #add(counted: Counted): void {
    countWork(this.#unique.length);
    const isUnique = this.#unique.some(
      ({ column, rows }) => column === counted.column && sameRows(rows, counted.rows),
    );
    if (!isUnique && this.#counted.length < MAX_COUNTED) this.#counted.push(counted);
  }

  /** A table of one row for each patient has no groups. Other tables keep theirs. `columns`: those that are different in all rows. */
  forget(rows: readonly Region[], columns: readonly string[]): void {
    this.#counted = this.#counted.filter((known) => !sameRows(known.rows, rows));
    for (const column of columns) this.#unique.push({ column, rows });
  }

  /**
   * Groups that have several rows, as the code knows: it shows that, or it counts their rows and takes them out of the
   * features. Nothing where each of them is to be on both sides (`stratify`).
   */
  of(value: Value | undefined, stratified?: Value): IgnoredGroups | undefined {
    const known = this.#known(value);
    const strata = stratified?.type === 'table' ? stratified.cell.value.from : [];
    if (known === undefined || known.columns.some((column) => strata.includes(column))) return undefined;
    return { text: known.column, columns: known.columns };
  }

  #known(value: Value | undefined): Counted | undefined {
    if (value?.type === 'positions')
      return this.#counted.find(
        ({ rows, areFewer }) => areFewer && sameRows(rows, value.counts ?? value.of ?? []),
      );
    if (value?.type !== 'table') return undefined;
    const { rows, dropped, closed, columns, shape } = value.cell.value;
    if (shape === 'column') return undefined;
    return this.#counted.find(
      (known) =>
        sameRows(known.rows, rows) &&
        (known.areFewer ||
          known.columns.every((column) => dropped.has(column) || (closed && !columns.has(column)))),
    );
  }
}

/** Calls that make an array of a list, or say how many different items it has. */
const COUNTING = /^(array|asarray|unique|nunique|len|set|Counter|print)$/;
const FILLING = /^(append|extend)$/;

/** Whether a list is filled and counted, and used for nothing else: it is no label, and no division goes by it. */
function isOnlyCounted(interp: Interpreter, name: string): boolean {
  const counting = new Set<Expr>();
  let others = 0;
  const look = (expression: Expr, isTarget: boolean): void => {
    for (const part of expressionsIn(expression)) {
      if (part.type === 'call') {
        const { callee, args } = part;
        const called = callee.type === 'attribute' ? callee.name : callee.type === 'name' ? callee.id : '';
        if (COUNTING.test(called)) for (const { value } of args) counting.add(value);
        if (callee.type === 'attribute' && FILLING.test(called)) counting.add(callee.object);
      }
      if (part.type === 'name' && part.id === name && !isTarget && !counting.has(part)) others += 1;
    }
  };
  for (const outer of interp.module.body.statements)
    for (const statement of statementsIn(outer)) {
      const targets = statement.type === 'assign' ? statement.targets : [];
      for (const own of ownExpressions(statement)) look(own, targets.includes(own));
    }
  return others === 0;
}

function* statementNames(statement: Stmt): Generator<string> {
  for (const own of ownExpressions(statement)) for (const { id } of namesInExpression(own)) yield id;
}

function isAsserted(interp: Interpreter): boolean {
  return /^assert\b/.test(interp.text(interp.statement));
}

/** Whether a statement says how many rows there are, without comparing that with anything. */
function countsRows(interp: Interpreter, statement: Stmt, rows: readonly Region[]): boolean {
  if (isAsserted(interp)) return false;
  let counts = false;
  // `a, b` in a line of its own is a statement for each.
  const { statements } = statement.suite;
  countWork(statements.length);
  const line = statements.filter(({ start, end }) => start === statement.start && end === statement.end);
  for (const expression of line.flatMap(ownExpressions)) {
    for (const part of expressionsIn(expression)) {
      if (part.type === 'compare') return false;
      const of = lengthOf(part);
      if (of?.type !== 'name') continue;
      const value = interp.scope.lookup(of.id)?.value;
      counts ||= value !== undefined && sameRows(interp.dataOf(value).rows, rows);
    }
  }
  return counts;
}

/** The table in `len(table)` and `table.shape`. */
function lengthOf(expression: Expr): Expr | undefined {
  if (expression.type === 'attribute' && expression.name === 'shape') return expression.object;
  if (expression.type !== 'call' || expression.callee.type !== 'name' || expression.callee.id !== 'len')
    return undefined;
  return expression.args[0]?.value;
}
