import { doInPlace, type ScriptGiven, type ScriptTask } from '../agents/script-analyst.js';

/** One task on its way to the thread. */
export interface AnalysisTask<T extends ScriptTask = ScriptTask> {
  readonly task: T;
  readonly given: ScriptGiven[T];
}

/** Does one task in the thread that has loaded this module. */
export default function doAnalysisTask<T extends ScriptTask>({ task, given }: AnalysisTask<T>) {
  return doInPlace(task, given);
}
