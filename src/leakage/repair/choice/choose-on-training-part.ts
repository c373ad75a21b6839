import type { Leak } from '../../findings/find-leaks.js';
import type { Call, Expr, For, If, Name, Stmt } from '../../syntax/ast.js';
import {
  expressionsIn,
  namesIn,
  namesInExpression,
  ownExpressions,
  partsOf,
  rootName,
  statementsIn,
  suitesOf,
} from '../../syntax/walk.js';
import {
  declined,
  edited,
  freshName,
  type RepairContext,
  type Rewrite,
  statementsOf,
  type TextEdit,
} from '../context.js';
import { helpersOf } from '../helper-calls.js';
import { givesCandidateFirst, isByPosition, isPositionOrKey } from './by-position.js';
import {
  assignedNames,
  bestKeyOf,
  changedNames,
  copyOf,
  isShown,
  isSkip,
  itemsOf,
  modelOf,
} from './candidate-statements.js';
import { isReadBeforeAssigned } from './read-later.js';
import { isReadAfter, NotChosen, SelectionPart } from './selection-part.js';

/**
 * A threshold, a weight, a parameter or the best of several models, chosen on the scored rows: the candidates are
 * compared on a fifth of the training rows by models that did not see it, and only what was chosen is scored on the
 * validation rows.
 */
export function chooseOnTrainingPart(context: RepairContext): Rewrite {
  const [leak, ...others] = context.leaks;
  const statements = statementsOf(context);
  const [first] = statements;
  if (leak === undefined || first === undefined || others.length > 0)
    return declined('the block holds another leak than the choice');
  try {
    return { text: new Choice(context, leak, statements, first).rewritten() };
  } catch (error) {
    if (error instanceof NotChosen) return declined(error.message);
    throw error;
  }
}

/** What is said once more after the block, for the candidate that was chosen. */
interface Restated {
  readonly lines: readonly string[];
  /** Lines for the branch that stores the best. */
  readonly inBranch: readonly string[];
}

class Choice {
  readonly #context: RepairContext;
  readonly #leak: Leak;
  readonly #statements: readonly Stmt[];
  readonly #first: Stmt;
  readonly #part: SelectionPart;
  readonly #predictions = new Map<string, string>();
  readonly #functions = new Map<string, { readonly name: string; readonly text: string }>();
  readonly #copied: Stmt[] = [];
  readonly #later: readonly Stmt[];

  constructor(context: RepairContext, leak: Leak, statements: readonly Stmt[], first: Stmt) {
    this.#context = context;
    this.#leak = leak;
    this.#statements = statements;
    this.#first = first;

    this.#part = new SelectionPart(context, leak, first, context.block.end);
    this.#later = first.suite.statements;
  }

