import type { Assign, Call, Expr, Stmt } from '../syntax/ast.js';
import { namesIn, rootName } from '../syntax/walk.js';
import {
  declined,
  edited,
  freshName,
  type RepairContext,
  type Rewrite,
  statementsOf,
  type TextEdit,
} from './context.js';

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
  if (made.id === root) return declined(`\`${root}\` takes the place of what it is made from`);
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
  const [outerName, innerName] = [lastWord(value), lastWord(inner.value)];
  const isPick =
    (outerName === 'next' && innerName === 'split') ||
    (outerName === 'train_test_split' && /^(arange|range)$/.test(innerName));
  return isPick ? train.id : undefined;
}

function lastWord({ callee }: Call): string {
  return callee.type === 'attribute' ? callee.name : callee.type === 'name' ? callee.id : '';
}

function indentBefore(source: string, statement: Stmt): string | undefined {
  const indent = source.slice(source.lastIndexOf('\n', statement.start - 1) + 1, statement.start);
  return /\S/.test(indent) ? undefined : indent;
}

function wholeLines(source: string, statement: Stmt): { start: number; end: number } {
  const start = source.lastIndexOf('\n', statement.start - 1) + 1;
  const end = source.indexOf('\n', statement.end - 1);
  return { start, end: end < 0 ? source.length : end + 1 };
}
