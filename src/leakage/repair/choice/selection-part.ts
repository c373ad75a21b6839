import type { Leak } from '../../findings/find-leaks.js';
import type { Call, Expr, Name, Stmt, Suite } from '../../syntax/ast.js';
import {
  calleeName,
  expressionsIn,
  functionAround,
  namesIn,
  ownExpressions,
  partsOf,
  rootName,
  statementsIn,
} from '../../syntax/walk.js';
import { overlapOf } from '../../values/region.js';
import { freshName, onOneLine, type RepairContext } from '../context.js';
import { isChangedBetween } from '../divisions.js';
import { lastAssigned } from '../rows-first/table-kind.js';
import { readSplitCall, type SplitPart } from '../split-parts.js';
import { affectedNames } from './candidate-statements.js';

/** Thrown where a choice cannot be made on a part of the training rows; the message says why. */
export class NotChosen extends Error {}

const PREDICTS = /^(predict|predict_proba|decision_function|predict_log_proba|score)$/;

/** What the models of a script are trained on, and what divides it once more. */
export class SelectionPart {
  readonly #context: RepairContext;
  readonly #leak: Leak;
  /** Where the lines are put in. */
  readonly #before: Stmt;
  readonly fitX: string;
  readonly chooseX: string;
  readonly fitY: string;
  readonly chooseY: string;
  /** Expressions over the scored rows by their texts, each with what replaces it. */
  readonly #parts: readonly SplitPart[];
  readonly #split: { statement: Stmt; call: Call };
  readonly #trained: { x: Expr; y: Expr };
  readonly #affected: ReadonlySet<string>;
  /** Further tables of the training rows that are divided as well, each with its part. */
  readonly #others = new Map<string, string>();
  #usesClone = false;

