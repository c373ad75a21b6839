import type { Leak } from '../../findings/find-leaks.js';
import type { Call, Module, Stmt } from '../../syntax/ast.js';
import { parseModule } from '../../syntax/parse-module.js';
import {
  calleeName,
  expressionsIn,
  namesIn,
  namesInExpression,
  ownExpressions,
  rootName,
  statementsIn,
} from '../../syntax/walk.js';
import { sameRows } from '../../values/region.js';
import { countText } from '../../values/work.js';
import { declined, edited, freshName, type RepairContext, type Rewrite, type TextEdit } from '../context.js';
import { isChangedBetween } from '../divisions.js';
import { isOnlyLearnedByHelper, mentionsRows, summarizedArguments } from '../helper-calls.js';
import { NotSaid, Saying } from '../rows-first/computations-of-rows.js';
import { anchorOf, LEARNS } from '../rows-first/learn-on-later-split.js';
import { rowChangeBetween } from '../rows-first/row-order.js';
import { NotFollowed } from './effects.js';
import { type FoldLoop, onlyFoldLoop, onlyFoldLoopInFunction } from './fold-loop.js';
import { importOf } from './imported-from.js';
import { outerNamesIn } from './outer-names.js';
import { neededIn, type Preparation, preparationFrom } from './preparation.js';
import { isReadAfter, usedWithFoldModels } from './used-after-folds.js';