  rewritten(): string {
    const { source, block, lineEnding } = this.#context;
    const indent = this.#indentOf(this.#first);
    const edits = this.#statements.flatMap((statement) => this.#substituted(statement));
    if (edits.length === 0) throw new NotChosen('no scored rows are in the block');
    const restated = this.#restated();
    const made = [...this.#predictions].map(([name, variable]) => `${variable} = ${this.#part.ofName(name)}`);
    const functions = [...this.#functions.values()].flatMap(({ text }) => [
      '',
      '',
      ...text.split(/\r?\n/),
      '',
      '',
    ]);
    const before = [...this.#part.lines(), ...made, ...functions];
    if (functions.length > 0 && indent !== '') throw new NotChosen('the choice is in a function of its own');
    const put = before.map((line) => `${line}${lineEnding}${indent}`).join('');
    const effects = restated.inBranch.length === 0 ? [] : [this.#inBestBranch(restated.inBranch)];
    const text = edited(source, block, mergedAt(this.#first.start, put, [...edits, ...effects]));
    return text + restated.lines.map((line) => `${lineEnding}${indent}${line}`).join('');
  }

  /** Everything over the rows of either part, said of the parts of the training rows. */
  #substituted(statement: Stmt): TextEdit[] {
    const edits: TextEdit[] = [];
    const visit = (part: Expr, around: Call | undefined): void => {
      if (part.type === 'name' && this.#isParameter(part)) return;
      const replacement = part.type === 'constant' ? undefined : this.#part.replacementFor(part);
      if (replacement !== undefined) {
        // A model that gets the features predicts for them, and must not have seen these rows.
        if (replacement === this.#part.chooseX) this.#needsOwnFit(modelOf(around));
        edits.push({ start: part.start, end: part.end, text: replacement });
        return;
      }
      const features = part.type === 'call' ? this.#part.featuresOf(part) : undefined;
      if (part.type === 'call' && features !== undefined) {
        const [argument] = part.args;
        this.#needsOwnFit(modelOf(part));
        if (argument !== undefined)
          edits.push({ start: argument.value.start, end: argument.value.end, text: features });
        for (const other of part.args.slice(1)) visit(other.value, part);
        return;
      }
      if (part.type === 'name' && this.#part.isScored(part) && !this.#isMadeHere(part.id)) {
        edits.push({ start: part.start, end: part.end, text: this.#takenFor(part) });
        return;
      }
      for (const inner of partsOf(part)) visit(inner, part.type === 'call' ? part : around);
    };
    for (const inner of statementsIn(statement)) {
      if ((inner.type === 'function' && inner !== statement) || inner.type === 'class')
        throw new NotChosen('the block defines a function');
      for (const own of ownExpressions(inner)) visit(own, undefined);
    }
    return edits;
  }

  /** A model that predicts in the block has to be trained there, on the rows that are left. */
  #needsOwnFit(model: Expr | undefined): void {
    if (model === undefined) throw new NotChosen('which model predicts in the block is not known');
    const text = this.#text(model);
    const isFitted = this.#expressions().some(
      (part) =>
        part.type === 'call' &&
        part.callee.type === 'attribute' &&
        part.callee.name === 'fit' &&
        (this.#text(part.callee.object) === text || part === model),
    );
    const isAssigned = this.#all().some(
      (inner) =>
        inner.type === 'assign' &&
        inner.targets.some((target) => this.#text(target) === text) &&
        /\.fit\s*\(/.test(this.#text(inner.value)),
    );
    if (!isFitted && !isAssigned)
      throw new NotChosen('a model that is trained before the block predicts in it');
  }

  /** A parameter of a function that is written once more: another variable, whatever its name. */
  #isParameter({ id, start, end }: Name): boolean {
    return this.#copied.some(
      (copied) =>
        copied.type === 'function' &&
        copied.start <= start &&
        end <= copied.end &&
        copied.params.some((parameter) => parameter.name === id),
    );
  }

  #isMadeHere(name: string): boolean {
    return this.#all().some(
      (inner) =>
        (inner.type === 'assign' &&
          inner.targets
            .flatMap((target) => (target.type === 'sequence' ? target.items : [target]))
            .some((target) => target.type === 'name' && target.id === name)) ||
        (inner.type === 'for' && [...namesInExpression(inner.target)].some(({ id }) => id === name)),
    );
  }

  /** What replaces a variable or a function that holds something of the scored rows. */
  #takenFor({ id }: Name): string {
    const defined = this.#later.filter((statement) => statement.type === 'function' && statement.name === id);
    const [only, ...others] = defined;
    if (only === undefined) return this.#predictionsFor(id);
    const known = this.#functions.get(id);
    if (known !== undefined) return known.name;
    if (others.length > 0 || only.start > this.#first.start)
      throw new NotChosen(`\`${id}\` is not defined once before the choice`);
    const name = freshName(this.#context.source, `choose_${id}`);
    this.#copied.push(only);
    this.#functions.set(id, { name, text: '' });
    const head = this.#text(only).indexOf(id);
    const edits = [
      ...this.#substituted(only),
      { start: only.start + head, end: only.start + head + id.length, text: name },
    ];
    this.#functions.set(id, { name, text: edited(this.#context.source, only, edits) });
    return name;
  }

  #predictionsFor(name: string): string {
    let variable = this.#predictions.get(name);
    if (variable === undefined) {
      variable = freshName(this.#context.source, `choose_${name}`);
      this.#predictions.set(name, variable);
    }
    return variable;
  }

  /** The chosen candidate on the validation rows, where its score or its model is read later. */
  #restated(): Restated {
    if (this.#leak.kind === 'stacking') return { lines: [], inBranch: [] };
    this.#rejectOtherBest();
    const loop = this.#statements.find((statement): statement is For => statement.type === 'for');
    if (loop === undefined) return this.#copied.length > 0 ? this.#afterSearch() : this.#withoutLoop();
    const choice = this.#leak.statement;
    if (choice.type === 'if' && this.#statements.length === 1) return this.#afterBranch(loop, choice);
    if (choice.type === 'assign' && isByPosition(choice.value)) return this.#afterPosition(choice);
    return this.#afterLookUp(loop, choice);
  }

  /** Collected scores are those of the training part now, except for the chosen candidate: no best of them is read later. */
  #rejectOtherBest(): void {
    const rest = this.#context.source.slice(this.#context.block.end);
    const collected = this.#all().flatMap((inner) => {
      if (inner.type === 'assign')
        return inner.targets.flatMap((target) => (target.type === 'subscript' ? [rootName(target)] : []));
      const call = inner.type === 'expression' && inner.value.type === 'call' ? inner.value : undefined;
      const isPut = call?.callee.type === 'attribute' && /^(append|update|extend)$/.test(call.callee.name);
      return isPut ? [rootName(call.callee)] : [];
    });
    for (const name of collected) {
      const best = new RegExp(
        `\\b(?=\\w*?(?:max|min|mean|median|sorted))\\w+\\(\\s*((list|np\\.array)\\(\\s*)?${name}\\b|(?<![\\w.])${name}(\\.values\\(|\\[-1\\]|\\[0\\])`,
      );
      if (name !== undefined && best.test(rest))
        throw new NotChosen('the scores of the candidates are read again after the choice');
    }
  }

  /** `best = grid[np.argmax(scores)]`: only the candidate itself may be read later, not its score. */
  #withoutLoop(): Restated {
    const choice = this.#leak.statement;
    const isPosition = this.#expressions().some(isPositionOrKey) || this.#isChosenByHelper(choice);
    if (!isPosition || choice !== this.#statements.at(-1))
      throw new NotChosen('the score of what is chosen is kept beside it');
    const made = new Set(this.#statements.filter((one) => one !== choice).flatMap(assignedNames));
    if (isReadAfter(this.#context.module.body.statements, this.#context.block.end, made))
      throw new NotChosen('the scores of the candidates are read again after the choice');
    return { lines: [], inBranch: [] };
  }

  /** `best_k = ks[np.argmax(scores)]` after a loop that collects the scores: the script makes the chosen candidate itself. */
  #afterPosition(choice: Stmt): Restated {
    if (choice !== this.#statements.at(-1))
      throw new NotChosen('how the best candidate is looked up is not known');
    const made = new Set(this.#statements.filter((one) => one !== choice).flatMap(changedNames));
    if (isReadBeforeAssigned(choice, made))
      throw new NotChosen('the candidates or their scores are read again after the choice');
    return { lines: [], inBranch: [] };
  }

  /** `threshold, _ = best_threshold(y, p)`: a helper that gives the best candidate first, and whose score is not read. */
  #isChosenByHelper(choice: Stmt): boolean {
    const { node } = this.#leak;
    if (choice.type !== 'assign' || choice.value !== node || node.type !== 'call') return false;
    const [helper, ...others] = helpersOf(this.#context.module, node);
    if (helper === undefined || others.length > 0 || !givesCandidateFirst(helper)) return false;
    const readsScored = [...namesIn(helper)].some((name) => {
      const isOwn =
        helper.params.some((parameter) => parameter.name === name.id) ||
        assignedNames(helper).includes(name.id);
      return !isOwn && this.#part.isScored(name);
    });
    const [target, ...more] = choice.targets;
    const [first, ...rest] = target?.type === 'sequence' ? target.items : [target];
    const scores = new Set(rest.flatMap((item) => (item?.type === 'name' ? [item.id] : [])));
    return (
      !readsScored &&
      first?.type === 'name' &&
      more.length === 0 &&
      rest.every((item) => item?.type === 'name') &&
      !isReadAfter(this.#context.module.body.statements, choice.end, scores)
    );
  }

  /** `minimize(objective, …)`, `study.optimize(objective)`: what is found may be read later, not how good it was. */
  #afterSearch(): Restated {
    const rest = this.#context.source.slice(this.#context.block.end);
    if (
      this.#statements.length > 1 ||
      /\.(fun|best_value|best_values|best_score_?|trials_dataframe)\b/.test(rest)
    )
      throw new NotChosen('the score of what is chosen is kept beside it');
    return { lines: [], inBranch: [] };
  }

  /** `if score > best: best, best_t = score, t` in the loop. */
  #afterBranch(outer: For, choice: If): Restated {
    const loops = [outer];
    let loop = outer;
    while (choice.suite !== loop.body) {
      const [inner, ...others] = loop.body.statements;
      if (inner?.type !== 'for' || others.length > 0) throw new NotChosen('the choice is deeper in the loop');
      loop = inner;
      loops.push(inner);
    }
    const [branch, ...branches] = choice.branches;
    if (branch === undefined || branches.length > 0) throw new NotChosen('the choice has another branch');
    const body = loop.body.statements;
    const at = body.indexOf(choice);
    if (body.slice(at + 1).some((statement) => !isShown(statement)))
      throw new NotChosen('the loop continues after the choice');
    const steps = body.slice(0, at).filter((statement) => !isShown(statement) && !isSkip(statement));
    const effects = branch.body.statements.filter((statement) => !isShown(statement));
    if (
      [...steps, ...effects].some((statement) => suitesOf(statement).length > 0 || statement.type === 'jump')
    )
      throw new NotChosen('a candidate is computed in several branches');
    const turns = loops.flatMap(({ target }) => [...namesInExpression(target)].map(({ id }) => id));
    const used = turns.filter((id) =>
      [...steps, ...effects].some((one) => [...namesIn(one)].some((name) => name.id === id)),
    );
    const inBranch: string[] = [];
    const lines: string[] = [];
    for (const id of used) {
      const copy = effects.map((statement) => copyOf(statement, id)).find((name) => name !== undefined);
      const name = copy ?? freshName(this.#context.source, `best_${id}`, new Set(inBranch));
      if (copy === undefined) inBranch.push(`${name} = ${id}`);
      lines.push(`${id} = ${name}`);
    }
    for (const statement of [...steps, ...effects]) lines.push(this.#oneLine(statement));
    return { lines, inBranch };
  }

  /** `best = max(scores, key=scores.get)` after a loop that fills `scores`. */
  #afterLookUp(loop: For, choice: Stmt): Restated {
    const [target] = choice.type === 'assign' ? choice.targets : [];
    const value = choice.type === 'assign' ? choice.value : undefined;
    const scores = value?.type === 'call' ? bestKeyOf(value) : undefined;
    if (target?.type !== 'name' || scores === undefined || choice !== this.#statements.at(-1))
      throw new NotChosen('how the best candidate is looked up is not known');
    const made = new Set(this.#statements.filter((one) => one !== choice).flatMap(changedNames));
    // The script makes the chosen candidate itself.
    if (!isReadBeforeAssigned(choice, made)) return { lines: [], inBranch: [] };
    // One of them is on the validation rows now.
    if (this.#isReadBesides(scores, target.id))
      throw new NotChosen('the scores of the candidates are read again after the choice');
    const steps = loop.body.statements.filter((statement) => !isShown(statement) && !isSkip(statement));
    if (steps.some((statement) => suitesOf(statement).length > 0 || statement.type === 'jump'))
      throw new NotChosen('a candidate is computed in several branches');
    const stores = steps.flatMap((statement) =>
      statement.type === 'assign'
        ? statement.targets.filter((one) => one.type === 'subscript' && rootName(one) === scores)
        : [],
    );
    const [store, ...others] = stores;
    const key = store?.type === 'subscript' ? store.indices[0] : undefined;
    if (key?.type !== 'name' || others.length > 0)
      throw new NotChosen('how the best candidate is looked up is not known');
    const turns = [...namesInExpression(loop.target)].map(({ id }) => id);
    if (!turns.includes(key.id)) throw new NotChosen('how the best candidate is looked up is not known');
    const lines = [`${key.id} = ${target.id}`];
    const rest = turns.filter(
      (id) => id !== key.id && steps.some((one) => [...namesIn(one)].some((name) => name.id === id)),
    );
    const [model, ...more] = rest;
    if (more.length > 0) throw new NotChosen('how the best candidate is looked up is not known');
    if (model !== undefined) {
      const table = itemsOf(loop.iterable);
      if (table === undefined) throw new NotChosen('how the best candidate is looked up is not known');
      lines.push(`${model} = ${table}[${target.id}]`);
    }
    for (const statement of steps) lines.push(this.#oneLine(statement));
    return { lines, inBranch: [] };
  }

  /** Whether a table is read after the block in another way than by one key. */
  #isReadBesides(table: string, key: string): boolean {
    const rest = this.#context.source.slice(this.#context.block.end);
    return new RegExp(`(?<![\\w.])${table}\\b(?!\\[${key}\\])`).test(rest);
  }

  /** An edit that adds lines at the end of the branch that stores the best candidate. */
  #inBestBranch(lines: readonly string[]): TextEdit {
    const choice = this.#leak.statement;
    const last = choice.type === 'if' ? choice.branches[0]?.body.statements.at(-1) : undefined;
    if (last === undefined) throw new NotChosen('the choice has no branch');
    const indent = this.#indentOf(last);
    const { lineEnding } = this.#context;
    return {
      start: last.end,
      end: last.end,
      text: lines.map((line) => `${lineEnding}${indent}${line}`).join(''),
    };
  }

  #oneLine(statement: Stmt): string {
    const text = this.#text(statement);
    if (/['"]{3}/.test(text)) throw new NotChosen('a candidate holds a text over several lines');
    const own = this.#indentOf(statement);
    const outer = this.#indentOf(this.#first);
    // Lines of one statement move together.
    return text
      .split(/\r?\n/)
      .map((line, at) => (at > 0 && line.startsWith(own) ? outer + line.slice(own.length) : line))
      .join(this.#context.lineEnding);
  }

  #indentOf(statement: Stmt): string {
    const { source } = this.#context;
    const indent = source.slice(source.lastIndexOf('\n', statement.start - 1) + 1, statement.start);
    if (/\S/.test(indent)) throw new NotChosen('two statements share a line');
    return indent;
  }

  /** Statements of the block, and of functions that are said once more for it. */
  #all(): Stmt[] {
    return [...this.#statements, ...this.#copied].flatMap((statement) => [...statementsIn(statement)]);
  }

  #expressions(): Expr[] {
    return this.#all()
      .flatMap((inner) => ownExpressions(inner))
      .flatMap((own) => [...expressionsIn(own)]);
  }

  #text({ start, end }: { start: number; end: number }): string {
    return this.#context.source.slice(start, end);
  }
}

/** Lines inserted at an offset come before an edit that begins there. */
function mergedAt(start: number, put: string, edits: readonly TextEdit[]): TextEdit[] {
  const first = edits.find((edit) => edit.start === start);
  if (first === undefined) return [{ start, end: start, text: put }, ...edits];
  return [{ ...first, text: put + first.text }, ...edits.filter((edit) => edit !== first)];
}
