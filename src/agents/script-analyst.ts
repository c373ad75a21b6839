import { type ParseResult, parsesAsPython } from '../solution/parses-as-python.js';
import type { ParseOwner } from '../solution/python-parser.js';
import type { DoScriptTask, ScriptResults, ScriptTasks } from './script-tasks.js';

/** Computes these: functions in the same thread, or a worker's thread. Inputs and results are plain data. */
export type ScriptAnalyst = ScriptTasks & {
  /** Whether a text is Python; Python itself decides if it is installed. */
  readonly parses: (text: string) => Promise<ParseResult>;
};

/**
 * An analyst whose every task is done by one function.
 * @param owner For whom: Python parses the texts of several tenants fairly, and none of a job that was aborted before its turn.
 */
export function analystBy(doTask: DoScriptTask, owner: ParseOwner = {}): ScriptAnalyst {
  return {
    parses: (text) =>
      parsesAsPython(text, {
        ...owner,
        syntaxError: (part) => doTask('syntaxError', [part]),
        neutralize: (part) => doTask('neutralize', [part]),
      }),
    doesSomething: (...input) => doTask('doesSomething', input),
    syntaxError: (...input) => doTask('syntaxError', input),
    neutralize: (...input) => doTask('neutralize', input),
    takeCorrection: (...input) => doTask('takeCorrection', input),
    analyze: (...input) => doTask('analyze', input),
    slice: (...input) => doTask('slice', input),
    unknownModules: (...input) => doTask('unknownModules', input),
    repair: (...input) => doTask('repair', input),
    lostNames: (...input) => doTask('lostNames', input),
    correctionScope: (...input) => doTask('correctionScope', input),
    proveCorrection: (...input) => doTask('proveCorrection', input),
    summarize: (...input) => doTask('summarize', input),
    plan: (...input) => doTask('plan', input),
    findUnsupportedNumbers: (...input) => doTask('findUnsupportedNumbers', input),
  };
}

/** Computes where it is called. A process whose threads do the tasks never loads them. */
export const IN_PLACE_ANALYST: ScriptAnalyst = {
  ...analystBy(async (task, input) => (await import('./script-tasks.js')).doInPlace(task, input)),
  parses: (text) => parsesAsPython(text),
};

/** Texts whose analysis is cached: the original script, the current one, and one with a correction that is being checked. */
const MAX_CACHED = 3;

/**
 * The same analyst, for one check: it analyzes a text once, however often it is called with it. A check needs the
 * detection, for each finding's description and before each correction.
 */
export function analyzedOnce(analyst: ScriptAnalyst): ScriptAnalyst {
  const cache = new Map<string, Promise<ScriptResults['analyze']>>();
  const analyze = (source: string) => {
    const analysis = cache.get(source) ?? analyst.analyze(source);
    // The last used entry is moved to the end: the first is the least recently used one.
    cache.delete(source);
    cache.set(source, analysis);
    const [oldest] = cache.keys();
    if (cache.size > MAX_CACHED && oldest !== undefined) cache.delete(oldest);
    return analysis;
  };
  return { ...analyst, analyze };
}
