import { findUnsupportedNumbers, planRefinement, summarizeAblation } from '../ablation/index.js';
import { repairLeak } from '../leakage/index.js';
import {
  correctionScope,
  doesSomething,
  firstSyntaxError,
  lostNames,
  neutralizeMagics,
  type ParseResult,
  parsesAsPython,
  takeCorrection,
} from '../solution/index.js';
import { analyzeAndName } from './analysis-answer.js';

/** What is computed over whole scripts and outputs: for the largest of them it takes seconds. */
const TASKS = {
  /** Finds the leaks of a script. */
  analyze: analyzeAndName,
  /** Rewrites a leaky block of a script. */
  repair: repairLeak,
  /** Names that a correction of a block no longer defines. */
  lostNames,
  /** Whether a block of code has a statement that does anything. */
  doesSomething,
  /** The first error of a text, by the syntax tree. */
  syntaxError: firstSyntaxError,
  /** Python in the place of a notebook's commands. */
  neutralize: async (text: string) => neutralizeMagics(text),
  /** The text for a block, from a correction agent's answer. */
  takeCorrection,
  /** What a correction does besides correcting. */
  correctionScope,
  /** Summarizes the output of an ablation study. */
  summarize: summarizeAblation,
  /** Maps a summary onto the blocks of a solution. */
  plan: planRefinement,
  /** Finds numbers of a summary that the output does not support. */
  findUnsupportedNumbers: async (given: Parameters<typeof findUnsupportedNumbers>[0]) =>
    findUnsupportedNumbers(given),
};

export type ScriptTask = keyof typeof TASKS;
export type ScriptGiven = { [T in ScriptTask]: Parameters<(typeof TASKS)[T]> };
export type ScriptResults = { [T in ScriptTask]: Awaited<ReturnType<(typeof TASKS)[T]>> };

/** Each task, given its own arguments. */
type ScriptTasks = {
  readonly [T in ScriptTask]: (...given: ScriptGiven[T]) => Promise<ScriptResults[T]>;
};

/** Whoever computes these: functions in place, or a worker's thread. What is given and computed is plain data. */
export type ScriptAnalyst = ScriptTasks & {
  /** Whether a text is Python, by Python itself where it can be asked. */
  readonly parses: (text: string) => Promise<ParseResult>;
};

/** Computes where it is called. */
export const IN_PLACE_ANALYST: ScriptAnalyst = { ...TASKS, parses: (text) => parsesAsPython(text) };

/** Does one of the tasks. */
export type DoScriptTask = <T extends ScriptTask>(
  task: T,
  given: ScriptGiven[T],
) => Promise<ScriptResults[T]>;

export const doInPlace: DoScriptTask = (task, given) => (TASKS as ScriptTasks)[task](...given);

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
    doesSomething: (...given) => doTask('doesSomething', given),
    syntaxError: (...given) => doTask('syntaxError', given),
    neutralize: (...given) => doTask('neutralize', given),
    takeCorrection: (...given) => doTask('takeCorrection', given),
    analyze: (...given) => doTask('analyze', given),
    repair: (...given) => doTask('repair', given),
    lostNames: (...given) => doTask('lostNames', given),
    correctionScope: (...given) => doTask('correctionScope', given),
    summarize: (...given) => doTask('summarize', given),
    plan: (...given) => doTask('plan', given),
    findUnsupportedNumbers: (...given) => doTask('findUnsupportedNumbers', given),
  };
}

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
