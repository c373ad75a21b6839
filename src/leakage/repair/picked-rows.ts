import type { Assign, Call, Expr, For, Stmt } from '../syntax/ast.js';
import { calleeName, namesIn, rootName, statementsIn } from '../syntax/walk.js';
import {
  declined,
  edited,
  freshName,
  type RepairContext,
  type Rewrite,
  statementsOf,
  type TextEdit,
  wholeLines,
} from './context.js';
import { trainingIndex } from './folds/fold-loop.js';

/**
 * `Z = scaler.fit_transform(X)` before a loop over folds: inside the loop the scaler is fitted on the training
 * rows of the fold, and all rows are transformed with it.
 */
export function fitOnPickedRows(context: RepairContext): Rewrite {
  const [leak, ...others] = context.leaks;
  if (leak === undefined || others.length > 0) return declined('several fits would have to go into the loop');
  const { statement } = leak;
  if (statement.type !== 'assign' || statement.targets.length !== 1)
    return declined('the fit is not one assignment');
  const [target] = statement.targets;
  const call = statement.value;
  if (target?.type !== 'name' || call.type !== 'call') return declined('the fit does not give one table');
  if (call.callee.type !== 'attribute' || call.callee.name !== 'fit_transform')
    return declined('the fit does not give one table');
  const loop = statementsOf(context).find(
    (other): other is For => other.type === 'for' && other.start > statement.start,
  );
  const train = loop === undefined ? undefined : trainingIndex(loop);
  if (loop === undefined || train === undefined) return declined('no loop over folds is in the block');
  return intoLoop(context, statement, target.id, call, loop, train);
}

function intoLoop(
  context: RepairContext,
  statement: Stmt,
  made: string,
  call: Call,
  loop: For,
  train: string,
): Rewrite {
  const { source } = context;
  const text = (span: Expr): string => source.slice(span.start, span.end);
  const [rows, labels] = call.args;
  if (rows === undefined) return declined('the fit has no rows');
  // A table that is computed on the way gets a name before the loop.
  const named = rows.value.type === 'name' ? rows.value.id : undefined;
  const input = named ?? freshName(source, `${made}_rows`);
  const { suite } = statement;
  for (const other of suite.statements.slice(suite.statements.indexOf(statement) + 1)) {
    const inLoop = other === loop;
    for (const name of namesIn(other)) {
      if (name.id === made && !inLoop) return declined(`\`${made}\` is used again outside of the loop`);
    }
    const assigns =
      other.type === 'assign' && other.targets.some((part) => part.type === 'name' && part.id === input);
    if (assigns && other.start < loop.start)
      return declined(`\`${input}\` is assigned between the fit and the loop`);
  }
  for (const inner of statementsIn(loop)) {
    if (
      inner.type === 'assign' &&
      inner.targets.some((part) => part.type === 'name' && (part.id === input || part.id === made))
    ) {
      return declined(`\`${made}\` is assigned in the loop`);
    }
  }
  const [first] = loop.body.statements;
  if (first === undefined) return declined('the loop is empty');
  const lineStart = source.lastIndexOf('\n', first.start - 1) + 1;
  const indent = source.slice(lineStart, first.start);
  if (/\S/.test(indent)) return declined('the loop is on one line');
  const isFrame = (name: string): boolean => {
    if (name !== input || named !== undefined) return context.watchedFrames.has(name);
    const root = rootName(rows.value);
    return (
      root !== undefined && context.watchedFrames.has(root) && !/\.(values|to_numpy)\b/.test(text(rows.value))
    );
  };
  const pick = (name: string): string => (isFrame(name) ? `${name}.iloc[${train}]` : `${name}[${train}]`);
  const name = made === input ? freshName(source, `${made}_fold`) : made;
  const root = rootName(rows.value);
  if (root === undefined || !context.watched.has(root))
    return declined('the rows of the fit are not followed');
  const fitArguments = [pick(input)];
  if (labels !== undefined) {
    if (labels.value.type !== 'name') return declined('the labels have no name of their own');
    if (!context.watched.has(labels.value.id)) return declined('the labels of the fit are not followed');
    fitArguments.push(pick(labels.value.id));
  }
  if (call.callee.type !== 'attribute') return declined('the fit is not a method call');
  const object = call.callee.object;
  const fitted = object.type === 'name' ? object.id : freshName(source, 'fitted');
  const lines = [
    object.type === 'name'
      ? `${fitted}.fit(${fitArguments.join(', ')})`
      : `${fitted} = ${text(object)}.fit(${fitArguments.join(', ')})`,
    `${name} = ${fitted}.transform(${input})`,
  ];
  const edits: TextEdit[] = [
    named === undefined
      ? { start: statement.start, end: statement.end, text: `${input} = ${text(rows.value)}` }
      : removed(source, statement),
    {
      start: first.start,
      end: first.start,
      text: lines.map((line) => `${line}${context.lineEnding}${indent}`).join(''),
    },
  ];
  for (const used of namesIn(loop)) {
    if (used.id !== made) continue;
    const inHeader = used.end <= loop.iterable.end;
    const wanted = inHeader ? input : name;
    if (wanted !== made) edits.push({ start: used.start, end: used.end, text: wanted });
  }
  return { text: edited(source, context.block, mergedAt(edits, first.start)) };
}

