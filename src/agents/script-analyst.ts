import { type ParseResult, parsesAsPython } from '../solution/parses-as-python.js';
import type { DoScriptTask, ScriptResults, ScriptTasks } from './script-tasks.js';

/** Whoever computes these: functions in place, or a worker's thread. What is given and computed is plain data. */
export type ScriptAnalyst = ScriptTasks & {
  /** Whether a text is Python, by Python itself where it can be asked. */
  readonly parses: (text: string) => Promise<ParseResult>;
};

/**
 * An analyst whose every task is done by one function.
 * @param tenant For whom: where Python is asked, tenants take turns.
 */
export function analystBy(doTask: DoScriptTask, tenant: string): ScriptAnalyst {
  return {
    parses: (text) =>
      parsesAsPython(text, {
        tenant,
        syntaxError: (part) => doTask('syntaxError', [part]),
        neutralize: (part) => doTask('neutralize', [part]),
      }),
    doesSomething: (...input) => doTask('doesSomething', input),
    syntaxError: (...input) => doTask('syntaxError', input),
    neutralize: (...input) => doTask('neutralize', input),
    takeCorrection: (...input) => doTask('takeCorrection', input),
    analyze: (...input) => doTask('analyze', input),
    repair: (...input) => doTask('repair', input),
    lostNames: (...input) => doTask('lostNames', input),
    correctionScope: (...input) => doTask('correctionScope', input),
    summarize: (...input) => doTask('summarize', input),
    plan: (...input) => doTask('plan', input),
    findUnsupportedNumbers: (...input) => doTask('findUnsupportedNumbers', input),
  };
}

/** Computes where it is called. A process whose threads do the tasks never loads them. */
export const IN_PLACE_ANALYST: ScriptAnalyst = {
  ...analystBy(async (task, input) => (await import('./script-tasks.js')).doInPlace(task, input), ''),
  parses: (text) => parsesAsPython(text),
};

/** Texts whose analysis is kept: the script as it was, as it is, and with a correction that is being judged. */
const MAX_KEPT = 3;

/**
 * The same analyst, for one check: it analyzes a text once, however often it is asked about it. A check asks for the
 * detection, for each finding's description and before each correction.
 */
export function analyzedOnce(analyst: ScriptAnalyst): ScriptAnalyst {
  const kept = new Map<string, Promise<ScriptResults['analyze']>>();
  const analyze = (source: string) => {
    const analysis = kept.get(source) ?? analyst.analyze(source);
    // The one asked for last goes last: the first is the one that was not needed for longest.
    kept.delete(source);
    kept.set(source, analysis);
    const [oldest] = kept.keys();
    if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    return analysis;
  };
  return { ...analyst, analyze };
}
