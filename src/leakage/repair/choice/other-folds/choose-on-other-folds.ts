import type { Leak } from '../../../findings/find-leaks.js';
import type { Expr, Stmt } from '../../../syntax/ast.js';
import {
  expressionsIn,
  namesInExpression,
  ownExpressions,
  partsOf,
  rootName,
  statementsIn,
} from '../../../syntax/walk.js';
import {
  declined,
  edited,
  freshName,
  type RepairContext,
  type Rewrite,
  type TextEdit,
  wholeLines,
} from '../../context.js';
import { isShown } from '../candidate-statements.js';
import { assignedNames, expressionsOf } from './assigned-values.js';
import { namesMadeBy, rejectOtherEffects } from './choice-slice.js';
import { freeNamesIn, freeNamesOf } from './free-names.js';
import { NotCrossFitted } from './not-cross-fitted.js';
import { type OutOfFold, outOfFoldBefore } from './out-of-fold.js';
import { Restated } from './restate.js';
import { type Site, sitesOf } from './sites.js';
import { Tail } from './tail.js';
import { unreadStatements } from './unread-choice.js';

/**
 * A threshold, weights or cut points that are chosen on out-of-fold predictions and scored on the same ones: they are chosen in
 * each fold on the predictions for the other folds, and applied to those of the fold. Nothing where the choice is made on other
 * predictions.
 */
export function chooseOnOtherFolds(context: RepairContext): Rewrite | undefined {
  const [leak] = context.leaks;
  if (leak === undefined) return undefined;
  try {
    const found = choiceOn(context, leak);
    if (found === undefined) return undefined;
    if (context.leaks.some(({ kind }) => kind !== 'selection'))
      throw new NotCrossFitted('the block holds another leak than the choice');
    return new CrossFit(context, found, leak).rewrite();
  } catch (error) {
    if (error instanceof NotCrossFitted) return declined(error.message);
    throw error;
  }
}

interface ChoiceOn {
  readonly oof: OutOfFold;
  readonly anchor: Stmt;
}

/** The statement by which the choice is made, in the suite where the predictions are put together. */
function choiceOn({ module }: RepairContext, leak: Leak): ChoiceOn | undefined {
  for (const made of [choosing(leak), ...(leak.callers ?? [])]) {
    for (const anchor of outwards(made)) {
      const oof = outOfFoldBefore(module, anchor);
      if (oof !== undefined) return { oof, anchor };
    }
  }
  return undefined;
}

/** The statement that chooses; `print(max(scores))` shows what was chosen, and the choice is where the scores are listed. */
function choosing({ statement, node }: Leak): Stmt {
  const [argument] = node.type === 'call' && statement.type === 'expression' ? node.args : [];
  if (argument?.value.type !== 'name') return statement;
  const { id } = argument.value;
  const listed = statement.suite.statements.filter(
    (one) => one.start < statement.start && one.type === 'assign' && assignedNames(one).includes(id),
  );
  return listed.at(-1) ?? statement;
}

function* outwards(statement: Stmt): Generator<Stmt> {
  let current: Stmt | undefined = statement;
  while (current !== undefined && current.type !== 'function' && current.type !== 'class') {
    yield current;
    current = current.suite.owner;
  }
}

/** What reads what is chosen by the same statements. */
interface Group {
  readonly statement: Stmt;
  readonly slice: readonly Stmt[];
  readonly sites: Site[];
}

class CrossFit {
  readonly #context: RepairContext;
  readonly #oof: OutOfFold;
  readonly #tail: Tail;
  readonly #anchor: Stmt;
  readonly #leaky: Stmt;
  readonly #scoredBy: Stmt | undefined;
  readonly #names = new Map<string, string>();

  constructor(context: RepairContext, { oof, anchor }: ChoiceOn, { statement, scoredBy }: Leak) {
    this.#context = context;
    this.#oof = oof;
    this.#anchor = anchor;
    this.#leaky = statement;
    this.#scoredBy = scoredBy;
    this.#tail = new Tail(context.module, oof);
  }