/** Lines put in before a statement come before a name at its very start. */
function mergedAt(edits: readonly TextEdit[], at: number): TextEdit[] {
  const put = edits.find((edit) => edit.start === at && edit.end === at);
  const name = edits.find((edit) => edit.start === at && edit.end > at);
  if (put === undefined || name === undefined) return [...edits];
  return [...edits.filter((edit) => edit !== put && edit !== name), { ...name, text: put.text + name.text }];
}

function removed(source: string, statement: Stmt): TextEdit {
  const start = source.lastIndexOf('\n', statement.start - 1) + 1;
  const end = source.indexOf('\n', statement.end - 1);
  return { start, end: end < 0 ? source.length : end + 1, text: '' };
}

/**
 * `Z = scaler.fit_transform(X)` before `train, val = next(splitter.split(Z, y))`: after that line the scaler is fitted
 * on the training rows, and all rows are transformed with it.
 */
export function fitOnRowsPickedOnce(context: RepairContext): Rewrite {
  const { source, lineEnding } = context;
  const [leak, ...others] = context.leaks;
  if (leak === undefined || others.length > 0) return declined('several fits would have to be moved');
  const { statement } = leak;
  const made =
    statement.type === 'assign' && statement.targets.length === 1 ? statement.targets[0] : undefined;
  const call = statement.type === 'assign' ? statement.value : undefined;
  if (made?.type !== 'name' || call?.type !== 'call' || !isFitTransform(call))
    return declined('the fit does not give one table');
  const [rows, ...labels] = call.args;
  if (rows === undefined || rows.name !== undefined || labels.length > 0)
    return declined('the fit takes more than the rows');
  const statements = statementsOf(context);
  const dividing = statements.find(
    (other) => other.start > statement.start && pickedIndices(other) !== undefined,
  );
  const train = dividing === undefined ? undefined : pickedIndices(dividing);
  const next = dividing === undefined ? undefined : statements[statements.indexOf(dividing) + 1];
  if (dividing === undefined || train === undefined || next === undefined)
    return declined('no line in the block picks the rows of the two parts');

  const text = (span: Expr): string => source.slice(span.start, span.end);
  const root = rootName(rows.value);
  if (root === undefined || !context.watched.has(root))
    return declined('the rows of the fit are not followed');
  const input = rows.value.type === 'name' ? root : freshName(source, `${made.id}_rows`);
  const between = statements.filter((other) => other.start > statement.start && other.end <= dividing.start);
  for (const other of between) {
    const name = [...namesIn(other)].find(({ id }) => id === made.id || id === input);
    if (name !== undefined) return declined(`\`${name.id}\` is used between the fit and the split`);
  }
  if (made.id === root) return declined(`\`${root}\` replaces what it is made from`);
  const isFrame = context.watchedFrames.has(root) && !/\.(values|to_numpy)\b/.test(text(rows.value));
  const picked = isFrame ? `${input}.iloc[${train}]` : `${input}[${train}]`;
  const { object } = call.callee;
  const fitted = object.type === 'name' ? object.id : freshName(source, 'fitted');
  const indent = indentBefore(source, next);
  if (indent === undefined || indentBefore(source, statement) === undefined)
    return declined('the fit or the split shares its line');
  const lines = [
    object.type === 'name' ? `${fitted}.fit(${picked})` : `${fitted} = ${text(object)}.fit(${picked})`,
    `${made.id} = ${fitted}.transform(${input})`,
  ];
  const put = lines.map((line) => `${line}${lineEnding}${indent}`).join('');
  const edits: TextEdit[] = [
    rows.value.type === 'name'
      ? { ...wholeLines(source, statement), text: '' }
      : { start: statement.start, end: statement.end, text: `${input} = ${text(rows.value)}` },
    { start: next.start, end: next.start, text: put },
  ];
  for (const used of namesIn(dividing)) {
    if (used.id === made.id) edits.push({ start: used.start, end: used.end, text: input });
  }
  return { text: edited(source, context.block, edits) };
}

function isFitTransform(call: Call): call is Call & { callee: { type: 'attribute'; object: Expr } } {
  return call.callee.type === 'attribute' && call.callee.name === 'fit_transform';
}

/** `train, val = next(splitter.split(…))`, `train_test_split(np.arange(n))`: the variable of the training positions. */
function pickedIndices(statement: Stmt): string | undefined {
  if (statement.type !== 'assign') return undefined;
  const { targets, value } = statement satisfies Assign;
  const [pair] = targets;
  if (targets.length !== 1 || pair?.type !== 'sequence' || pair.items.length !== 2) return undefined;
  const [train] = pair.items;
  if (train?.type !== 'name' || value.type !== 'call') return undefined;
  const [inner] = value.args;
  if (inner?.value.type !== 'call') return undefined;
  const [outerName, innerName] = [calleeName(value), calleeName(inner.value)];
  const isPick =
    (outerName === 'next' && innerName === 'split') ||
    (outerName === 'train_test_split' && /^(arange|range)$/.test(innerName));
  return isPick ? train.id : undefined;
}

function indentBefore(source: string, statement: Stmt): string | undefined {
  const indent = source.slice(source.lastIndexOf('\n', statement.start - 1) + 1, statement.start);
  return /\S/.test(indent) ? undefined : indent;
}