/** A fit on all rows, of what is not just another name of each value. */
const LEARNS_FROM_ALL =
  /(?:Scaler|Transformer|Imputer|Vectorizer|PCA|SVD|NMF|KMeans|SelectKBest|SelectPercentile)\([^()]*\)\.fit_transform\(/;

const CLONED = /^(sklearn|imblearn|category_encoders|feature_engine|lightgbm|xgboost)\b/;

/**
 * What is learned from all rows before a loop over folds is learned again in each fold, from its training rows: the lines
 * from the fit up to the loop are made once more at the beginning of the fold, under names of its own. The lines before
 * the loop stay as they are, for all that does not belong to a fold.
 */
export async function prepareInEachFold(context: RepairContext): Promise<Rewrite> {
  const anchor = anchorOf(context);
  if (anchor === undefined) return declined('no leak in this block');
  if (context.leaks.some(({ kind }) => !LEARNS.has(kind) || kind === 'training-rows'))
    return declined('the block holds a leak that cannot be moved');
  const statements = anchor.suite.statements.slice(anchor.suite.statements.indexOf(anchor));
  const loop = onlyFoldLoop(statements) ?? onlyFoldLoopInFunction(statements);
  if (loop === undefined || loop.outer === anchor) return declined('no loop over folds comes after the fit');
  // The whole loop is changed, also where the block ends in it.
  const block = { start: context.block.start, end: Math.max(context.block.end, loop.outer.end) };
  try {
    const leaks = leaksOnTheWay(context, loop, statements);
    return {
      text: await preparedInFold({ ...context, block, leaks }, anchor, loop, statements),
      block,
      leaks,
    };
  } catch (error) {
    if (error instanceof NotFollowed || error instanceof NotSaid) return declined(error.message);
    throw error;
  }
}

async function preparedInFold(
  plain: RepairContext,
  anchor: Stmt,
  loop: FoldLoop,
  statements: readonly Stmt[],
): Promise<string> {
  const { source, module } = plain;
  const before = statements.slice(0, statements.indexOf(loop.outer));
  const alike = computedAlike(plain, before);
  const context = { ...plain, leaks: [...plain.leaks, ...alike] };
  const preparation = neededIn(
    context,
    loop.statement,
    preparationFrom(
      context,
      before,
      alike.map(({ statement }) => statement),
    ),
  );
  checkRows(context, anchor, loop);
  checkOtherNames(context, preparation, loop);
  checkFunctions(module, preparation.names, loop);
  checkFunctionAround(module, preparation, loop);
  checkLabels(context, preparation, loop);
  const conflict = usedWithFoldModels(context, loop, preparation.names);
  if (conflict !== undefined) throw new NotFollowed(conflict);
  const madeAgain = new Map<string, string>();
  for (const name of preparation.fitted) {
    if (CLONED.test(importOf(context, name) ?? '')) continue;
    const constructed = ownConstructor(context, name, anchor);
    if (constructed === undefined)
      throw new NotFollowed(`whether \`${name}\` can be made again for each fold is not known`);
    madeAgain.set(name, constructed);
  }

  const taken = new Set<string>();
  const fresh = (wanted: string): string => {
    const name = freshName(source, wanted, taken);
    taken.add(name);
    return name;
  };
  const own = new Map([...preparation.names].map((name) => [name, fresh(`fold_${name}`)]));
  const unchanged: string[] = [];
  const lines: string[] = [];
  for (const [name, how] of preparation.starts) {
    const whole = fresh(`${name}_before`);
    unchanged.push(`${whole} = ${name}${how === 'copy' ? '.copy()' : ''}`);
    lines.push(`${own.get(name)} = ${whole}${how === 'copy' ? '.copy()' : ''}`);
  }
  const isImported = /^from sklearn\.base import .*\bclone\b(?! as)/m.test(source);
  if (preparation.fitted.size > madeAgain.size && !isImported)
    unchanged.unshift('from sklearn.base import clone');
  for (const name of preparation.fitted)
    lines.push(`${own.get(name)} = ${madeAgain.get(name) ?? `clone(${name})`}`);
  lines.push(...(await replayed(context, anchor, loop, preparation, own)));
  return context.work.run(() => putIn(context, anchor, loop, own, unchanged, lines));
}

/** The leaks of the block, and those of later lines that the folds make again as well. */
function leaksOnTheWay(context: RepairContext, loop: FoldLoop, statements: readonly Stmt[]): readonly Leak[] {
  const before = statements.slice(0, statements.indexOf(loop.outer));
  const { statements: made } = neededIn(context, loop.statement, preparationFrom(context, before));
  const isMade = ({ statement }: Leak): boolean =>
    made.some(({ start, end }) => start <= statement.start && statement.end <= end);
  const later = context.elsewhere.filter(isMade);
  if (later.some(({ kind }) => !LEARNS.has(kind) || kind === 'training-rows'))
    throw new NotFollowed('the lines up to the folds hold a leak that cannot be moved');
  return [...context.leaks, ...later];
}

/**
 * `X_test = add_means(test, train, y)` beside `X = add_means(train, train, y)`: what is learned from the same rows for another
 * table, which the models of the folds get as well.
 */
function computedAlike(
  { module, source, leaks, watchedEarlier }: RepairContext,
  before: readonly Stmt[],
): Leak[] {
  const holdsRows = mentionsRows(watchedEarlier);
  const learnedFrom = (call: Call): string =>
    summarizedArguments(module, call, holdsRows)
      .map(({ start, end }) => source.slice(start, end))
      .join();
  return leaks.flatMap((leak) => {
    const { node } = leak;
    const text = node.type === 'call' ? learnedFrom(node) : '';
    if (node.type !== 'call' || text === '') return [];
    return before.flatMap((statement) => {
      const call = statement.type === 'assign' ? statement.value : undefined;
      const isAlike =
        call?.type === 'call' &&
        call !== node &&
        calleeName(call) === calleeName(node) &&
        learnedFrom(call) === text;
      return isAlike ? [{ ...leak, statement, node: call, nodes: [call] }] : [];
    });
  });
}

/** The block with the lines `before` the anchor and the `lines` at the beginning of the fold. */
function putIn(
  { source, block, lineEnding }: RepairContext,
  anchor: Stmt,
  loop: FoldLoop,
  own: ReadonlyMap<string, string>,
  before: readonly string[],
  lines: readonly string[],
): string {
  const [first] = loop.statement.body.statements;
  const [indent, inner] = [indentBefore(source, anchor), first && indentBefore(source, first)];
  if (first === undefined || indent === undefined || inner === undefined)
    throw new NotFollowed('the fit or the loop shares its line');
  const put = (at: number, texts: readonly string[], depth: string): TextEdit => ({
    start: at,
    end: at,
    text: texts.map((line) => `${line}${lineEnding}${depth}`).join(''),
  });
  const edits = [put(anchor.start, before, indent), put(first.start, lines, inner)];
  for (const statement of loop.statement.body.statements) edits.push(...renamed(statement, own));
  return edited(source, block, joinedAt(edits, first.start));
}

/** The statements once more, learned from the training rows of the fold, in its own names. */
async function replayed(
  context: RepairContext,
  anchor: Stmt,
  loop: FoldLoop,
  preparation: Preparation,
  own: ReadonlyMap<string, string>,
): Promise<string[]> {
  const { source } = context;
  const [leak] = context.leaks;
  const indent = indentBefore(source, anchor);
  if (leak === undefined || indent === undefined) throw new NotFollowed('the fit shares its line');
  const saying = new Saying(context, leak, anchor, {
    ofFrame: `.iloc[${loop.train}]`,
    ofArray: `[${loop.train}]`,
    divided: context.watched.get(loop.table) ?? context.watchedEarlier.get(loop.table) ?? [],
  });
  const edits = saying.withLines(saying.edits());
  const lines: string[] = [];
  for (const statement of preparation.statements) {
    const text = edited(source, statement, edits);
    for (const line of text.split(/\r?\n/)) {
      lines.push(line.startsWith(indent) ? line.slice(indent.length) : line);
    }
    // The first line comes after its indentation.
    lines[lines.length - text.split(/\r?\n/).length] = text.split(/\r?\n/)[0] ?? '';
  }
  // Lines that an earlier correction left for what is outside of the folds would be made in them as well.
  const again = lines.find((line) => LEARNS_FROM_ALL.test(line));
  if (again !== undefined) throw new NotFollowed('a line of the preparation would still learn from all rows');
  const text = lines.join('\n');
  const module = await parseModule(text);
  if (!module.parsed) throw new NotFollowed('the lines cannot be said once more');
  return context.work.run(() => {
    const names = module.body.statements.flatMap((statement) => renamed(statement, own));
    return edited(text, { start: 0, end: text.length }, names).split('\n');
  });
}

function renamed(statement: Stmt, own: ReadonlyMap<string, string>): TextEdit[] {
  return outerNamesIn(statement).flatMap(({ id, start, end }) => {
    const text = own.get(id);
    return text === undefined ? [] : [{ start, end, text }];
  });
}

/** Positions of the fold have to mean the same rows in what is fitted. */
function checkRows(
  { module, watched, watchedEarlier, leaks }: RepairContext,
  anchor: Stmt,
  loop: FoldLoop,
): void {
  const isHelper = leaks.every(({ node }) =>
    isOnlyLearnedByHelper(module, node, mentionsRows(watchedEarlier)),
  );
  const from = isHelper ? anchor.end : anchor.start;
  const checkOrder = (start: number): void => {
    const change = rowChangeBetween(module, start, loop.statement.start, (name) => watched.has(name));
    if (change !== undefined) throw new NotFollowed('rows change between the fit and the loop over folds');
  };
  checkOrder(from);
  const divided = watched.get(loop.table) ?? watchedEarlier.get(loop.table) ?? [];
  const rows = leaks
    .flatMap(({ node, statement }) => {
      const names = [...namesInExpression(node)];
      // `frame.groupby("a")["b"].transform(lambda values: …)`: the table is outside of the lambda that computes.
      const isKnown = names.some(({ id }) => watchedEarlier.has(id));
      return isKnown ? names : ownExpressions(statement).flatMap((own) => [...namesInExpression(own)]);
    })
    .flatMap(({ id }) => {
      const table = watchedEarlier.get(id);
      return table === undefined ? [] : [table];
    });
  if (divided.length > 0 && rows.some((table) => sameRows(table, divided))) return;
  // Of `concat([train, test])` the folds divide the rows of the first table: their positions are the same in both.
  const joined = leaks.every(({ joinedBy }) => joinedBy !== undefined) ? leaks[0]?.joinedBy : undefined;
  const areFirst = rows.some(
    ([first, ...others]) => first !== undefined && others.length > 0 && sameRows([first], divided),
  );
  if (joined === undefined || !areFirst)
    throw new NotFollowed(`\`${loop.table}\` is not known to hold the rows of the fit`);
  checkOrder(joined.end);
}

/** What the fold reads beside its own variables has to be what it was, and its own may not be changed by it. */
function checkOtherNames({ module, source }: RepairContext, preparation: Preparation, loop: FoldLoop): void {
  const { names, statements } = preparation;
  if (/\.(labels_|row_labels_|embedding_)\b/.test(source.slice(loop.statement.start, loop.statement.end)))
    throw new NotFollowed('the folds read what the fit says of its own rows');
  for (const statement of loop.statement.body.statements.flatMap((part) => [...statementsIn(part)])) {
    if (/^(function|class|global)$/.test(statement.type))
      throw new NotFollowed('a function is defined in the folds');
  }
  for (const statement of [...statements, loop.statement]) {
    for (const { id } of statement === loop.statement ? [] : outerNamesIn(statement)) {
      if (!names.has(id) && isChangedBetween(module, statement.end, loop.statement.end, id))
        throw new NotFollowed(`\`${id}\` is changed between the fit and the folds`);
    }
    for (const inner of statementsIn(statement)) {
      for (const own of ownExpressions(inner)) {
        for (const part of expressionsIn(own)) {
          if (part.type === 'lambda' && part.params.some(({ name }) => names.has(name)))
            throw new NotFollowed('a lambda hides a variable of the preparation');
        }
      }
    }
  }
  const { start, end } = loop.statement.body.statements[0] ?? loop.statement;
  const first = Math.min(start, end);
  for (const name of names) {
    if (isChangedBetween(module, first, loop.statement.end, name))
      throw new NotFollowed(`\`${name}\` is changed in the folds`);
    countText(source.length);
    if (new RegExp(`["'][^"'\\n]*@${name}\\b`).test(source))
      throw new NotFollowed(`\`${name}\` is read in a query`);
  }
  for (const outer of statements[0]?.suite.statements ?? []) {
    if (outer.type !== 'delete' || outer.start > loop.statement.end) continue;
    for (const target of outer.targets) {
      const name = rootName(target);
      const isNeeded =
        preparation.fitted.has(name ?? '') ||
        (!names.has(name ?? '') &&
          statements.some((statement) => [...namesIn(statement)].some(({ id }) => id === name)));
      if (isNeeded) throw new NotFollowed(`\`${name}\` is deleted before the folds`);
    }
  }
}

/** Labels that are taken from a table which the fit has replaced are in its units, and so is what the folds predict. */
function checkLabels({ leaks }: RepairContext, { statements }: Preparation, loop: FoldLoop): void {
  const replaced = new Set(
    leaks.flatMap(({ statement }) =>
      statement.type === 'assign'
        ? statement.targets.flatMap((target) => (target.type === 'name' ? [target.id] : []))
        : [],
    ),
  );
  for (const statement of statements) {
    if (statement.type !== 'assign' || !replaced.has(rootName(statement.value) ?? '')) continue;
    const [target] = statement.targets;
    const isColumn = [...expressionsIn(statement.value)].some(
      (part) =>
        (part.type === 'subscript' && part.indices[0]?.type === 'constant') ||
        (part.type === 'attribute' && part.name === 'pop'),
    );
    if (!isColumn || target?.type !== 'name') continue;
    if (isReadAfter(loop.statement, target.id))
      throw new NotFollowed(`\`${target.id}\` is read again after the folds`);
  }
}

/** A function that reads a variable of the preparation from outside would read that of all rows. */
function checkFunctions(module: Module, names: ReadonlySet<string>, { within }: FoldLoop): void {
  for (const outer of module.body.statements) {
    for (const statement of statementsIn(outer)) {
      if (statement.type !== 'function' || statement === within) continue;
      const known = new Set(statement.params.map(({ name }) => name));
      for (const inner of statement.body.statements.flatMap((part) => [...statementsIn(part)])) {
        if (inner.type === 'assign')
          for (const target of inner.targets)
            for (const name of target.type === 'name' ? [target] : [...namesInExpression(target)])
              known.add(name.id);
        if (inner.type === 'for') for (const { id } of namesInExpression(inner.target)) known.add(id);
      }
      const read = [...namesIn(statement)].find(({ id }) => names.has(id) && !known.has(id));
      if (read !== undefined)
        throw new NotFollowed(`\`${statement.name}\` reads \`${read.id}\` from outside`);
    }
  }
}

/**
 * The function that the folds are in makes the preparation again when it is called: everything has to be as it was then, and the
 * function may read the tables in the folds alone.
 */
function checkFunctionAround(
  module: Module,
  { statements, names }: Preparation,
  { within, statement: loop }: FoldLoop,
): void {
  if (within === undefined) return;
  const read = new Set(statements.flatMap((one) => outerNamesIn(one).map(({ id }) => id)));
  const last = module.body.statements.at(-1)?.end ?? within.end;
  for (const id of [...names, ...read]) {
    if (isChangedBetween(module, within.end, last, id))
      throw new NotFollowed(`\`${id}\` is changed between the fit and the folds`);
  }
  const own = new Set(within.params.map(({ name }) => name));
  for (const inner of within.body.statements.flatMap((one) => [...statementsIn(one)])) {
    if (/^(function|class|global)$/.test(inner.type))
      throw new NotFollowed('the function around the folds defines another one');
    const targets = inner.type === 'assign' ? inner.targets : inner.type === 'for' ? [inner.target] : [];
    for (const target of targets) for (const { id } of namesInExpression(target)) own.add(id);
  }
  const hidden = [...names, ...read].find((id) => own.has(id));
  if (hidden !== undefined) throw new NotFollowed(`\`${hidden}\` is another variable in \`${within.name}\``);
  for (const { id, start, end } of namesIn(within)) {
    const isOutside = start < loop.start || end > loop.end;
    if (names.has(id) && isOutside && !isNumberOfRows(module.source, start, end))
      throw new NotFollowed(`\`${within.name}\` reads \`${id}\` outside of the folds`);
  }
}

/** `len(X)`, `X.shape[0]`: the preparation leaves the number of rows as it is. */
function isNumberOfRows(source: string, start: number, end: number): boolean {
  const [before, after] = [source.slice(Math.max(0, start - 10), start), source.slice(end, end + 20)];
  return (/\blen\(\s*$/.test(before) && /^\s*\)/.test(after)) || /^\s*\.shape\[0\]/.test(after);
}

/** The call that makes an object of a class of the script, if it is the only one and gives the same in the folds. */
function ownConstructor({ module, source }: RepairContext, name: string, anchor: Stmt): string | undefined {
  const made = anchor.suite.statements.filter(
    (statement) =>
      statement.type === 'assign' &&
      statement.targets.some((target) => target.type === 'name' && target.id === name),
  );
  const [only, ...others] = made;
  if (only?.type !== 'assign' || others.length > 0 || only.end > anchor.start) return undefined;
  const { value } = only;
  if (value.type !== 'call' || value.callee.type !== 'name') return undefined;
  const { id } = value.callee;
  const isOwn = module.body.statements.some((outer) => outer.type === 'class' && outer.name === id);
  const text = source.slice(value.start, value.end);
  const changes = [...namesInExpression(value)].some((part) =>
    isChangedBetween(module, only.end, anchor.suite.statements.at(-1)?.end ?? only.end, part.id),
  );
  return isOwn && !changes && !text.includes('\n') ? text : undefined;
}

function indentBefore(source: string, { start }: Stmt): string | undefined {
  const indent = source.slice(source.lastIndexOf('\n', start - 1) + 1, start);
  return /\S/.test(indent) ? undefined : indent;
}

/** Lines put in before a statement come before a name at its very start. */
function joinedAt(edits: readonly TextEdit[], at: number): TextEdit[] {
  const put = edits.find((edit) => edit.start === at && edit.end === at);
  const name = edits.find((edit) => edit.start === at && edit.end > at);
  if (put === undefined || name === undefined) return [...edits];
  return [...edits.filter((edit) => edit !== put && edit !== name), { ...name, text: put.text + name.text }];
}
