import { doInPlace, type ScriptInput, type ScriptTask } from '../agents/script-tasks.js';
import { answering, PING } from './thread-answer.js';

/** One task for the thread. */
export interface AnalysisTask<T extends ScriptTask = ScriptTask> {
  readonly task: T;
  readonly input: ScriptInput[T];
}

/** Runs tasks in the thread that loaded this module; the module also loads the grammar of Python. */
export default answering<AnalysisTask, unknown>(
  ({ task, input }) => doInPlace(task, input),
  () => doInPlace('syntaxError', ['']),
);

/** Whether a task comes last in a check that corrects a script, so that the thread has called nearly all that it ever calls. */
export const isThorough = (task: AnalysisTask | typeof PING): boolean =>
  task !== PING && task.task === 'proveCorrection';
