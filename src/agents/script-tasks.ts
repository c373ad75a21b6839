// The analysis thread loads this module. It imports the modules that it needs one by one: the index modules also load zod,
// which would double the start time of the thread.
import { findUnsupportedNumbers } from '../ablation/find-unsupported-numbers.js';
import { planRefinement } from '../ablation/plan-refinement.js';
import { summarizeAblation } from '../ablation/summarize-ablation.js';
import { unknownModules } from '../leakage/library-models/unknown-modules.js';
import { repairLeak } from '../leakage/repair/repair-leak.js';
import { proveCorrection } from '../leakage/score-flow/prove-correction.js';
import { sliceScript } from '../leakage/slice/slice-script.js';
import { doesSomething, lostNames } from '../solution/bound-names.js';
import { correctionScope } from '../solution/correction-scope.js';
import { neutralizeMagics } from '../solution/notebook-magics.js';
import { firstSyntaxError } from '../solution/syntax-error.js';
import { takeCorrection } from '../solution/take-correction.js';
import { analyzeAndName } from './analyze-and-name.js';

/** Computations over whole scripts and outputs: for the largest of them they take seconds. */
export const TASKS = {
  /** Finds the leaks of a script. */
  analyze: analyzeAndName,
  /** The part of a script that its scores depend on. */
  slice: sliceScript,
  /** Modules that a script imports and the analysis does not know. */
  unknownModules,
  /** Rewrites a leaky block of a script. */
  repair: repairLeak,
  /** Names that a correction of a block no longer defines. */
  lostNames,
  /** Whether a block of code has a statement that does anything. */
  doesSomething,
  /** The first error of a text, by the syntax tree. */
  syntaxError: firstSyntaxError,
  /** Python instead of a notebook's commands. */
  neutralize: async (text: string) => neutralizeMagics(text),
  /** The text for a block, from a correction agent's answer. */
  takeCorrection,
  /** What a correction does besides correcting. */
  correctionScope,
  /** Whether a correction changes only where something is learned. */
  proveCorrection,
  /** Summarizes the output of an ablation study. */
  summarize: summarizeAblation,
  /** Maps a summary onto the blocks of a solution. */
  plan: planRefinement,
  /** Finds numbers of a summary that the output does not support. */
  findUnsupportedNumbers: async (input: Parameters<typeof findUnsupportedNumbers>[0]) =>
    findUnsupportedNumbers(input),
};

export type ScriptTask = keyof typeof TASKS;
export type ScriptInput = { [T in ScriptTask]: Parameters<(typeof TASKS)[T]> };
export type ScriptResults = { [T in ScriptTask]: Awaited<ReturnType<(typeof TASKS)[T]>> };

/** Each task with its own arguments. */
export type ScriptTasks = {
  readonly [T in ScriptTask]: (...input: ScriptInput[T]) => Promise<ScriptResults[T]>;
};

/** Does one of the tasks. */
export type DoScriptTask = <T extends ScriptTask>(
  task: T,
  input: ScriptInput[T],
) => Promise<ScriptResults[T]>;

export const doInPlace: DoScriptTask = (task, input) => (TASKS as ScriptTasks)[task](...input);