  rewrite(): Rewrite {
    const { module, source } = this.#context;
    if (!importsNumpy(module.body.statements))
      throw new NotCrossFitted('numpy is not there by the name `np`');
    const sites = sitesOf(this.#oof, this.#tail, this.#anchor, this.#leaky);
    const [first] = sites;
    if (first === undefined)
      throw new NotCrossFitted('how what is chosen is applied to the rows is not followed');
    const groups = grouped(sites);
    const choice = [...new Set(groups.flatMap(({ slice }) => slice))].toSorted((a, b) => a.start - b.start);
    const replaced = sites.map(({ expression, score }) => score?.read ?? expression);
    const unread = unreadStatements(module, choice, replaced).map((statement) => this.#lines(statement));
    this.#rejectShownScores(replaced);
    const edits = [...groups.flatMap((group) => this.#edits(group)), ...unread];
    const start = Math.min(this.#lines(first.statement).start, ...unread.map((lines) => lines.start));
    const end = groups.reduce(
      (last, { sites: all }) => Math.max(last, ...all.map(({ statement }) => statement.end)),
      0,
    );
    const block = { start, end };
    return { text: edited(source, block, edits), block };
  }

  /** Throws where the script still prints how good the choice was on the rows that it was made on. */
  #rejectShownScores(replaced: readonly Expr[]): void {
    const scores = new Set(scoreNames(this.#leaky, this.#scoredBy));
    const after = this.#tail.statements.filter(({ start }) => start > this.#anchor.start);
    const shown = after
      .flatMap((statement) => [...statementsIn(statement)])
      .filter((statement) => isPrinted(statement))
      .flatMap((statement) => [...freeNamesIn(statement)])
      .some(
        ({ name }) =>
          scores.has(name.id) && !replaced.some((part) => part.start <= name.start && name.end <= part.end),
      );
    if (shown) throw new NotCrossFitted('the score of what is chosen is shown beside it');
  }

  #lines(statement: Stmt): TextEdit {
    this.#indentOf(statement);
    return { ...wholeLines(this.#context.source, statement), text: '' };
  }

  #edits(group: Group): TextEdit[] {
    const { source, module, lineEnding } = this.#context;
    const { statement, slice, sites } = group;
    rejectOtherEffects(module, slice);
    this.#rejectChanged(group);
    for (const name of slice.flatMap(namesMadeBy)) {
      if (this.#oof.tables.has(name)) throw new NotCrossFitted(`\`${name}\` is changed after the folds`);
      if (!this.#names.has(name)) this.#names.set(name, freshName(source, `fold_${name}`, this.#taken()));
    }
    const { head, train, scored, loop } = this.#oof.rounds;
    const restated = new Restated(module, this.#oof, this.#tail, this.#names, statement);
    const indent = this.#indentOf(statement);
    const [inLoop] = loop.body.statements;
    const step = inLoop === undefined ? '    ' : this.#indentOf(inLoop).slice(this.#indentOf(loop).length);
    const made: string[] = [];
    const rounds = slice.flatMap((one) => restated.lines(one, train)).map((line) => step + line);
    const edits: TextEdit[] = [];
    const variables = new Map<string, string>();
    for (const site of sites) {
      const text = restated.applied(site.expression, scored, site.score?.turns ?? new Map());
      let variable = variables.get(text);
      if (variable === undefined) {
        variable = site.fills ?? freshName(source, 'oof_pred', this.#taken(variables.values()));
        variables.set(text, variable);
        made.push(`${variable} = ${this.#blank(site)}`);
        rounds.push(`${step}${variable}[${scored}] = ${text}`);
      }
      this.#rejectOtherUse(site);
      if (site.fills === undefined) edits.push(this.#replaced(site, variable));
      else if (site.fills !== variable) throw new NotCrossFitted('the same is applied twice');
    }
    const put = [...made, head, ...rounds].join(lineEnding + indent);
    const isFilled = sites[0]?.fills !== undefined;
    const inserted = isFilled
      ? { start: statement.start, end: statement.end, text: put }
      : { start: statement.start, end: statement.start, text: put + lineEnding + indent };
    return mergedAt(inserted, edits);
  }

  /** What is applied, or the score of the best candidate, computed from the values of all folds. */
  #replaced({ expression, score }: Site, variable: string): TextEdit {
    if (score === undefined) return { start: expression.start, end: expression.end, text: variable };
    const { read, computed, slot } = score;
    const text = edited(this.#context.source, computed, [
      { start: slot.start, end: slot.end, text: variable },
    ]);
    if (/['"]/.test(text) && this.#isInText(read))
      throw new NotCrossFitted('a score in a text would hold another text');
    return { start: read.start, end: read.end, text };
  }

  #isInText(read: Expr): boolean {
    const isAround = (part: Expr): boolean =>
      part.type === 'formatted' && part.start <= read.start && read.end <= part.end;
    return this.#tail.statements
      .flatMap((statement) => [...statementsIn(statement)])
      .some((statement) => expressionsOf(statement).some(isAround));
  }

  #taken(more: Iterable<string> = []): ReadonlySet<string> {
    return new Set([...this.#names.values(), ...more]);
  }

  /** An array for the values of all folds. */
  #blank({ kind, expression, slice }: Site): string {
    const type = kind.type === 'float' ? '' : `, dtype=${kind.type}`;
    if (kind.axes === 1) return `np.zeros(len(${this.#anyTable(expression, slice)})${type})`;
    if (kind.like === undefined) throw new NotCrossFitted('the shape of what is applied is not known');
    return `np.zeros(${kind.like}.shape${type})`;
  }

  /** A variable with one element for each row. */
  #anyTable(expression: Expr, slice: readonly Stmt[]): string {
    const names = [...freeNamesOf(expression), ...slice.flatMap((one) => [...freeNamesIn(one)])];
    const table = names.find(({ name: { id } }) => {
      const known = this.#oof.tables.get(id);
      return known?.kind.is === 'rows' && known.access !== 'second';
    });
    if (table === undefined) throw new NotCrossFitted('the number of rows is not known');
    return table.name.id;
  }

  /** Throws where the folds or the tables may be others than in the loop in which the predictions were made. */
  #rejectChanged({ statement, slice, sites }: Group): void {
    const { outer, rounds, tables } = this.#oof;
    const read = new Set(
      [...slice, ...sites.map((site) => site.statement)]
        .flatMap((one) => [...freeNamesIn(one)])
        .map(({ name }) => name.id)
        .filter((id) => tables.has(id)),
    );
    const turns = new Set([rounds.train, rounds.scored]);
    const between = this.#tail.statements.filter(
      ({ start }) => start > outer.start && start < statement.start,
    );
    for (const one of between) {
      const changed = new Set(namesMadeBy(one));
      const isReplaced = reboundNames(one);
      const other =
        [...read].find((name) => changed.has(name)) ??
        [...rounds.reads, ...turns].find((name) => isReplaced.has(name));
      if (other !== undefined) throw new NotCrossFitted(`\`${other}\` is changed after the folds`);
    }
  }

  /** A column of a frame has more that can be asked of it than an array. */
  #rejectOtherUse({ statement, expression, kind, fills, score }: Site): void {
    if (kind.isArray === true || score !== undefined) return;
    if (fills !== undefined) throw new NotCrossFitted(`whether \`${fills}\` is an array is not known`);
    const parents = [...statementsIn(statement)]
      .flatMap((inner) => ownExpressions(inner))
      .flatMap((own) => [...expressionsIn(own)])
      .filter((part) => partsOf(part).includes(expression));
    if (parents.some(({ type }) => type !== 'call'))
      throw new NotCrossFitted('whether what is applied gives an array is not known');
  }

  #indentOf(statement: Stmt): string {
    const { source } = this.#context;
    const indent = source.slice(source.lastIndexOf('\n', statement.start - 1) + 1, statement.start);
    if (/\S/.test(indent)) throw new NotCrossFitted('two statements share a line');
    return indent;
  }
}

/** Variables that hold the scores of candidates, or the best of them. */
function scoreNames(choice: Stmt, scoredBy: Stmt | undefined): string[] {
  const [branch] = choice.type === 'if' ? choice.branches : [];
  const compared = branch?.test === undefined ? [] : [...namesInExpression(branch.test)].map(({ id }) => id);
  const listed = scoredBy?.type === 'assign' && scoredBy !== choice ? assignedNames(scoredBy) : [];
  return [...compared, ...listed];
}

function isPrinted(statement: Stmt): boolean {
  return (
    isShown(statement) &&
    statement.type === 'expression' &&
    /^(print|display|log\w*)$/.test(rootName(statement.value) ?? '')
  );
}

function reboundNames(statement: Stmt): ReadonlySet<string> {
  const names = new Set<string>();
  for (const inner of statementsIn(statement)) {
    if (inner.type === 'function' || inner.type === 'class') continue;
    const targets =
      inner.type === 'assign'
        ? inner.targets
        : inner.type === 'augmented' || inner.type === 'for'
          ? [inner.target]
          : [];
    for (const target of targets.flatMap((one) => (one.type === 'sequence' ? one.items : [one])))
      if (target.type === 'name') names.add(target.id);
    if (inner.type === 'delete') for (const name of assignedNames(inner)) names.add(name);
    for (const own of ownExpressions(inner))
      for (const part of expressionsIn(own)) {
        const isInPlace = part.type === 'call' && part.args.some(({ name }) => name === 'inplace');
        if (isInPlace && part.callee.type === 'attribute' && part.callee.object.type === 'name')
          names.add(part.callee.object.id);
      }
  }
  return names;
}

function importsNumpy(statements: readonly Stmt[]): boolean {
  return statements.some(
    (statement) =>
      statement.type === 'import' &&
      statement.bindings.some(({ name, path }) => name === 'np' && path === 'numpy'),
  );
}

/** Sites with those before them that are chosen by the same statements, or by more. */
function grouped(sites: readonly Site[]): Group[] {
  const groups: Group[] = [];
  for (const site of sites) {
    const last = groups.at(-1);
    const isSame = last !== undefined && site.slice.every((one) => last.slice.includes(one));
    if (isSame && site.fills === undefined) last.sites.push(site);
    else groups.push({ statement: site.statement, slice: site.slice, sites: [site] });
  }
  return groups;
}

/** Lines that are put at an offset come before an edit that begins there. */
function mergedAt(inserted: TextEdit, edits: readonly TextEdit[]): TextEdit[] {
  const first = edits.find((edit) => edit.start === inserted.start);
  if (first === undefined) return [inserted, ...edits];
  return [{ ...first, text: inserted.text + first.text }, ...edits.filter((edit) => edit !== first)];
}
