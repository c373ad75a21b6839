import type { Leak } from '../findings/find-leaks.js';
import type { Argument, Call, Expr, Import, Name } from '../syntax/ast.js';
import { expressionsIn, namesInExpression } from '../syntax/walk.js';
import {
  declined,
  edited,
  freshName,
  onOneLine,
  type RepairContext,
  type Rewrite,
  type TextEdit,
} from './context.js';
import { isChangedBetween } from './divisions.js';
import { heldOutOptions } from './held-out-options.js';
import { isRowValue } from './row-values.js';

/**
 * `lgb.train(params, train_set, valid_sets=[valid_set])` and its like in XGBoost and CatBoost: the training data set is
 * made once more from nine tenths of its rows, and the training stops on the last tenth.
 */
export function stopOnHeldOutDataSet(
  context: RepairContext,
  leak: Leak,
  call: Call,
  watched: Argument,
): Rewrite {
  const { source, lineEnding } = context;
  const text = ({ start, end }: Expr): string => source.slice(start, end);
  const training = trainingSet(call);
  if (training === undefined) return declined('the training data set has no name of its own');
  const made = constructorOf(leak, training.id);
  if (made === undefined) return declined(`\`${training.id}\` is not made right before the training`);
  const x = argumentAt(made, 0, /^(data|X)$/);
  const y = argumentAt(made, 1, /^(label|y)$/);
  if (x === undefined || y === undefined)
    return declined(`\`${training.id}\` is not made from features and labels`);
  if (made.args.some(({ name, star }) => star !== '' || isRowValue(name)))
    return declined(`\`${training.id}\` holds more values for each row than its features and labels`);
  const changed = [x, y]
    .flatMap(({ value }) => [...namesInExpression(value)])
    .find(({ id }) => isChangedBetween(context.module, made.end, leak.statement.start, id));
  if (changed !== undefined) return declined(`\`${changed.id}\` is changed before the training`);

  const sets = dataSetsIn(watched.value);
  const others = new Set(sets?.map(({ id }) => id).filter((id) => id !== training.id));
  if (sets === undefined || others.size !== 1)
    return declined('the watched data sets are not written out in the call');
  const heldOut = holdOut(context, leak, text(x.value), text(y.value));
  if (heldOut === undefined) return declined('the training call shares its line');
  const [fitSet, stopSet] = [freshName(source, 'fit_set'), freshName(source, 'stop_set')];
  const copy = (rows: string, labels: string, extra: string): string =>
    edited(source, made, [
      { start: x.value.start, end: x.value.end, text: rows },
      { start: y.value.start, end: y.value.end, text: labels },
      { start: made.end - 1, end: made.end - 1, text: extra },
    ]).replaceAll(/\s+/g, onOneLine);
  // LightGBM bins the rows that it stops on by the bins of the training rows.
  const bins = /(^|\.)Dataset$/.test(text(made.callee)) ? `, reference=${fitSet}` : '';
  const lines = [
    ...heldOut.lines,
    `${fitSet} = ${copy(heldOut.fitX, heldOut.fitY, '')}`,
    `${stopSet} = ${copy(heldOut.stopX, heldOut.stopY, bins)}`,
  ];
  const { start } = leak.statement;
  const edits: TextEdit[] = [
    { start, end: start, text: lines.map((line) => `${line}${lineEnding}${heldOut.indent}`).join('') },
    { start: training.start, end: training.end, text: fitSet },
    ...sets.map((set) => ({
      start: set.start,
      end: set.end,
      text: set.id === training.id ? fitSet : stopSet,
    })),
  ];
  return { text: edited(source, context.block, edits) };
}

/** Second argument of `train`, first of the `fit` of a model. */
function trainingSet(call: Call): Name | undefined {
  const isFit = call.callee.type === 'attribute' && call.callee.name === 'fit';
  const found = argumentAt(call, isFit ? 0 : 1, /^(train_set|dtrain|X|pool)$/)?.value;
  return found?.type === 'name' ? found : undefined;
}

function argumentAt(call: Call, at: number, names: RegExp): Argument | undefined {
  return (
    call.args.find(({ name }) => name !== undefined && names.test(name)) ??
    call.args.find(
      (argument, position) => position === at && argument.name === undefined && argument.star === '',
    )
  );
}

/** The call that made a data set, in the suite of the training. */
function constructorOf(leak: Leak, id: string): Call | undefined {
  const { statement } = leak;
  const last = statement.suite.statements.findLast(
    (other) =>
      other.type === 'assign' &&
      other.end <= statement.start &&
      other.targets.some((target) => target.type === 'name' && target.id === id),
  );
  const value = last?.type === 'assign' && last.targets.length === 1 ? last.value : undefined;
  if (value?.type !== 'call') return undefined;
  const { callee } = value;
  const name = callee.type === 'attribute' ? callee.name : callee.type === 'name' ? callee.id : '';
  return /^(Dataset|DMatrix|QuantileDMatrix|Pool)$/.test(name) ? value : undefined;
}

/** `valid`, `[train, valid]`, `[(train, 'train'), (valid, 'valid')]`: the data sets by name. */
function dataSetsIn(watched: Expr): Name[] | undefined {
  const names: Name[] = [];
  for (const part of expressionsIn(watched)) {
    if (part.type === 'name') names.push(part);
    else if (part.type !== 'sequence' && part.type !== 'constant') return undefined;
  }
  return names;
}

/** Lines that divide the training rows once more, and the names of the four parts. */
export interface HoldOut {
  readonly fitX: string;
  readonly stopX: string;
  readonly fitY: string;
  readonly stopY: string;
  readonly lines: readonly string[];
  /** Indentation of the statement that the lines come before. */
  readonly indent: string;
}

/** Holds a tenth of the training rows out before the training of a leak; nothing where that shares its line. */
export function holdOut(context: RepairContext, leak: Leak, x: string, y: string): HoldOut | undefined {
  const { source } = context;
  const before = leak.statement;
  const lineStart = source.lastIndexOf('\n', before.start - 1) + 1;
  const indent = source.slice(lineStart, before.start);
  if (/\S/.test(indent)) return undefined;
  const [fitX, stopX, fitY, stopY] = [
    freshName(source, 'fit_x'),
    freshName(source, 'stop_x'),
    freshName(source, 'fit_y'),
    freshName(source, 'stop_y'),
  ];
  const divide = `${fitX}, ${stopX}, ${fitY}, ${stopY} = train_test_split(${x}, ${y}, test_size=0.1, ${heldOutOptions(context, leak, [x, y])})`;
  const isImported = context.module.body.statements.some(
    (statement) =>
      statement.type === 'import' &&
      (statement as Import).bindings.some((binding) => binding.name === 'train_test_split'),
  );
  const imports = isImported ? [] : ['from sklearn.model_selection import train_test_split'];
  return { fitX, stopX, fitY, stopY, lines: [...imports, divide], indent };
}
