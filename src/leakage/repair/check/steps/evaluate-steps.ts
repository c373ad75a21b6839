import { STATISTIC_METHODS } from '../../../library-models/methods.js';
import type { Argument, Call, Expr, Module, Subscript } from '../../../syntax/ast.js';
import { calleeName, rootName } from '../../../syntax/walk.js';
import { countText, countWork } from '../../../values/work.js';
import { summarizedArguments } from '../../helper-calls.js';
import {
  ABOUT,
  APPLIES,
  BINS,
  FOR_GROUPS,
  isAcrossColumns,
  isAll,
  isLearned,
  isLearnedOrNumber,
  isRowArgument,
  isRowCondition,
  NEUTRAL,
  NO_TABLE,
  NUMPY_STATISTIC,
  RESAMPLES,
  RESULT,
  RESULT_VALUE,
  ROWS,
  textsOf,
  withoutClipping,
} from './step-words.js';
import {
  anyColumns,
  BY_GROUP,
  combined,
  learnedValue,
  NOTHING,
  onlyColumns,
  plainValue,
  sourceTable,
  stepsAfter,
  type TableValue,
  withoutColumns,
  withPick,
  withStep,
} from './table-value.js';

/** A call with two or more tables, whose rows belong together. */
export interface JointCall {
  readonly call: Call;
  readonly arguments: readonly TableValue[];
}

/** What expressions give, as far as the text tells. */
export class StepEvaluator {
  readonly #module: Module;
  /** What variables hold. */
  readonly values = new Map<string, TableValue>();
  /** Variables that hold column names. */
  readonly columns = new Map<string, readonly string[]>();
  /** Variables that hold the rows of a table by groups. */
  readonly grouped = new Set<string>();
  readonly jointCalls: JointCall[] = [];

  constructor(module: Module) {
    this.#module = module;
  }

  /** Column names: as texts, or as a variable that holds them. */
  columnsOf(index: Expr): readonly string[] | undefined {
    if (index.type === 'name') return this.columns.get(index.id);
    if (index.type !== 'binary' || index.operator !== '+') return textsOf(index);
    const [left, right] = [this.columnsOf(index.left), this.columnsOf(index.right)];
    return left === undefined || right === undefined ? undefined : [...left, ...right];
  }

  evaluate(expression: Expr): TableValue {
    countWork(1);
    switch (expression.type) {
      case 'name':
        return this.values.get(expression.id) ?? plainValue(expression.id);
      case 'constant':
        return plainValue(JSON.stringify(expression.value));
      case 'attribute':
        return this.#attribute(expression.object, expression.name);
      case 'subscript':
        return this.#subscript(expression);
      case 'call':
        return this.#call(expression);
      case 'binary':
        return combined(expression.operator, [
          this.evaluate(expression.left),
          this.evaluate(expression.right),
        ]);
      case 'compare':
        return combined(
          expression.operators.join(' '),
          expression.operands.map((one) => this.evaluate(one)),
        );
      case 'unary':
        return combined(expression.operator, [this.evaluate(expression.operand)]);
      case 'sequence': {
        const items = expression.items.map((item) => this.evaluate(item));
        return { ...combined('', items), items };
      }
      case 'conditional':
        return combined(
          'if',
          [expression.test, expression.whenTrue, expression.whenFalse].map((one) => this.evaluate(one)),
        );
      case 'comprehension': {
        const tables = expression.clauses.map(({ iterable }) => this.evaluate(iterable));
        return combined(`each ${this.text(expression.element)}`, tables);
      }
      case 'starred':
        return this.evaluate(expression.value);
      default:
        return plainValue(this.text(expression));
    }
  }

