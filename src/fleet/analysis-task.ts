import { doInPlace, type ScriptInput, type ScriptTask } from '../agents/script-tasks.js';
import { answering } from './thread-answer.js';

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
