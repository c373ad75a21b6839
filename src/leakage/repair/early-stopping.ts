import type { Argument, Call, Import, Stmt, Suite } from '../syntax/ast.js';
import { declined, edited, freshName, type RepairContext, type Rewrite } from './context.js';

/** Stops on a part held out of the training rows instead of the scored rows. */
export function stopOnHeldOutTrainingRows(context: RepairContext): Rewrite {
  const leak = context.leaks.find(({ kind }) => kind === 'early-stopping');
  const { statement } = leak ?? {};
  const call = statement?.type === 'expression' || statement?.type === 'assign' ? statement.value : undefined;
  if (leak === undefined || statement === undefined || call?.type !== 'call')
    return declined('no training call that stops early');
  const watched = call.args.find(
    (argument) => argument.value === leak.node || contains(argument, leak.node.start),
  );
  if (watched?.name === undefined) return declined('the watched rows are not a keyword argument');
  const x = call.args.find(
    (argument, at) => argument.name === 'X' || (argument.name === undefined && at === 0),
  );
  const y = call.args.find(
    (argument, at) => argument.name === 'y' || (argument.name === undefined && at === 1),
  );
  if (x === undefined || y === undefined || x.star !== '' || y.star !== '') {
    return declined('the training rows and labels are not two arguments of the call');
  }
  if (leak.split?.partition.form === 'selection')
    return declined('the rows are divided by order or by a condition, which a random part would break');
  if (watched.name === 'validation_data') {
    const text = 'validation_split=0.2';
    const { start } = argumentSpan(context, call, watched);
    return { text: edited(context.source, context.block, [{ start, end: watched.value.end, text }]) };
  }
  if (watched.name !== 'eval_set')
    return declined(`\`${watched.name}\` holds prepared data sets, which cannot be divided here`);
  const [fitX, stopX, fitY, stopY] = ['fit_x', 'stop_x', 'fit_y', 'stop_y'].map((name) =>
    freshName(context.source, name),
  );
  const lineStart = context.source.lastIndexOf('\n', statement.start - 1) + 1;
  const indent = context.source.slice(lineStart, statement.start);
  if (/\S/.test(indent)) return declined('the training call shares its line');
  const value = watched.value;
  const pair = `(${stopX}, ${stopY})`;
  const original = context.source.slice(value.start, value.end);
  const inner = original.startsWith('[')
    ? `[${pair}]`
    : original.startsWith('(')
      ? `${original.startsWith('((') ? '[' : ''}${pair}${original.startsWith('((') ? ']' : ''}`
      : undefined;
  if (inner === undefined) return declined('the watched rows are not written out in the call');
  const [xText, yText] = [x, y].map(({ value: part }) => context.source.slice(part.start, part.end));
  const divide = `${fitX}, ${stopX}, ${fitY}, ${stopY} = train_test_split(${xText}, ${yText}, test_size=0.1, random_state=0)`;
  const imported = isImported(context, 'train_test_split')
    ? ''
    : `from sklearn.model_selection import train_test_split${context.lineEnding}${indent}`;
  const text = edited(context.source, context.block, [
    {
      start: statement.start,
      end: statement.start,
      text: `${imported}${divide}${context.lineEnding}${indent}`,
    },
    { start: x.value.start, end: x.value.end, text: fitX ?? '' },
    { start: y.value.start, end: y.value.end, text: fitY ?? '' },
    { start: value.start, end: value.end, text: inner },
  ]);
  return { text };
}

function contains(argument: Argument, at: number): boolean {
  return at >= argument.value.start && at < argument.value.end;
}

/** Offset where `name=value` begins. */
function argumentSpan(context: RepairContext, call: Call, argument: Argument): { start: number } {
  const before = context.source.slice(call.start, argument.value.start);
  return { start: call.start + before.lastIndexOf(argument.name ?? '') };
}

function isImported(context: RepairContext, name: string): boolean {
  const search = (suite: Suite): boolean =>
    suite.statements.some(
      (statement: Stmt) =>
        statement.type === 'import' &&
        (statement as Import).bindings.some((binding) => binding.name === name),
    );
  return search(context.module.body);
}
