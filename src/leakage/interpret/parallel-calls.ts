import type { Call } from '../syntax/ast.js';
import { NO_FACTS } from '../values/facts.js';
import { list, newEstimator, newSequence } from '../values/join.js';
import { type Estimator, UNKNOWN, type Value } from '../values/value.js';
import { type Arguments, argument, argumentsOf } from './arguments.js';
import type { Interpreter } from './interpreter.js';
import { elementsOf } from './iterate.js';

/** `delayed(f)` gives a function that makes a task of its call; the tasks are run, each once. Source: joblib, "Embarrassingly parallel for loops". */
const DELAYED = /^(joblib|dask|sklearn\.utils)(\.\w+)*\.delayed$/;
const RUNS_TASKS = /^(joblib|sklearn\.utils)(\.\w+)*\.Parallel$/;
/** Source: Python library reference, `concurrent.futures` and `multiprocessing.pool`. */
const POOL =
  /^(concurrent\.futures(\.\w+)?\.(Thread|Process)PoolExecutor|(multiprocessing|multiprocess|pathos)(\.\w+)*\.(Pool|ThreadPool|ProcessingPool|ProcessPool))$/;
const FUTURE = 'concurrent.futures.Future';

/** Functions of libraries that run others in parallel: the values are those of the calls one after the other. */
export function parallelFunction(path: string, args: Arguments): Value | undefined {
  const [first] = args.positional;
  if (DELAYED.test(path)) return first;
  // The tasks themselves, in the order in which they end.
  return path === 'concurrent.futures.as_completed' && first?.type === 'sequence' ? first : undefined;
}

/** `Parallel(n_jobs=4)(delayed(f)(x) for x in …)`: what the tasks give. */
export function runTasks({ cell }: Estimator, args: Arguments): Value | undefined {
  const [tasks] = args.positional;
  return RUNS_TASKS.test(cell.value.path) && tasks?.type === 'sequence' ? tasks : undefined;
}

/** `executor.map(f, rows)`, `pool.starmap(f, pairs)`, `executor.submit(f, row)` and `future.result()`. */
export function poolMethod(
  interp: Interpreter,
  { cell }: Estimator,
  name: string,
  args: Arguments,
  call: Call,
): Value | undefined {
  const { path, options } = cell.value;
  if (path === FUTURE) return futureMethod(interp, options.get('result') ?? UNKNOWN, name, args, call);
  if (!POOL.test(path)) return undefined;
  if (name === 'submit')
    return future(interp.callValue(args.positional[0] ?? UNKNOWN, withoutFirst(args), call));
  const fn = argument(args, 0, 'func', 'fn', 'f');
  if (fn === undefined) return undefined;
  const isAsync = name.endsWith('_async');
  let result: Value | undefined;
  if (/^(i?map(_unordered)?|map_async)$/.test(name)) {
    const iterable = args.keywords.get('iterable');
    // A number after the rows says how many of them are one task.
    const others = args.positional.slice(1);
    const lists = (iterable === undefined ? others : [iterable]).filter(({ type }) => type !== 'constant');
    result = mappedOver(interp, fn, lists, call);
  } else if (/^starmap(_async)?$/.test(name)) {
    const rows = argument(args, 1, 'iterable');
    result = rows === undefined ? undefined : mappedOver(interp, fn, [rows], call, true);
  } else if (/^apply(_async)?$/.test(name)) {
    const [tuple, keywords] = [argument(args, 1, 'args'), argument(args, 2, 'kwds')];
    const passed = passedTo(tuple, keywords);
    if (passed === undefined) interp.skip(call, 'a task whose arguments are unknown');
    result = interp.callValue(
      fn,
      passed ?? argumentsOf(tuple === undefined ? [] : partsOfTuple(tuple)),
      call,
    );
  }
  if (result === undefined || !isAsync) return result;
  const callback = args.keywords.get('callback');
  if (callback !== undefined) interp.callValue(callback, argumentsOf([result]), call);
  return future(result);
}

function futureMethod(
  interp: Interpreter,
  result: Value,
  name: string,
  args: Arguments,
  call: Call,
): Value | undefined {
  if (/^(result|get)$/.test(name)) return result;
  const [callback] = args.positional;
  if (name !== 'add_done_callback' || callback === undefined) return undefined;
  return interp.callValue(callback, argumentsOf([future(result)]), call);
}

/** `submit(f, rows, columns=[…])`: what follows the function is for it. */
function withoutFirst(args: Arguments): Arguments {
  const [, ...positional] = args.positional;
  return {
    ...args,
    positional,
    expressions: args.expressions.slice(1),
    all: args.all.filter((value) => value !== args.positional[0]),
  };
}

/** The arguments in `apply(f, (rows,), {"columns": names})`; nothing where they are not known. */
function passedTo(tuple: Value | undefined, keywords: Value | undefined): Arguments | undefined {
  const positional = tuple === undefined ? [] : elementsOfKnown(tuple);
  const named = keywords?.type === 'mapping' ? keywords.cell.value : undefined;
  const isNone = keywords === undefined || (keywords.type === 'constant' && keywords.value === null);
  if (positional === undefined || named?.rest !== undefined || (named === undefined && !isNone))
    return undefined;
  const args = argumentsOf(positional);
  const entries = named?.entries ?? new Map<string, Value>();
  return { ...args, keywords: entries, all: [...positional, ...entries.values()] };
}

function elementsOfKnown(value: Value): readonly Value[] | undefined {
  return value.type === 'sequence' && value.cell.value.rest === undefined
    ? value.cell.value.items
    : undefined;
}

function future(result: Value): Value {
  return newEstimator({
    path: FUTURE,
    role: 'object',
    options: new Map([['result', result]]),
    steps: [],
    training: undefined,
    fits: [],
    argumentFacts: NO_FACTS,
  });
}

function partsOfTuple(value: Value): readonly Value[] {
  return elementsOfKnown(value) ?? [value];
}

/** Elements beyond this number are run as one that stands for all. */
const MAX_ELEMENTS = 12;

/** What a function gives for each element, or for elements of several lists beside each other. */
export function mappedOver(
  interp: Interpreter,
  fn: Value,
  lists: readonly Value[],
  call: Call,
  spread = false,
): Value {
  const all = lists.map((each) => elementsOf(interp, each, call));
  const apply = (elements: readonly Value[]): Value =>
    interp.callValue(fn, argumentsOf(spread ? elements.flatMap(partsOfTuple) : elements), call);
  const counts = all.map(({ known }) => known?.length ?? MAX_ELEMENTS + 1);
  const count = Math.min(...counts);
  if (count <= MAX_ELEMENTS) {
    const rounds = Array.from({ length: count }, (_, at) =>
      apply(all.map(({ known, common }) => known?.[at] ?? common ?? UNKNOWN)),
    );
    return list(rounds);
  }
  const rest = apply(all.map(({ common }) => common ?? UNKNOWN));
  return newSequence({ items: [], rest, tuple: false });
}
