import { namesIn } from '../syntax/walk.js';
import { declined, edited, type RepairContext, type Rewrite, statementsOf } from './context.js';
import { readSplitCall } from './split-parts.js';

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
  const moved = `${xPart.train}, ${yPart.train} = ${callText}`;
  const text = edited(source, block, [
    { start: statement.start, end: statement.end, text: splitText },
    { start: split.statement.start, end: split.statement.end, text: moved },
  ]);
  // Lines between the two stay where they are; they do not read what moved.
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
