import { doInPlace, type ScriptInput, type ScriptTask } from '../agents/script-tasks.js';
import { answering } from './thread-answer.js';

/** One task on its way to the thread. */
export interface AnalysisTask<T extends ScriptTask = ScriptTask> {
  readonly task: T;
  readonly input: ScriptInput[T];
}

/** Does tasks in the thread that has loaded this module; the grammar of Python is loaded with it. */
export default answering<AnalysisTask, unknown>(
  ({ task, input }) => doInPlace(task, input),
  () => doInPlace('syntaxError', ['']),
);
