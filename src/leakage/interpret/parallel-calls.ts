import type { Call } from '../syntax/ast.js';
import { NO_FACTS } from '../values/facts.js';
import { list, newEstimator, newSequence } from '../values/join.js';
import { type Estimator, UNKNOWN, type Value } from '../values/value.js';
import { type Arguments, argumentsOf } from './arguments.js';
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
  if (path === FUTURE) return /^(result|get)$/.test(name) ? options.get('result') : undefined;
  if (!POOL.test(path)) return undefined;
  const [fn, ...others] = args.positional;
  if (fn === undefined) return undefined;
  if (/^i?map(_unordered)?$/.test(name)) return mappedOver(interp, fn, others, call);
  if (name === 'map_async') return future(mappedOver(interp, fn, others, call));
  if (name === 'starmap') return mappedOver(interp, fn, others, call, true);
  if (name === 'submit') return future(interp.callValue(fn, argumentsOf(others), call));
  if (name !== 'apply' && name !== 'apply_async') return undefined;
  const [passed] = others;
  const result = interp.callValue(fn, argumentsOf(passed === undefined ? [] : partsOfTuple(passed)), call);
  return name === 'apply' ? result : future(result);
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
  return value.type === 'sequence' && value.cell.value.rest === undefined ? value.cell.value.items : [value];
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