  #attribute(object: Expr, name: string): TableValue {
    const value = this.evaluate(object);
    if (!value.isTable)
      return value.made === undefined
        ? plainValue(`${stepsAfter(value, undefined)}.${name}`)
        : name === 'labels_'
          ? RESULT_VALUE
          : learnedValue(name);
    if (ABOUT.test(name)) return plainValue(`#${name}`);
    return NEUTRAL.test(name) ? value : onlyColumns(value, [name]);
  }

  #subscript({ object, indices }: Subscript): TableValue {
    const value = this.evaluate(object);
    const [at] = indices;
    const item =
      at?.type === 'constant' && typeof at.value === 'number' ? value.items?.[at.value] : undefined;
    if (item !== undefined && indices.length === 1) return item;
    if (!value.isTable) {
      if (value.made !== undefined) return learnedValue('part');
      return plainValue(
        `${stepsAfter(value, undefined)}[${indices.map((index) => this.text(index)).join()}]`,
      );
    }
    const [first, second] = indices;
    if (first === undefined) return value;
    if (second === undefined) return this.#picked(value, first);
    const rows = isAll(first) ? value : this.#picked(value, first);
    if (isAll(second)) return rows;
    const columns = this.columnsOf(second);
    if (columns !== undefined) return onlyColumns(rows, columns);
    return withStep(rows, `columns ${this.text(second)}`);
  }

  /** `frame["a"]`, `frame[["a", "b"]]`, `X[:n]`, `X[rows]`, `frame[frame["a"] > 1]` */
  #picked(value: TableValue, index: Expr): TableValue {
    const columns = this.columnsOf(index);
    if (columns !== undefined) return onlyColumns(value, columns);
    if (index.type === 'slice') {
      const bound = (part: Expr | undefined): string =>
        part === undefined ? '' : stepsAfter(this.evaluate(part), undefined);
      return isAll(index)
        ? value
        : withPick(value, `[${bound(index.lower)}:${bound(index.upper)}:${bound(index.step)}]`);
    }
    const made = this.evaluate(index);
    if (made.positionsOf !== undefined) return withPick(value, made.positionsOf);
    if (made.isTable && isRowCondition(index, made, this.text(index)))
      return withPick(value, `[${stepsAfter(made, value)}]`);
    const label = index.type === 'call' ? this.text(index.callee) : this.text(index);
    return anyColumns(withPick(value, `[${label}]`, false));
  }

  #call(call: Call): TableValue {
    const { callee } = call;
    const name = callee.type === 'attribute' ? callee.name : callee.type === 'name' ? callee.id : '';
    const args = call.args.map(({ value }) => this.evaluate(value));
    this.#noteJoint(call, name, args);
    if (RESULT.test(name)) return RESULT_VALUE;
    if (name === 'train_test_split') return this.#split(call, args);
    if (callee.type === 'attribute') {
      const object = this.evaluate(callee.object);
      if (object.isTable) return this.#method(call, name, object, args);
      if (object.made !== undefined) return this.#ofObject(name, object, args);
    }
    return this.#function(call, name, args);
  }

  /** Calls whose tables have to be of the same rows. */
  #noteJoint(call: Call, name: string, args: readonly TableValue[]): void {
    if (
      !/^(fit|fit_transform|fit_resample|score|evaluate)$/.test(name) &&
      !/(_score|_error|_loss)$/.test(name)
    )
      return;
    const tables = args.filter((value, at) => value.isTable && isRowArgument(call.args[at], at));
    if (tables.length > 1) this.jointCalls.push({ call, arguments: tables });
  }

  #split(call: Call, args: readonly TableValue[]): TableValue {
    const options = call.args
      .filter(({ name }) => name !== undefined && name !== 'stratify')
      .map((argument) => `${argument.name}=${this.text(argument.value)}`)
      .sort();
    const parts = args.filter((_, at) => call.args[at]?.name === undefined);
    const [rows] = call.args;
    if (parts.length === 1 && rows?.value.type === 'call' && calleeName(rows.value) === 'range') {
      const label = `split ${options.join()}`;
      return { ...NOTHING, items: [0, 1].map((side) => ({ ...NOTHING, positionsOf: `${label} ${side}` })) };
    }
    const items = parts.flatMap((value) =>
      [0, 1].map((side) => ({ ...withPick(value, `split ${options.join()} ${side}`), isTable: true })),
    );
    return { ...NOTHING, items };
  }

  #method(call: Call, name: string, object: TableValue, args: readonly TableValue[]): TableValue {
    const text = this.text(call.callee);
    if (name === 'drop') return this.#drop(call, object);
    if (name === 'pop' || name === 'get') {
      const columns = call.args[0] === undefined ? undefined : textsOf(call.args[0].value);
      return columns === undefined ? anyColumns(object) : onlyColumns(object, columns);
    }
    if (/^(select_dtypes|filter)$/.test(name)) return anyColumns(object);
    if (NEUTRAL.test(name)) return object;
    if (name === 'groupby') return object;
    if (name === 'unique' || name === 'nunique') return plainValue(`#${name}`);
    const isByGroups = FOR_GROUPS.test(text) || this.grouped.has(rootName(call.callee) ?? '');
    if (isByGroups && name === 'transform') return withStep(object, BY_GROUP);
    if (name === 'map' && args[0] !== undefined && isLearned(args[0])) return withStep(object, BY_GROUP);
    if (STATISTIC_METHODS.has(name) && !isAcrossColumns(call)) return learnedValue(name);
    // A group that the training part lacks has no value yet: it gets the one of all rows, or a count of zero.
    if (name === 'fillna' && object.steps.at(-1)?.label === BY_GROUP && args.every(({ isTable }) => !isTable))
      return object;
    if (name === 'where' && this.#keepsMissingKeys(call)) return object;
    if (ROWS.test(name))
      return withPick(object, `${name}(${call.args.map((argument) => this.#argumentText(argument)).join()})`);
    if (/^(merge|join)$/.test(name) && args.some(isLearned)) return withStep(object, BY_GROUP, 'some');
    const named = args.filter((_, at) => call.args[at]?.name !== 'inplace');
    return combined(`.${name}`, [object, ...named]);
  }

  /** `frame["key"].map(means).fillna(…).where(frame["key"].notna())`: rows without a key have no value, as before. */
  #keepsMissingKeys({ callee, args: [condition, ...others] }: Call): boolean {
    const [, keys] = /^(.+)\.notna\(\)(?:\.all\(axis=1\))?$/.exec(this.text(condition?.value)) ?? [];
    const text = this.text(callee);
    return (
      keys !== undefined &&
      others.length === 0 &&
      (text.includes(`${keys}.map(`) || text.includes(`${keys}.join(`))
    );
  }

  /** `frame.drop(columns=[…])`, `frame.drop("a", axis=1)`, `frame.drop(rows)` */
  #drop(call: Call, object: TableValue): TableValue {
    const option = (wanted: string): Expr | undefined => call.args.find(({ name }) => name === wanted)?.value;
    const axis = option('axis') ?? call.args[1]?.value;
    const isColumns =
      option('columns') !== undefined ||
      (axis?.type === 'constant' && (axis.value === 1 || axis.value === 'columns'));
    if (!isColumns)
      return withPick(object, `drop(${call.args.map((argument) => this.#argumentText(argument)).join()})`);
    const columns = option('columns') ?? option('labels') ?? call.args[0]?.value;
    const names = columns === undefined ? undefined : this.columnsOf(columns);
    return names === undefined ? anyColumns(object) : withoutColumns(object, names);
  }

  /** A method of a transformer or a model. */
  #ofObject(name: string, object: TableValue, args: readonly TableValue[]): TableValue {
    const [rows] = args;
    if (rows === undefined || name === 'fit' || name === 'set_params' || name === 'set_output') return object;
    if (name === 'split') return sourceTable('#split');
    if (RESAMPLES.test(name)) return { ...NOTHING, items: args.map((value) => withPick(value, 'resample')) };
    if (!APPLIES.test(name)) return learnedValue(name);
    return withStep({ ...rows, isTable: true }, object.made ?? '');
  }

  #function(call: Call, name: string, args: readonly TableValue[]): TableValue {
    const text = this.text(call.callee);
    if (/^make_\w*(transformer|pipeline|union|selector)$/.test(name)) return { ...NOTHING, made: name };
    const made = name === 'clone' ? args[0]?.made : undefined;
    if (made !== undefined) return { ...NOTHING, made };
    const [first] = args.filter(({ isTable }) => isTable);
    if (first === undefined) return this.#withoutTables(call, name, args);
    if (name === 'len') return plainValue('#len');
    if (/(Transformer|Encoder|Scaler|Pipeline|Imputer|Union|PCA)$/.test(name))
      return { ...NOTHING, made: name };
    if (NEUTRAL.test(name) || name === 'list' || (name === 'where' && args.length === 1)) return first;
    if (/^(np|numpy|torch|stats)\./.test(text) && NUMPY_STATISTIC.test(name) && !isAcrossColumns(call))
      return learnedValue(name);
    if (ROWS.test(name))
      return withPick(
        first,
        `${name}(${call.args
          .slice(1)
          .map((argument) => this.#argumentText(argument))
          .join()})`,
      );
    if (name === 'merge' && args.some(isLearned)) return withStep(first, BY_GROUP, 'some');
    if (BINS.test(name) && (name === 'qcut' || isLearnedOrNumber(args[1], call))) {
      const bins = withStep(withoutClipping(first), 'bins');
      return call.args.some((argument) => argument.name === 'retbins')
        ? { ...bins, items: [bins, learnedValue('edges')] }
        : bins;
    }
    // What a helper takes statistics of may be the training part, where it was the whole table.
    const isTable = (argument: Expr): boolean =>
      args[call.args.findIndex(({ value }) => value === argument)]?.isTable === true;
    const summarized = args.length > 1 ? summarizedArguments(this.#module, call, isTable) : [];
    const isOther = call.args.some(
      ({ value }, at) => args[at]?.isTable === true && !summarized.includes(value),
    );
    const passed = isOther
      ? args.map((value, at) =>
          summarized.some((one) => one === call.args[at]?.value) ? learnedValue('part') : value,
        )
      : args;
    const joined = combined(name, passed);
    const isStacked =
      /^(concat|concatenate|vstack|row_stack)$/.test(name) &&
      !call.args.some((argument) => argument.name === 'axis');
    return isStacked ? withPick(joined, name) : joined;
  }

  /** A call without any table: where a table comes from, an object, or a number. */
  #withoutTables(call: Call, name: string, args: readonly TableValue[]): TableValue {
    const { callee } = call;
    const isPolars = /^(pl|polars)\./.test(this.text(callee));
    if (callee.type === 'attribute') {
      const object = this.evaluate(callee.object);
      const isExpression =
        isLearned(object) ||
        stepsAfter(object, undefined).includes('#') ||
        /\bcol\(/.test(this.text(callee.object));
      if (isExpression || (isPolars && STATISTIC_METHODS.has(name))) {
        if (name === 'over') return learnedValue(BY_GROUP);
        if (STATISTIC_METHODS.has(name)) return learnedValue(name);
        return plainValue(
          `${stepsAfter(object, undefined)}.${name}(${args.map((value) => stepsAfter(value, undefined)).join()})`,
        );
      }
    }
    // `StandardScaler()`: what it learns later is named by its class.
    if (name !== 'DataFrame' && name !== 'Series' && /^[A-Z]/.test(name)) return { ...NOTHING, made: name };
    if (NO_TABLE.test(name) || (isPolars && name === 'col')) return plainValue(this.text(call));
    const source = sourceTable(this.text(call));
    return { ...source, items: [0, 1, 2, 3].map((at) => sourceTable(`${this.text(call)} ${at}`)) };
  }

  #argumentText({ name, value }: Argument): string {
    return `${name ?? ''}=${stepsAfter(this.evaluate(value), undefined)}`;
  }

  text(span: { start: number; end: number } | undefined): string {
    if (span === undefined) return '';
    countText(span.end - span.start);
    return this.#module.source.slice(span.start, span.end).replaceAll(/\s+/g, '').replaceAll("'", '"');
  }
}
