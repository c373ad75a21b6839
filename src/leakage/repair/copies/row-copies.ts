import type { Call, Expr, FunctionDefinition, Module, Stmt } from '../../syntax/ast.js';
import { calleeName, expressionsIn, namesInExpression, rootName, statementsIn } from '../../syntax/walk.js';
import { countWork } from '../../values/work.js';

/** Rows of one of the tables that are copied. */
export interface CopiedRows {
  readonly form: 'table';
  /** Variable of the table whose rows these are. */
  readonly base: string;
  /** Other rows than those of the table: some, several times, or in another order. */
  readonly isCopied: boolean;
  /** Rows of the table with their values are among them; false if all of them are altered. */
  readonly hasUnaltered: boolean;
  /** Nothing else holds these rows, so that they may be changed in place. */
  readonly isOwn: boolean;
}

/** A list of such rows, or several values that a function gives. */
interface SeveralRows {
  readonly form: 'list' | 'tuple';
  readonly items: (Rows | undefined)[];
}

/** Made from the rows, but not rows that may be put beside them: a column, a condition, a number. */
interface DerivedValue {
  readonly form: 'derived';
}

export type Rows = CopiedRows | SeveralRows | DerivedValue;

/** Thrown if it is not certain that the other rows stay as they are; the message says why. */
export class NotCopies extends Error {}

const DERIVED: DerivedValue = { form: 'derived' };
const STACKS = /^(concat|concatenate|vstack|row_stack|cat)$/;
const SAME_ROWS = /^(copy|reset_index|asarray|array)$/;
const PICKS_ROWS = /^(sample|query|head|tail)$/;
const COLUMNS_ALTERED = /^(assign)$/;
const MAX_DEPTH = 4;

/**
 * Follows rows that are copied: which variables hold rows of which table, whether they are all as they were, and whether
 * some of them are. It refuses code that changes the table itself, since the scored rows would lack that change.
 */
export class RowCopies {
  readonly #module: Module;
  readonly #functions: ReadonlyMap<string, FunctionDefinition>;

