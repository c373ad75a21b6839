import type { Expr, Span, Stmt } from '../../../syntax/ast.js';
import { calleeName, rootName, suitesOf } from '../../../syntax/walk.js';
import { countWork } from '../../../values/work.js';
import type { Version } from '../script-change.js';
import { type JointCall, StepEvaluator } from './evaluate-steps.js';
import { FOR_GROUPS, isLearned, named, namesOf } from './step-words.js';
import {
  combined,
  learnedValue,
  NOTHING,
  plainValue,
  sourceTable,
  stepsAfter,
  type TableValue,
  withStep,
} from './table-value.js';

/** What the variables of a script hold after a block, and the calls so far that take several tables. */
export interface Followed {
  readonly values: ReadonlyMap<string, TableValue>;
  readonly jointCalls: readonly JointCall[];
}

/** Several checks of one change need it. */
const cached = new WeakMap<Version, Followed>();

/** Follows all statements of a script through its block. */
export function followSteps(version: Version): Followed {
  const known = cached.get(version);
  if (known !== undefined) return known;
  const follower = new StepFollower(version);
  const followed = { values: follower.follow(), jointCalls: follower.jointCalls };
  cached.set(version, followed);
  return followed;
}

/** What variables hold, statement by statement. */
class StepFollower {
  readonly #evaluator: StepEvaluator;
  readonly #module: Version['module'];
  readonly #block: Span;

  constructor({ module, block }: Version) {
    this.#module = module;
    this.#block = block;
    this.#evaluator = new StepEvaluator(module);
  }

  get jointCalls(): readonly JointCall[] {
    return this.#evaluator.jointCalls;
  }

  /** Follows all statements through the block; gives what the variables hold then. */
  follow(): ReadonlyMap<string, TableValue> {
    const { end } = this.#block;
    for (const statement of this.#module.body.statements) this.#run(statement, end);
    return this.#evaluator.values;
  }

  #run(statement: Stmt, end: number): void {
    if (statement.start >= end) return;
    countWork(1);
    switch (statement.type) {
      case 'assign': {
        const value = this.#evaluator.evaluate(statement.value);
        this.#noteColumns(statement.targets, this.#evaluator.columnsOf(statement.value));
        this.#noteGroups(statement.targets, statement.value);
        for (const target of statement.targets) this.#assign(target, value);
        return;
      }
      case 'augmented': {
        const value = combined(statement.operator.replace('=', ''), [
          this.#evaluator.evaluate(statement.target),
          this.#evaluator.evaluate(statement.value),
        ]);
        this.#assign(statement.target, value);
        return;
      }
      case 'expression':
        this.#inPlace(statement.value);
        return;
      case 'for':
        this.#loop(statement, end);
        return;
      case 'function':
      case 'class':
        // What happens in other functions happens when they are called.
        if (statement.start > this.#block.start || statement.end < this.#block.end) return;
        if (statement.type === 'function')
          for (const { name } of statement.params) this.#evaluator.values.set(name, sourceTable(`=${name}`));
        break;
      case 'with':
        for (const { value } of statement.items) this.#evaluator.evaluate(value);
        break;
      default:
    }
    for (const suite of suitesOf(statement)) for (const inner of suite.statements) this.#run(inner, end);
  }

  #noteColumns(targets: readonly Expr[], columns: readonly string[] | undefined): void {
    for (const target of targets) {
      if (target.type !== 'name') continue;
      if (columns === undefined) this.#evaluator.columns.delete(target.id);
      else this.#evaluator.columns.set(target.id, columns);
    }
  }

