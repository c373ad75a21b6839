import { loadBundle } from './load-bundle.js';

/** The export of a thread's module that runs its tasks, and one that tells after which task its code is worth keeping. */
interface ThreadModule<Task> {
  default(task: Task): Promise<unknown>;
  isThorough(task: Task): boolean;
}

/**
 * Loads a thread's module from its bundle. A thread is ended without an event, and functions are compiled when they are first
 * called: its code is kept after a task that needs most of them.
 * @returns the function that runs a task
 */
export function startThread<Task>(bundle: URL, root: URL): (task: Task) => Promise<unknown> {
  const { exports, keepCode } = loadBundle(bundle, { root, name: 'thread' });
  const { default: run, isThorough } = exports as unknown as ThreadModule<Task>;
  let keep = keepCode;
  if (keep === undefined) return run;
  return async (task) => {
    const answer = await run(task);
    if (isThorough(task)) {
      keep?.();
      keep = undefined;
    }
    return answer;
  };
}