  constructor(module: Module) {
    this.#module = module;
    this.#functions = new Map(
      module.body.statements.flatMap((statement) =>
        statement.type === 'function' ? [[statement.name, statement] as const] : [],
      ),
    );
  }

  /** Runs statements on what the variables hold; gives what a `return` among them gives. */
  run(statements: readonly Stmt[], rows: Map<string, Rows>, depth = 0): Rows | undefined {
    for (const statement of statements) {
      countWork(1);
      if (statement.type === 'return')
        return statement.value === undefined ? undefined : this.of(statement.value, rows, depth);
      this.#statement(statement, rows, depth);
    }
    return undefined;
  }

  #statement(statement: Stmt, rows: Map<string, Rows>, depth: number): void {
    switch (statement.type) {
      case 'assign': {
        const value = this.of(statement.value, rows, depth);
        for (const target of statement.targets)
          this.#assign(target, value, statement.value, statement.value, rows);
        return;
      }
      case 'augmented': {
        const name = rootName(statement.target);
        const contents = name === undefined ? undefined : rows.get(name);
        if (contents?.form === 'table' && statement.target.type === 'name' && !contents.isOwn)
          throw new NotCopies(`\`${name}\` is changed where its rows are copied`);
        if (contents?.form === 'list') contents.items.push(...itemsOf(this.of(statement.value, rows, depth)));
        else if (contents?.form === 'table')
          this.#assign(statement.target, contents, statement.target, statement.target, rows);
        return;
      }
      case 'expression':
        this.#effect(statement.value, rows, depth);
        return;
      case 'for': {
        this.#bindTurn(statement.target, statement.iterable, rows, depth);
        for (let turn = 0; turn < 2; turn += 1) this.run(statement.body.statements, rows, depth);
        if (statement.orelse !== undefined) this.run(statement.orelse.statements, rows, depth);
        return;
      }
      case 'if': {
        for (const { body } of statement.branches) {
          if ([...body.statements].some(({ type }) => type === 'return'))
            throw new NotCopies('a branch decides what the copied rows are');
          this.run(body.statements, rows, depth);
        }
        return;
      }
      case 'import':
      case 'jump':
        return;
      default:
        if (this.#mentions(statement, rows))
          throw new NotCopies('the rows are copied in a way that is not followed');
    }
  }

  #mentions(statement: Stmt, rows: ReadonlyMap<string, Rows>): boolean {
    for (const inner of statementsIn(statement)) {
      if (inner.type === 'function' && inner.params.some(({ name }) => rows.has(name))) return true;
    }
    return false;
  }

  /** @param whole what the statement assigns, of which `written` is the part for this target */
  #assign(target: Expr, value: Rows | undefined, written: Expr, whole: Expr, rows: Map<string, Rows>): void {
    if (target.type === 'name') {
      if (value === undefined) rows.delete(target.id);
      else rows.set(target.id, value);
      return;
    }
    if (target.type === 'sequence') {
      const values = written.type === 'sequence' && written.items.length === target.items.length;
      target.items.forEach((item, at) => {
        const each =
          value?.form === 'tuple' || value?.form === 'list'
            ? value.items[at]
            : value === undefined
              ? undefined
              : DERIVED;
        this.#assign(item, each, values ? (written.items[at] ?? written) : written, whole, rows);
      });
      return;
    }
    const name = rootName(target);
    const contents = name === undefined ? undefined : rows.get(name);
    if (name === undefined || contents?.form !== 'table') {
      if (contents?.form === 'list' || contents?.form === 'tuple')
        throw new NotCopies(`\`${name}\` is changed where its rows are copied`);
      return;
    }
    if (!contents.isOwn) throw new NotCopies(`\`${name}\` is changed where its rows are copied`);
    if (!this.#isKnownColumn(target, whole))
      throw new NotCopies('the copied rows get a column that the other rows may lack');
    rows.set(name, { ...contents, hasUnaltered: false });
  }

  /** `copy["text"] = copy["text"].map(…)`: what is replaced is read, so it is there in all rows. */
  #isKnownColumn(target: Expr, written: Expr): boolean {
    const index = target.type === 'subscript' ? target.indices.at(-1) : undefined;
    const text = (part: Expr): string => this.#module.source.slice(part.start, part.end);
    if (index === undefined || index.type === 'slice' || index.type === 'compare') return index !== undefined;
    const wanted = text(index);
    return (
      written === target ||
      [...expressionsIn(written)].some((part) => part.type === index.type && text(part) === wanted) ||
      (index.type === 'constant' &&
        [...expressionsIn(written)].some((part) => part.type === 'attribute' && part.name === index.value))
    );
  }

  #effect(value: Expr, rows: Map<string, Rows>, depth: number): void {
    if (value.type !== 'call') return;
    const { callee, args } = value;
    const name = calleeName(value);
    const owner = callee.type === 'attribute' ? rootName(callee.object) : undefined;
    const contents = owner === undefined ? undefined : rows.get(owner);
    if (contents?.form === 'list' && callee.type === 'attribute' && callee.object.type === 'name') {
      const added = args.map((argument) => this.of(argument.value, rows, depth));
      if (name === 'append') contents.items.push(added[0]);
      else if (name === 'extend') contents.items.push(...itemsOf(added[0]));
      else throw new NotCopies('the rows are copied in a way that is not followed');
      return;
    }
    const isInPlace =
      args.some((argument) => argument.name === 'inplace') || /^(pop|insert|update|fill|sort)$/.test(name);
    if (contents?.form === 'table' && isInPlace)
      throw new NotCopies(`\`${owner}\` is changed where its rows are copied`);
    const tables = args.flatMap((argument) => {
      const passed = argument.value.type === 'name' ? rows.get(argument.value.id) : undefined;
      return passed?.form === 'table' ? [passed] : [];
    });
    if (tables.length > 0 && name === 'shuffle')
      throw new NotCopies('the rows are copied in a way that is not followed');
    const defined = callee.type === 'name' ? this.#functions.get(callee.id) : undefined;
    if (tables.length > 0 && defined !== undefined) this.#called(defined, value, rows, depth);
  }

  #bindTurn(target: Expr, iterable: Expr, rows: Map<string, Rows>, depth: number): void {
    let turns: (Rows | undefined)[] = [];
    if (iterable.type === 'call' && calleeName(iterable) === 'zip')
      turns = iterable.args.map(({ value }) => this.of(value, rows, depth));
    else if (iterable.type === 'call' && calleeName(iterable) === 'enumerate')
      turns = [undefined, this.of(iterable.args[0]?.value ?? iterable, rows, depth)];
    else {
      const value = this.of(iterable, rows, depth);
      if (value?.form === 'list' || value?.form === 'tuple')
        throw new NotCopies('the rows are copied in a way that is not followed');
      turns = [value];
    }
    const targets = target.type === 'sequence' ? target.items : [target];
    targets.forEach((item, at) => {
      if (item.type !== 'name') {
        if (turns.some((turn) => turn !== undefined))
          throw new NotCopies('the rows are copied in a way that is not followed');
        return;
      }
      const turn = turns[at];
      if (turn === undefined) rows.delete(item.id);
      else rows.set(item.id, turn);
    });
  }

  /** What an expression holds of the rows; nothing if it reads none of them. */
  of(expression: Expr, rows: ReadonlyMap<string, Rows>, depth = 0): Rows | undefined {
    countWork(1);
    switch (expression.type) {
      case 'name':
        return rows.get(expression.id);
      case 'sequence': {
        const items = expression.items.map((item) => this.of(item, rows, depth));
        const isEmptyList = expression.form === 'list' && items.length === 0;
        if (!isEmptyList && items.every((item) => item === undefined)) return undefined;
        return { form: expression.form === 'tuple' ? 'tuple' : 'list', items };
      }
      case 'subscript':
        return this.#subscript(expression.object, expression.indices, rows, depth);
      case 'attribute': {
        const value = this.of(expression.object, rows, depth);
        return value === undefined ? undefined : DERIVED;
      }
      case 'call':
        return this.#call(expression, rows, depth);
      case 'binary': {
        const [left, right] = [this.of(expression.left, rows, depth), this.of(expression.right, rows, depth)];
        if (left?.form === 'list' && expression.operator === '*' && right?.form !== 'table') return left;
        if (left?.form === 'list' && right?.form === 'list' && expression.operator === '+')
          return { form: 'list', items: [...left.items, ...right.items] };
        const tables = [left, right].filter((one) => one?.form === 'table');
        const [table] = tables;
        return table?.form === 'table'
          ? { ...table, hasUnaltered: false, isOwn: true }
          : this.#derived(expression, rows);
      }
      case 'comprehension':
        return this.#comprehension(expression, rows, depth);
      default:
        return this.#derived(expression, rows);
    }
  }

  #derived(expression: Expr, rows: ReadonlyMap<string, Rows>): Rows | undefined {
    return [...namesInExpression(expression)].some(({ id }) => rows.has(id)) ? DERIVED : undefined;
  }

  /** `[flip(image) for image in images]`, `[frame, *copies]` */
  #comprehension(
    expression: Expr & { type: 'comprehension' },
    rows: ReadonlyMap<string, Rows>,
    depth: number,
  ): Rows | undefined {
    const [clause, other] = expression.clauses;
    if (clause === undefined || other !== undefined) return this.#derived(expression, rows);
    const inner = new Map(rows);
    this.#bindTurn(clause.target, clause.iterable, inner, depth);
    const element = this.of(expression.element, inner, depth);
    if (element === undefined) return this.#derived(expression, rows);
    return element.form === 'table' ? { form: 'list', items: [{ ...element, isCopied: true }] } : DERIVED;
  }

  #subscript(
    object: Expr,
    indices: readonly Expr[],
    rows: ReadonlyMap<string, Rows>,
    depth: number,
  ): Rows | undefined {
    const isLocated = object.type === 'attribute' && /^i?loc$/.test(object.name);
    const value = this.of(isLocated ? object.object : object, rows, depth);
    const [index, ...others] = indices;
    if (value === undefined || index === undefined) return this.#derived(object, rows);
    if (value.form !== 'table') {
      const at = index.type === 'constant' && typeof index.value === 'number' ? index.value : -1;
      return value.form === 'derived' ? DERIVED : (value.items[at] ?? DERIVED);
    }
    if (isAll(index) && others.length > 0)
      return isLocated ? DERIVED : { ...value, hasUnaltered: false, isOwn: false };
    if (others.length > 0 || index.type === 'constant' || index.type === 'sequence') return DERIVED;
    if (index.type === 'slice') return { ...value, isCopied: true, isOwn: false };
    const made = this.of(index, rows, depth);
    // A name that was made from the rows is a condition or positions, another one a list of columns.
    const isRows = isLocated || made !== undefined;
    return isRows ? { ...value, isCopied: true, isOwn: true } : DERIVED;
  }

  #call(call: Call, rows: ReadonlyMap<string, Rows>, depth: number): Rows | undefined {
    const { callee, args } = call;
    const name = calleeName(call);
    if (callee.type === 'attribute') {
      const object = this.of(callee.object, rows, depth);
      if (object?.form === 'table') return this.#method(call, name, object, rows, depth);
      if (object !== undefined) return DERIVED;
    }
    const values = args.map(({ value }) => this.of(value, rows, depth));
    if (values.every((value) => value === undefined)) return this.#derived(call, rows);
    if (/^fit_(re)?sample$/.test(name)) {
      const tables = values.map((value) => copied(value));
      return { form: 'tuple', items: tables };
    }
    if (STACKS.test(name)) return this.#stacked(call, values[0]);
    const [first] = values;
    if (SAME_ROWS.test(name) && first?.form === 'list') return this.#stacked(call, first);
    if (SAME_ROWS.test(name) && first?.form === 'table') return { ...first, isOwn: true };
    if ((name === 'shuffle' || name === 'resample' || name === 'repeat') && first?.form === 'table') {
      this.#checkNumber(call, rows, depth);
      const positional = values.filter((_, at) => args[at]?.name === undefined);
      const tables = positional.filter((value) => value?.form === 'table').map(copied);
      return tables.length > 1 ? { form: 'tuple', items: tables } : tables[0];
    }
    const defined = callee.type === 'name' ? this.#functions.get(callee.id) : undefined;
    if (defined !== undefined) return this.#called(defined, call, rows, depth);
    if (first?.form === 'list' && name === 'list') return first;
    // `np.rot90(images)`: what a library makes of the rows are altered rows, if they are put beside them.
    return first?.form === 'table' && !/^[A-Z]/.test(name) && !isNumber(name)
      ? { ...first, hasUnaltered: false, isOwn: true }
      : DERIVED;
  }

  #method(
    call: Call,
    name: string,
    object: CopiedRows,
    rows: ReadonlyMap<string, Rows>,
    depth: number,
  ): Rows | undefined {
    if (name === 'copy') return { ...object, isOwn: true };
    if (name === 'reset_index') {
      const drops = call.args.some(
        (argument) =>
          argument.name === 'drop' && argument.value.type === 'constant' && argument.value.value === true,
      );
      return drops ? { ...object, isOwn: true } : DERIVED;
    }
    if (PICKS_ROWS.test(name)) {
      if (name === 'head' || name === 'tail')
        throw new NotCopies('the number of rows that are copied is that of all rows');
      this.#checkNumber(call, rows, depth);
    }
    if (PICKS_ROWS.test(name)) return { ...object, isCopied: true, isOwn: true };
    if (name === 'append') {
      const added = call.args[0] === undefined ? undefined : this.of(call.args[0].value, rows, depth);
      return this.#stacked(call, {
        form: 'list',
        items: [object, ...(added?.form === 'list' ? added.items : [added])],
      });
    }
    if (COLUMNS_ALTERED.test(name)) {
      const isKnown = call.args.every(
        ({ name: column, value }) =>
          column !== undefined &&
          [...expressionsIn(value)].some(
            (part) =>
              (part.type === 'constant' && part.value === column) ||
              (part.type === 'attribute' && part.name === column),
          ),
      );
      return isKnown ? { ...object, hasUnaltered: false, isOwn: true } : DERIVED;
    }
    return DERIVED;
  }

  /** `sample(n=5000)`: the training part would be copied until it has as many rows as all rows together. */
  #checkNumber(call: Call, rows: ReadonlyMap<string, Rows>, depth: number): void {
    const isSample = calleeName(call) === 'sample';
    const count = call.args.find(
      ({ name }, at) => name === 'n' || name === 'n_samples' || (isSample && at === 0 && name === undefined),
    )?.value;
    if (count === undefined || (count.type === 'constant' && count.value === null)) return;
    if (this.of(count, rows, depth) === undefined)
      throw new NotCopies('the number of rows that are copied is that of all rows');
  }

  /** Rows below rows: of one table, with some of them as they were. */
  #stacked({ args }: Call, list: Rows | undefined): Rows {
    const isBeside = args.some(
      ({ name, value }) =>
        (name === 'axis' || name === 'dim') && !(value.type === 'constant' && value.value === 0),
    );
    const second = args[1]?.name === undefined ? args[1]?.value : undefined;
    const hasOtherAxis = second !== undefined && !(second.type === 'constant' && second.value === 0);
    if (isBeside || hasOtherAxis || (list?.form !== 'list' && list?.form !== 'tuple')) return DERIVED;
    const tables = list.items.flatMap((item) => (item?.form === 'table' ? [item] : []));
    const [first] = tables;
    if (first === undefined || tables.length < list.items.length) return DERIVED;
    if (tables.some(({ base }) => base !== first.base)) return DERIVED;
    return {
      ...first,
      isCopied: true,
      isOwn: true,
      hasUnaltered: tables.some(({ hasUnaltered }) => hasUnaltered),
    };
  }

  #called(
    definition: FunctionDefinition,
    call: Call,
    rows: ReadonlyMap<string, Rows>,
    depth: number,
  ): Rows | undefined {
    if (depth >= MAX_DEPTH) throw new NotCopies('the rows are copied too deep in functions');
    if (definition.decorators.length > 0 || call.args.some(({ star }) => star !== ''))
      throw new NotCopies('the rows are copied in a way that is not followed');
    const inner = new Map<string, Rows>();
    call.args.forEach(({ name, value }, at) => {
      const passed = this.of(value, rows, depth);
      const param = name ?? definition.params[at]?.name;
      if (passed !== undefined && param !== undefined) inner.set(param, passed);
    });
    return this.run(definition.body.statements, inner, depth + 1);
  }
}

function copied(value: Rows | undefined): Rows | undefined {
  return value?.form === 'table' ? { ...value, isCopied: true, isOwn: true } : value;
}

function itemsOf(value: Rows | undefined): (Rows | undefined)[] {
  return value?.form === 'list' || value?.form === 'tuple' ? value.items : [value];
}

function isAll(index: Expr): boolean {
  return (
    index.type === 'slice' &&
    index.lower === undefined &&
    index.upper === undefined &&
    index.step === undefined
  );
}

/** Functions that give one number, or one for each class. */
function isNumber(name: string): boolean {
  return /^(len|int|float|sum|min|max|mean|median|unique|bincount|Counter|set|sorted|print|range|round|where|nonzero|flatnonzero|isin|argsort|normal)$/.test(
    name,
  );
}