  constructor(
    context: RepairContext,
    leak: Leak,
    before: Stmt,
    /** Where fits may be: in the script through here. */
    end: number,
  ) {
    this.#context = context;
    this.#leak = leak;
    this.#before = before;

    const { source, module } = context;
    // Networks are not estimators to clone; neighbors that were made up are in both parts of a division.
    if (/\b(keras|tensorflow|torch|lgb\.train|xgb\.train|fit_resample)\b/.test(source))
      throw new NotChosen('which rows the choice is to be made on is a decision about the experiment');
    const split = splitBefore(context, before);
    if (split === undefined) throw new NotChosen('no division of the rows before the choice is known');
    this.#parts = split.parts;
    this.#split = split;
    this.#affected = affectedNames(
      [...this.#statementsBefore()],
      split.parts.map(({ test }) => test),
    );
    this.#trained = trainingTables(context, split.statement.end, end, (expression) =>
      this.isScored(expression),
    );
    const changed = [...namesOf(this.#trained.x), ...namesOf(this.#trained.y)].find((name) =>
      isChangedBetween(module, this.#trained.x.end, before.start, name),
    );
    if (changed !== undefined) throw new NotChosen(`\`${changed}\` is changed before the choice`);
    this.fitX = freshName(source, 'fit_x');
    this.chooseX = freshName(source, 'choose_x');
    this.fitY = freshName(source, 'fit_y');
    this.chooseY = freshName(source, 'choose_y');
  }

  /** The lines that make the part, to be before what needs it. */
  lines(): string[] {
    const { call } = this.#split;
    const { x, y } = this.#trained;
    const option = (name: string): Expr | undefined =>
      call.args.find((argument) => argument.name === name)?.value;
    const seed = option('random_state');
    const stratify = option('stratify');
    const isStratified = stratify !== undefined && !(stratify.type === 'constant' && stratify.value === null);
    const callee = this.#text(call.callee);
    const options = [
      'test_size=0.2',
      `random_state=${seed?.type === 'constant' || seed?.type === 'name' ? this.#text(seed) : '0'}`,
      ...(isStratified ? [`stratify=${this.#text(y)}`] : []),
    ];
    const further = [...this.#others].map(([, part]) => `${part.replace('choose_', 'fit_')}, ${part}`);
    const names = [this.fitX, this.chooseX, this.fitY, this.chooseY, ...further].join(', ');
    const tables = [this.#text(x), this.#text(y), ...this.#others.keys()].join(', ');
    const isImported = this.#context.module.body.statements.some(
      (part) => part.type === 'import' && part.bindings.some(({ name }) => name === 'clone'),
    );
    return [
      ...(this.#usesClone && !isImported ? ['from sklearn.base import clone'] : []),
      `${names} = ${callee}(${tables}, ${options.join(', ')})`,
    ];
  }

  /** What replaces an expression over the rows of either part; nothing where it is not known. */
  replacementFor(expression: Expr): string | undefined {
    const text = this.#text(expression);
    if (text === this.#text(this.#trained.x)) return this.fitX;
    if (text === this.#text(this.#trained.y)) return this.fitY;
    const other = this.#onTraining(expression);
    if (other === this.#text(this.#trained.x)) return this.chooseX;
    if (other === this.#text(this.#trained.y)) return this.chooseY;
    // Labels in the scale of the score, where the models are trained on another one.
    if (other === undefined || expression.type !== 'name') return undefined;
    let part = this.#others.get(other);
    if (part === undefined) {
      part = freshName(this.#context.source, `choose_${other}`, new Set(this.#others.values()));
      this.#others.set(other, part);
    }
    return part;
  }

  /** The features that a model trained on the training features predicts for. */
  featuresOf(call: Call): string | undefined {
    if (call.callee.type !== 'attribute' || !PREDICTS.test(call.callee.name)) return undefined;
    const [features] = call.args;
    if (features === undefined || features.star !== '' || features.name !== undefined) return undefined;
    return this.isScored(features.value) ? this.chooseX : undefined;
  }

  /** `[m.predict(X_val) for m in models]`, `clf.predict_proba(X_val)[:, 1]`: the same by models that did not see the part. */
  predictions(expression: Expr, depth = 0, bound: ReadonlySet<string> = boundIn(expression)): string {
    if (depth > 6) throw new NotChosen('how the predictions are made is not known');
    const edits: { start: number; end: number; text: string }[] = [];
    const visit = (part: Expr): void => {
      const replacement = part.type === 'call' ? this.featuresOf(part) : undefined;
      if (part.type === 'call' && part.callee.type === 'attribute' && replacement !== undefined) {
        const [features] = part.args;
        edits.push({
          start: part.callee.object.start,
          end: part.callee.object.end,
          text: this.#cloned(part.callee.object, bound),
        });
        if (features !== undefined)
          edits.push({ start: features.value.start, end: features.value.end, text: replacement });
        return;
      }
      if (part.type === 'name' && this.isScored(part)) {
        edits.push({ start: part.start, end: part.end, text: this.ofName(part.id, depth + 1) });
        return;
      }
      if (this.isScored(part) && part.type === 'subscript' && this.#onTraining(part) !== undefined)
        throw new NotChosen('how the predictions are made is not known');
      for (const inner of partsOf(part)) visit(inner);
    };
    visit(expression);
    if (edits.length === 0) throw new NotChosen('how the predictions are made is not known');
    let text = '';
    let at = expression.start;
    for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
      text += this.#context.source.slice(at, edit.start) + edit.text;
      at = edit.end;
    }
    return (text + this.#context.source.slice(at, expression.end)).replaceAll(/\s+/g, onOneLine);
  }

  /** Predictions in a variable, made again from the only line that makes them. */
  ofName(name: string, depth = 0): string {
    if (depth > 6) throw new NotChosen('how the predictions are made is not known');
    const made = this.#assignmentsOf(name);
    const values = made.filter((value) => !isEmptyList(value));
    const appended = this.#appendedTo(name);
    const [value, ...others] = values;
    if (value === undefined && appended !== undefined) return appended;
    if (value === undefined || others.length > 0) throw new NotChosen(`\`${name}\` is not made in one line`);
    const readsItself = [...expressionsIn(value)].some((part) => part.type === 'name' && part.id === name);
    if (appended === undefined) return readsItself ? this.#fail(name) : this.predictions(value, depth);
    // `preds = np.column_stack(preds)` of what was appended in a loop.
    if (!readsItself) return this.#fail(name);
    return this.#replaced(value, name, appended);
  }

  #fail(name: string): never {
    throw new NotChosen(`\`${name}\` is not made in one line`);
  }

  #replaced(value: Expr, name: string, text: string): string {
    let result = '';
    let at = value.start;
    for (const part of expressionsIn(value)) {
      if (part.type !== 'name' || part.id !== name) continue;
      result += this.#context.source.slice(at, part.start) + text;
      at = part.end;
    }
    return result + this.#context.source.slice(at, value.end);
  }

  /** `for model in models: model.fit(X, y); name.append(model.predict(X_val))`, as one list. */
  #appendedTo(name: string): string | undefined {
    const found: { loop: Stmt; call: Call }[] = [];
    for (const statement of this.#statementsBefore()) {
      if (statement.type !== 'expression' || statement.value.type !== 'call') continue;
      const { callee } = statement.value;
      const isAppend =
        callee.type === 'attribute' &&
        callee.name === 'append' &&
        callee.object.type === 'name' &&
        callee.object.id === name;
      const loop = statement.suite.owner;
      if (isAppend && loop !== undefined) found.push({ loop, call: statement.value });
    }
    const [only, ...others] = found;
    if (only === undefined) return undefined;
    const { loop, call } = only;
    const value = call.args[0]?.value;
    if (others.length > 0 || loop.type !== 'for' || value === undefined) return this.#fail(name);
    const turns = new Set(namesOf(loop.target));
    return `[${this.predictions(value, 1, turns)} for ${this.#text(loop.target)} in ${this.#text(loop.iterable)}]`;
  }

  #cloned(model: Expr, bound: ReadonlySet<string>): string {
    const fit = `.fit(${this.fitX}, ${this.fitY})`;
    // `RandomForestClassifier().fit(X_train, y_train)` is trained on the other rows where it is.
    const isFit = model.type === 'call' && model.callee.type === 'attribute' && model.callee.name === 'fit';
    if (isFit && model.callee.type === 'attribute') {
      if (rejectsClone(model.callee.object)) return `${this.#text(model.callee.object)}${fit}`;
      this.#usesClone = true;
      return `clone(${this.#text(model.callee.object)})${fit}`;
    }
    if (model.type !== 'name') throw new NotChosen('the model that made the predictions has no name');
    const { module } = this.#context;
    const isAgain = !bound.has(model.id) && isChangedBetween(module, model.end, this.#before.start, model.id);
    if (isAgain) return `${this.#constructorOf(model)}${fit}`;
    const made = lastAssigned(module, model.id, functionAround(this.#before)?.start ?? 0, model.start);
    if (made?.type === 'call' && rejectsClone(made))
      return `${this.#text(made.callee)}(**${model.id}.get_params())${fit}`;
    this.#usesClone = true;
    return `clone(${model.id})${fit}`;
  }

  /** The model that a variable held where it predicted, where it holds another one now. */
  #constructorOf(model: Name): string {
    let made: Expr | undefined;
    let suite: Suite | undefined;
    for (const statement of this.#statementsBefore()) {
      if (statement.type !== 'assign' || statement.end > model.start) continue;
      const [target, other] = statement.targets;
      if (other !== undefined || target?.type !== 'name' || target.id !== model.id) continue;
      made = statement.value;
      suite = statement.suite;
    }
    const isFit = made?.type === 'call' && made.callee.type === 'attribute' && made.callee.name === 'fit';
    const constructed =
      isFit && made?.type === 'call' && made.callee.type === 'attribute' ? made.callee.object : made;
    if (
      constructed?.type !== 'call' ||
      suite !== this.#before.suite ||
      /["']{3}|#/.test(this.#text(constructed))
    )
      throw new NotChosen(`\`${model.id}\` is another model now`);
    return this.#text(constructed).replaceAll(/\s+/g, onOneLine);
  }

  /** The expression with the training part instead of the scored one. */
  #onTraining(expression: Expr): string | undefined {
    const root = rootName(expression);
    const pair = this.#parts.find(({ test }) => test === root);
    return pair === undefined ? undefined : `${pair.train}${this.#text(expression).slice(root?.length ?? 0)}`;
  }

  /** Whether an expression holds something of the rows that are scored. */
  isScored(expression: Expr): boolean {
    const root = rootName(expression);
    if (root === undefined) return false;
    if (this.#affected.has(root)) return true;
    const rows = this.#context.watchedEarlier.get(root);
    return rows !== undefined && overlapOf(rows, this.#leak.rows) === 'yes';
  }

  #assignmentsOf(name: string): Expr[] {
    const values: Expr[] = [];
    for (const statement of this.#statementsBefore()) {
      if (statement.type === 'augmented' && rootName(statement.target) === name) this.#fail(name);
      if (statement.type !== 'assign') continue;
      for (const target of statement.targets) {
        if (target.type === 'name' && target.id === name) values.push(statement.value);
        else if (target.type === 'sequence') {
          const at = target.items.findIndex((item) => item.type === 'name' && item.id === name);
          const value = statement.value.type === 'sequence' ? statement.value.items[at] : undefined;
          // One of several values that an expression gives has no text of its own.
          if (at >= 0 && value === undefined) this.#fail(name);
          if (at >= 0 && value !== undefined) values.push(value);
        } else if (rootName(target) === name) this.#fail(name);
      }
    }
    return values;
  }

  *#statementsBefore(): Generator<Stmt> {
    for (const outer of this.#before.suite.statements) {
      if (outer.start >= this.#before.start || outer.start <= this.#split.statement.start) continue;
      yield* statementsIn(outer);
    }
  }

  #text({ start, end }: { start: number; end: number }): string {
    return this.#context.source.slice(start, end);
  }
}

/** Variables of a comprehension, which stand for another model each time. */
function boundIn(expression: Expr): ReadonlySet<string> {
  const bound = new Set<string>();
  for (const part of expressionsIn(expression)) {
    if (part.type !== 'comprehension') continue;
    for (const { target } of part.clauses) for (const name of namesOf(target)) bound.add(name);
  }
  return bound;
}

function isEmptyList(value: Expr): boolean {
  return value.type === 'sequence' && value.items.length === 0;
}

function namesOf(expression: Expr): string[] {
  return [...expressionsIn(expression)].flatMap((part) => (part.type === 'name' ? [part.id] : []));
}

/** The `train_test_split` before a statement, in its suite. */
function splitBefore(
  context: RepairContext,
  before: Stmt,
): { statement: Stmt; call: Call; parts: readonly SplitPart[] } | undefined {
  const found = before.suite.statements
    .filter((statement) => statement.end <= before.start)
    .flatMap((statement) => {
      const split = readSplitCall(statement);
      return split === undefined ? [] : [{ statement, split }];
    });
  const [only, ...others] = found;
  if (only === undefined || others.length > 0) return undefined;
  const { statement, split } = only;
  const call = statement.type === 'assign' ? statement.value : undefined;
  if (call?.type !== 'call' || /random_split/.test(context.source.slice(call.callee.start, call.callee.end)))
    return undefined;
  const isOrdered = call.args.some(({ name }) => name === 'shuffle');
  return isOrdered ? undefined : { statement, call, parts: split.parts };
}

/** Features and labels that every model between the split and the end of the choice is trained on. */
function trainingTables(
  context: RepairContext,
  from: number,
  to: number,
  isScored: (expression: Expr) => boolean,
): { x: Expr; y: Expr } {
  const { source, module } = context;
  let found: { x: Expr; y: Expr } | undefined;
  for (const outer of module.body.statements) {
    for (const statement of statementsIn(outer)) {
      if (statement.start < from || statement.start > to) continue;
      for (const own of ownExpressions(statement)) {
        for (const part of expressionsIn(own)) {
          if (part.type !== 'call' || part.callee.type !== 'attribute' || part.callee.name !== 'fit')
            continue;
          const [x, y, ...others] = part.args;
          if (x === undefined || y === undefined || isScored(x.value)) continue;
          if (others.length > 0 || [x, y].some(({ name, star }) => name !== undefined || star !== ''))
            throw new NotChosen('a model is trained with more than features and labels');
          const text = (span: Expr): string => source.slice(span.start, span.end).replaceAll(/\s+/g, '');
          if (found !== undefined && (text(found.x) !== text(x.value) || text(found.y) !== text(y.value)))
            throw new NotChosen('the models are trained on different tables');
          found ??= { x: x.value, y: y.value };
        }
      }
    }
  }
  if (found === undefined) throw new NotChosen('what the models are trained on is not known');
  return found;
}

/** Whether any of these variables occurs after an offset. */
export function isReadAfter(statements: readonly Stmt[], after: number, names: ReadonlySet<string>): boolean {
  for (const statement of statements) {
    for (const { id, start } of namesIn(statement)) if (start >= after && names.has(id)) return true;
  }
  return false;
}

/** CatBoost copies its lists of columns, and `clone` asks for the same ones (https://github.com/catboost/catboost/issues/3078). */
function rejectsClone(made: Expr): boolean {
  return (
    made.type === 'call' &&
    /^CatBoost\w*$/.test(calleeName(made)) &&
    made.args.some(({ name }) => name?.endsWith('_features') === true)
  );
}