  /** `groups = frame.groupby("key")`, `amounts = groups["amount"]` */
  #noteGroups(targets: readonly Expr[], value: Expr): void {
    let rows = value;
    while (rows.type === 'subscript' || rows.type === 'attribute') rows = rows.object;
    const { grouped } = this.#evaluator;
    const isGrouped =
      (rows.type === 'call' && calleeName(rows) === 'groupby') ||
      (rows.type === 'name' && grouped.has(rows.id));
    for (const target of targets) {
      if (target.type !== 'name') continue;
      if (isGrouped) grouped.add(target.id);
      else grouped.delete(target.id);
    }
  }

  #loop(statement: Stmt & { type: 'for' }, end: number): void {
    const { target, iterable } = statement;
    const tables =
      target.type === 'name' && iterable.type === 'sequence'
        ? iterable.items.flatMap((item) =>
            item.type === 'name' && this.#evaluator.evaluate(item).isTable ? [item.id] : [],
          )
        : [];
    const run = (): void => {
      for (const inner of statement.body.statements) this.#run(inner, end);
      for (const inner of statement.orelse?.statements ?? []) this.#run(inner, end);
    };
    if (target.type !== 'name' || tables.length === 0) {
      const rows = this.#evaluator.evaluate(iterable);
      this.#noteColumns([target], this.#evaluator.columnsOf(iterable));
      for (const name of namesOf(target)) this.#evaluator.values.set(name, plainValue(name));
      const part = target.type === 'sequence' ? target.items.at(-1) : undefined;
      if (rows.isTable && part?.type === 'name' && FOR_GROUPS.test(this.#evaluator.text(iterable)))
        this.#evaluator.values.set(part.id, rows);
      run();
      return;
    }
    for (const table of tables) {
      this.#evaluator.values.set(target.id, this.#evaluator.values.get(table) ?? NOTHING);
      run();
      // A table that the loop changes in place is changed under its own name too.
      const isReplaced = statement.body.statements.some(
        (inner) =>
          inner.type === 'assign' && inner.targets.some((one) => one.type === 'name' && one.id === target.id),
      );
      if (!isReplaced) this.#evaluator.values.set(table, this.#evaluator.values.get(target.id) ?? NOTHING);
    }
  }

  #assign(target: Expr, value: TableValue): void {
    if (target.type === 'name') {
      this.#evaluator.values.set(
        target.id,
        value.isTable ||
          value.made !== undefined ||
          value.items !== undefined ||
          value.positionsOf !== undefined
          ? value
          : named(target.id, value),
      );
    } else if (target.type === 'sequence') {
      target.items.forEach((item, at) => {
        this.#assign(
          item,
          value.items?.[at] ?? (value.isTable ? withStep(value, `item ${at}`) : plainValue(`item ${at}`)),
        );
      });
    } else if (target.type === 'subscript' || target.type === 'attribute') {
      this.#update(target, value);
    }
  }

  /** `frame["a"] = …`, `frame.loc[rows, "a"] = …`, `frame.a = …` */
  #update(target: Expr, value: TableValue): void {
    const name = rootName(target);
    const table = name === undefined ? undefined : this.#evaluator.values.get(name);
    if (name === undefined || table === undefined) return;
    // A dictionary of what was learned, by group.
    if (!table.isTable) {
      if (isLearned(value)) this.#evaluator.values.set(name, learnedValue('by key'));
      return;
    }
    const column = target.type === 'attribute' ? target.name : undefined;
    const last = target.type === 'subscript' ? target.indices.at(-1) : undefined;
    const columns =
      column === undefined ? (last === undefined ? undefined : this.#evaluator.columnsOf(last)) : [column];
    const where =
      target.type === 'subscript' && target.indices.length > 1
        ? this.#relative(target.indices[0], table)
        : '';
    const isWhole = last?.type === 'slice' && last.lower === undefined && last.upper === undefined;
    const label = `set ${isWhole ? '' : (columns?.join(',') ?? this.#indexText(last, table))} ${where}: ${stepsAfter(value, table)}`;
    this.#evaluator.values.set(
      name,
      withStep(table, label, isWhole ? undefined : columns === undefined ? 'some' : new Set(columns)),
    );
  }

  /** What is changed: by the text of a variable, or by how rows were picked from the table itself. */
  #indexText(index: Expr | undefined, table: TableValue): string {
    if (index === undefined) return '';
    const value = this.#evaluator.evaluate(index);
    return value.isTable ? stepsAfter(value, table) : this.#evaluator.text(index);
  }

  #relative(expression: Expr | undefined, table: TableValue): string {
    return expression === undefined ? '' : stepsAfter(this.#evaluator.evaluate(expression), table);
  }

  /** `frame.fillna(0, inplace=True)`, `frame["a"].fillna(0, inplace=True)`, `frame.pop("a")`, `scaler.fit(X)` */
  #inPlace(value: Expr): void {
    const result = this.#evaluator.evaluate(value);
    if (value.type !== 'call' || value.callee.type !== 'attribute') return;
    const { object, name } = value.callee;
    const isInPlace = value.args.some((argument) => argument.name === 'inplace');
    if (isInPlace && object.type === 'name') this.#evaluator.values.set(object.id, result);
    else if (isInPlace) this.#update(object, result);
    else if (/^(pop|insert|update|fill|sort|shuffle)$/.test(name)) {
      const root = rootName(object);
      const table = root === undefined ? undefined : this.#evaluator.values.get(root);
      if (root === undefined || table === undefined || name === 'pop') return;
      this.#evaluator.values.set(
        root,
        withStep(table, `${name}(${this.#evaluator.text(value.args[0]?.value)})`, 'some'),
      );
    }
  }
}
