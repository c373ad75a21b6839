import type { LeakKind } from '../kinds.js';
import { RANKING_METHODS, STATISTIC_METHODS } from '../library-models/methods.js';
import type { Call } from '../syntax/ast.js';
import { joinFacts, NO_FACTS } from '../values/facts.js';
import { factsOf, type Opaque, type PendingStatistic, type Value } from '../values/value.js';
import { type Arguments, flag } from './arguments.js';
import { pendingTogether } from './bounds.js';
import type { Interpreter } from './interpreter.js';
import { pendingOf } from './operators.js';
import { namesOf } from './rows-and-columns.js';

/** Functions of polars that make tables or read them, and are not column expressions. */
const TABLE_FUNCTIONS = /^polars\.(read_|scan_|from_|concat$|collect_all|Config|align_frames|Series|[A-Z])/;

/** A column expression of polars: `pl.col('a')`, `pl.median('a')`, `pl.when(…)`; computed over a frame later. */
export function polarsExpression(
  interp: Interpreter,
  path: string,
  args: Arguments,
  call: Call,
): Opaque | undefined {
  if (!/^polars\.(selectors\.)?[a-z_]+$/.test(path) || TABLE_FUNCTIONS.test(path)) return undefined;
  const name = path.split('.').at(-1) ?? '';
  const facts = args.all.map((value) => factsOf(value)).reduce(joinFacts, NO_FACTS);
  const pendingOfArguments = pendingTogether(...args.all.map((value) => pendingOf(value)));
  const names = args.positional.flatMap((value) => namesOf(value) ?? []);
  // `pl.median('a')` is `pl.col('a').median()`; `pl.sum_horizontal` goes along the row.
  const kind = names.length > 0 ? STATISTIC_METHODS.get(name) : undefined;
  const pending =
    kind === undefined ? pendingOfArguments : [...pendingOfArguments, statistic(interp, kind, call)];
  const [only] = names;
  const isOne = names.length === 1 && only !== undefined && !/[\^*]/.test(only);
  return {
    type: 'opaque',
    facts,
    pending,
    ...(isOne ? { named: only } : {}),
    ...(isOne && name === 'col' ? { takes: names } : {}),
  };
}

/** Methods whose result for a row depends on the value of this row; of rolling windows that is so unless they are closed before it. */
const OF_ROW =
  /^(alias|over|cast|rolling_(mean|sum|min|max|std|var|median|quantile)|ewm_(mean|std|var)|log|log1p|log10|exp|sqrt|abs|round|clip|fill_null|fill_nan)$/;

/** Columns of which the expression takes the value of the row itself, after one more method. */
function takesAfter({ takes = [] }: Opaque, name: string, args: Arguments): readonly string[] {
  const closed = args.keywords.get('closed');
  return OF_ROW.test(name) && closed === undefined ? takes : [];
}

function statistic(interp: Interpreter, kind: LeakKind, call: Call): PendingStatistic {
  return { kind, subject: `\`${interp.label(call)}\``, node: call };
}

/** Methods of a column expression, which is computed over a frame later. */
export function expressionMethod(
  interp: Interpreter,
  receiver: Opaque,
  name: string,
  args: Arguments,
  call: Call,
): Value {
  const facts = args.all.map((value) => factsOf(value)).reduce(joinFacts, receiver.facts);
  const before = pendingTogether(receiver.pending ?? [], ...args.all.map((value) => pendingOf(value)));
  const named = name === 'alias' ? namesOf(args.positional[0])?.[0] : receiver.named;
  const takes = takesAfter(receiver, name, args);
  const made = (pending: readonly PendingStatistic[]): Opaque => ({
    type: 'opaque',
    facts,
    pending,
    ...(takes.length === 0 ? {} : { takes }),
    ...(named === undefined ? {} : { named }),
  });
  if (name === 'over') {
    const groupedBy = args.positional.flatMap((value) => namesOf(value) ?? []);
    const pending = before.map((known) =>
      known.kind === 'statistics' ? { ...known, kind: 'group-statistics' as const, groupedBy } : known,
    );
    return made(
      countsRows(call)
        ? [...pending, { ...statistic(interp, 'group-statistics', call), groupedBy }]
        : pending,
    );
  }
  const kind = expressionKind(name, args);
  return made(kind === undefined ? before : [...before, statistic(interp, kind, call)]);
}

/** `pl.len().over('group')`: the size of the group. */
function countsRows({ callee }: Call): boolean {
  const counted = callee.type === 'attribute' ? callee.object : undefined;
  if (counted?.type !== 'call' || counted.args.length > 0) return false;
  return counted.callee.type === 'attribute' && /^(len|count)$/.test(counted.callee.name);
}

function expressionKind(name: string, args: Arguments): LeakKind | undefined {
  const [first] = args.positional;
  const isBackward = first?.type === 'constant' && typeof first.value === 'number' && first.value < 0;
  if (name === 'backward_fill' || (name === 'shift' && isBackward)) return 'future-values';
  if (name.startsWith('rolling_')) return flag(args, 'center') === true ? 'future-values' : undefined;
  if (name === 'fill_null') return fillKind(args);
  if (name === 'qcut') return 'binning';
  if (RANKING_METHODS.has(name)) return 'statistics';
  return STATISTIC_METHODS.get(name);
}

/** What `fill_null(strategy=…)` of polars takes from other rows. */
export function fillKind(args: Arguments): LeakKind | undefined {
  const strategy = args.keywords.get('strategy');
  const text = strategy?.type === 'constant' ? String(strategy.value) : '';
  if (text === 'backward') return 'future-values';
  return /^(mean|min|max)$/.test(text) ? 'statistics' : undefined;
}
