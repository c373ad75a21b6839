import { FIT_METHODS, STATISTIC_METHODS } from '../library-models/methods.js';
import type { Stmt } from '../syntax/ast.js';
import { expressionsIn, namesIn, ownExpressions } from '../syntax/walk.js';
import { declined, edited, type RepairContext, type Rewrite, statementsOf } from './context.js';
import { worksRowByRow } from './move/dependence.js';
import { readSplitCall, type SplitPart } from './split-parts.js';

/** `X_res, y_res = sampler.fit_resample(X, y)` moves after the split and keeps to the training part. */
export function sampleTrainingRows(context: RepairContext): Rewrite {
  const leak = context.leaks.find(({ kind }) => kind === 'over-sampling');
  const statement = leak?.statement;
  if (statement?.type !== 'assign') return declined('no over-sampling in an assignment');
  const [target] = statement.targets;
  const call = statement.value;
  if (call.type !== 'call' || target?.type !== 'sequence' || target.items.length !== 2) {
    return declined('the over-sampling does not give one table of features and one of labels');
  }
  const [features, labels] = target.items;
  const [x, y] = call.args;
  const split = statementsOf(context)
    .map(readSplitCall)
    .find((found) => found !== undefined);
  if (split === undefined) return declined('the split is not in the block in a form that can be rewritten');
  if (features?.type !== 'name' || labels?.type !== 'name' || x === undefined || y === undefined) {
    return declined('the over-sampled tables have no plain names');
  }
  const sampled = new Map([
    [features.id, context.source.slice(x.value.start, x.value.end)],
    [labels.id, context.source.slice(y.value.start, y.value.end)],
  ]);
  const partOf = (id: string) => split.parts.find(({ source }) => source.type === 'name' && source.id === id);
  const [xPart, yPart] = [partOf(features.id), partOf(labels.id)];
  if (xPart === undefined || yPart === undefined)
    return declined('the split divides something else than the over-sampled tables');
  const { suite } = split.statement;
  const later = suite.statements.slice(suite.statements.indexOf(statement) + 1);
  for (const other of later) {
    if (other === split.statement) continue;
    for (const name of namesIn(other)) {
      const renamed = sampled.has(name.id) && sampled.get(name.id) !== name.id;
      if (renamed) return declined(`\`${name.id}\` is used again beside the split`);
    }
  }
  const { source, block, lineEnding } = context;
  const steps = later.filter(
    (other) =>
      other.end <= split.statement.start &&
      [...namesIn(other)].some(({ id }) => id === features.id || id === labels.id),
  );
  if (!steps.every((step) => isOneRowAtATime(step, [features.id, labels.id])))
    return declined(`\`${features.id}\` is changed between the over-sampling and the split`);
  const splitText = edited(source, split.statement, [
    ...edits(split.statement, sampled),
    // Labels that decide the proportions of the parts are the labels that are split.
  ]);
  const callText = edited(source, call, [
    { start: x.value.start, end: x.value.end, text: xPart.train },
    { start: y.value.start, end: y.value.end, text: yPart.train },
  ]);
  const lineStart = source.lastIndexOf('\n', statement.start - 1) + 1;
  const indent = source.slice(lineStart, statement.start);
  const parts = new Map([
    [features.id, xPart],
    [labels.id, yPart],
  ]);
  const moved = [
    `${xPart.train}, ${yPart.train} = ${callText}`,
    // What all rows went through after the over-sampling, both parts go through after it.
    ...steps.flatMap((step) => [onPart(source, step, parts, 'train'), onPart(source, step, parts, 'test')]),
  ].join(`${lineEnding}${indent}`);
  const text = edited(source, block, [
    ...steps.map((step) => ({ ...wholeLines(source, step), text: '' })),
    { start: statement.start, end: statement.end, text: splitText },
    { start: split.statement.start, end: split.statement.end, text: moved },
  ]);
  return /\S/.test(indent)
    ? declined('the over-sampling shares its line')
    : { text: text.replaceAll(/\r?\n/g, lineEnding) };
}

function edits(statement: Parameters<typeof namesIn>[0], replacements: ReadonlyMap<string, string>) {
  return [...namesIn(statement)].flatMap((name) => {
    const text = replacements.get(name.id);
    return text === undefined ? [] : [{ start: name.start, end: name.end, text }];
  });
}

/** `X = np.log1p(X)`: a new value for each row, made from the row itself. */
function isOneRowAtATime(statement: Stmt, tables: readonly string[]): boolean {
  if (statement.type !== 'assign' || !worksRowByRow(statement)) return false;
  const [target, other] = statement.targets;
  if (target?.type !== 'name' || other !== undefined || !tables.includes(target.id)) return false;
  const isLearned = ownExpressions(statement)
    .flatMap((own) => [...expressionsIn(own)])
    .some(
      (part) => part.type === 'attribute' && (STATISTIC_METHODS.has(part.name) || FIT_METHODS.has(part.name)),
    );
  const read = new Set([...namesIn(statement)].map(({ id }) => id));
  // Features that are computed with the labels stay together with them.
  return !isLearned && tables.every((table) => table === target.id || !read.has(table));
}

function onPart(
  source: string,
  statement: Stmt,
  parts: ReadonlyMap<string, SplitPart>,
  side: 'train' | 'test',
): string {
  const renamed = new Map([...parts].map(([id, part]) => [id, part[side]]));
  return edited(source, statement, edits(statement, renamed));
}

function wholeLines(source: string, statement: Stmt): { start: number; end: number } {
  const start = source.lastIndexOf('\n', statement.start - 1) + 1;
  const end = source.indexOf('\n', statement.end);
  return { start, end: end < 0 ? source.length : end + 1 };
}
