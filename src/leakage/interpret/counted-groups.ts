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

/** Whether rows are the same, or one loop puts one of each into two lists in each round. */
function areTogether(a: readonly Region[], b: readonly Region[]): boolean {
  if (sameRows(a, b)) return true;
  const [left, right] = [a[0], b[0]];
  const isOne = a.length === 1 && b.length === 1;
  return isOne && left?.parent === undefined && left?.loop !== undefined && left.loop === right?.loop;
}

/** Columns of identifiers whose rows the code counts, each with the rows of its table. */
export class CountedGroups {
  #counted: Counted[] = [];
  /** Columns that have another value in each row of a table. */
  readonly #unique: { readonly column: string; readonly rows: readonly Region[] }[] = [];
  /** Whether a column of a table of files is only counted, which is looked up once for each. */
  readonly #ofFiles = new Map<string, boolean>();
  #readsFiles: boolean | undefined;
  /** Variables that say how many of them there are. */
  readonly #numbers = new Map<string, Counted>();

  /**
   * The rows of each value of a column are counted, as by `groupby(column).size()`; `from`: columns that it was made of, as the
   * name of a recording.
   */
  add(interp: Interpreter, column: string, rows: readonly Region[], from: readonly string[] = []): void {
    const made = from.filter((other) => other !== column);
    const isPerson = MEASURED.test(column) || PERSON.test(column);
    // A table of files: who is on each of them is counted, and nothing else is done with that.
    const areFewer = isPerson && this.#isCountedOfFiles(interp, column);
    if (!areFewer && !MEASURED.test(column) && !(made.length > 0 && isPerson)) return;
    const counted = { column, rows, columns: [column, ...made], areFewer };
    this.#add(counted);
    this.#keepNumber(interp, counted);
  }

  #isCountedOfFiles(interp: Interpreter, column: string): boolean {
    const known = this.#ofFiles.get(column);
    if (known !== undefined) return known;
    this.#readsFiles ??= readsFiles(interp);
    const isCounted = this.#readsFiles && isOnlyCountedColumn(interp, column);
    if (this.#ofFiles.size < MAX_COUNTED) this.#ofFiles.set(column, isCounted);
    return isCounted;
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
    const [column, ...made] = from;
    if (shape === 'column' && column !== undefined && !isAsserted(interp))
      this.add(interp, column, rows, made);
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
    const isFileOf = PERSON.test(own) && this.#isCountedOfFiles(interp, own);
    const isPerson = MEASURED.test(own) || (made.length > 0 && PERSON.test(own)) || isFileOf;
    const column = isPerson ? own : named !== undefined && PERSON.test(named) ? named : undefined;
    if (column === undefined) return;
    const distinct = { column, rows: state.rows, columns: state.from, areFewer: true };
    if (isFileOf || countsRows(interp, interp.statement, state.rows)) this.#add(distinct);
    else this.#keepNumber(interp, distinct);
  }

  /** The same of a list that a loop filled: who each row is of, if the code does nothing with it but count. */
  #addCollected(interp: Interpreter, { rows, shape }: TableState, name: string): void {
    if (shape !== 'array' || rows.length === 0 || !PERSON.test(name)) return;
    const areFewer = countsRows(interp, interp.statement, rows) || isTakenFromNames(interp, name);
    if (!areFewer || !isOnlyCounted(interp, name)) return;
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
        ({ rows, areFewer }) => areFewer && areTogether(rows, value.counts ?? value.of ?? []),
      );
    if (value?.type !== 'table') return undefined;
    const { rows, dropped, closed, columns, shape } = value.cell.value;
    if (shape === 'column') return undefined;
    return this.#counted.find(
      (known) =>
        areTogether(known.rows, rows) &&
        (known.areFewer ||
          known.columns.every((column) => dropped.has(column) || (closed && !columns.has(column)))),
    );
  }
}

/** Functions that read one picture or one recording from a file. */
const READING = /^(imread|load_img|read_image|decode_(jpeg|png|image)|dcmread|rdsamp|wavfile)$/;

/** Whether a script reads pictures or recordings one by one. */
function readsFiles(interp: Interpreter): boolean {
  for (const outer of interp.module.body.statements)
    for (const statement of statementsIn(outer))
      for (const own of ownExpressions(statement))
        for (const part of expressionsIn(own)) {
          if (part.type !== 'call') continue;
          const { callee } = part;
          const name = callee.type === 'attribute' ? callee.name : callee.type === 'name' ? callee.id : '';
          const isImage =
            name === 'open' && callee.type === 'attribute' && /(^|\.)Image$/.test(interp.text(callee.object));
          const isSound =
            name === 'load' &&
            callee.type === 'attribute' &&
            /^(librosa|torchaudio)$/.test(interp.text(callee.object));
          if (isImage || isSound || READING.test(name)) return true;
        }
  return false;
}

/** Methods that say how many values there are, or how often each of them is there. */
const COUNTS = /^(nunique|value_counts|unique|size|countplot)$/;

/** Whether a column is only made and counted. */
function isOnlyCountedColumn(interp: Interpreter, column: string): boolean {
  let isCounted = false;
  for (const outer of interp.module.body.statements)
    for (const statement of statementsIn(outer)) {
      const [target] = statement.type === 'assign' ? statement.targets : [];
      const parts = [...ownExpressions(statement)].filter((own) => own !== target);
      const all = parts.flatMap((own) => [...expressionsIn(own)]);
      const isNamed = all.some(
        (part) =>
          (part.type === 'constant' && part.value === column) ||
          (part.type === 'attribute' && part.name === column),
      );
      if (!isNamed) continue;
      const counts = all.some((part) => part.type === 'attribute' && COUNTS.test(part.name));
      if (!counts) return false;
      isCounted = true;
    }
  return isCounted;
}

/** Methods and functions that take a part out of the name of a file. */
const TAKING = /^(split|rsplit|partition|basename|search|match|findall|extract|stem|parent|dirname)$/;

/** Whether a variable is made, or a list filled, of parts of names, as `[name.split("_")[0] for name in files]`: a file for each row. */
function isTakenFromNames(interp: Interpreter, name: string): boolean {
  const takes = (expression: Expr): boolean =>
    [...expressionsIn(expression)].some(
      (part) =>
        (part.type === 'attribute' && TAKING.test(part.name)) ||
        (part.type === 'name' && TAKING.test(part.id)),
    );
  const fills = (part: Expr): boolean =>
    part.type === 'call' &&
    part.callee.type === 'attribute' &&
    FILLING.test(part.callee.name) &&
    part.callee.object.type === 'name' &&
    part.callee.object.id === name &&
    part.args.some(({ value }) => takes(value));
  for (const outer of interp.module.body.statements)
    for (const statement of statementsIn(outer)) {
      if (statement.type === 'expression' && fills(statement.value)) return true;
      if (statement.type !== 'assign') continue;
      const isTarget = statement.targets.some((target) => target.type === 'name' && target.id === name);
      if (isTarget && takes(statement.value)) return true;
    }
  return false;
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
      counts ||= value !== undefined && areTogether(interp.dataOf(value).rows, rows);
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
