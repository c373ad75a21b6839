import type { Argument, Call } from '../syntax/ast.js';
import { declined, edited, type RepairContext, type Rewrite } from './context.js';
import { isInOrder } from './held-out-options.js';
import { holdOut, stopOnHeldOutDataSet } from './prepared-data-sets.js';
import { isRowValue } from './row-values.js';

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
  if (leak.split?.partition.form === 'selection' && !isInOrder(leak))
    return declined('the rows are divided by a condition, which a random part would break');
  const takesOne =
    call.args.filter(({ name }) => name === undefined || name === 'X' || name === 'y').length === 1;
  if (/^(valid_sets|evals)$/.test(watched.name) || (watched.name === 'eval_set' && takesOne))
    return stopOnHeldOutDataSet(context, leak, call, watched);
  const x = call.args.find(
    (argument, at) => argument.name === 'X' || (argument.name === undefined && at === 0),
  );
  const y = call.args.find(
    (argument, at) => argument.name === 'y' || (argument.name === undefined && at === 1),
  );
  if (x === undefined || y === undefined || x.star !== '' || y.star !== '') {
    return declined('the training rows and labels are not two arguments of the call');
  }
  const positional = call.args.filter(({ name }) => name === undefined);
  if (positional.length > 2 || call.args.some(({ name, star }) => star !== '' || isRowValue(name)))
    return declined('the training call takes more values for each row than features and labels');
  if (watched.name === 'validation_data') {
    const text = 'validation_split=0.2';
    const { start } = argumentSpan(context, call, watched);
    return { text: edited(context.source, context.block, [{ start, end: watched.value.end, text }]) };
  }
  if (watched.name !== 'eval_set')
    return declined(`\`${watched.name}\` holds prepared data sets, which cannot be divided here`);
  const [xText, yText] = [x, y].map(({ value: part }) => context.source.slice(part.start, part.end));
  const heldOut = holdOut(context, leak, xText ?? '', yText ?? '');
  if (heldOut === undefined) return declined('the training call shares its line');
  const value = watched.value;
  const pair = `(${heldOut.stopX}, ${heldOut.stopY})`;
  const original = context.source.slice(value.start, value.end);
  const inner = original.startsWith('[')
    ? `[${pair}]`
    : original.startsWith('(')
      ? `${original.startsWith('((') ? '[' : ''}${pair}${original.startsWith('((') ? ']' : ''}`
      : undefined;
  if (inner === undefined) return declined('the watched rows are not written out in the call');
  const text = edited(context.source, context.block, [
    {
      start: statement.start,
      end: statement.start,
      text: heldOut.lines.map((line) => `${line}${context.lineEnding}${heldOut.indent}`).join(''),
    },
    { start: x.value.start, end: x.value.end, text: heldOut.fitX },
    { start: y.value.start, end: y.value.end, text: heldOut.fitY },
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
