import { fromWire, toWire, type WireError } from './isolation/wire-error.js';

/** Asks a thread whether it is there; it answers when it is ready for its first task. */
export const PING = 'ping';

/** What a thread gives back: errors lose their class on the way, so they travel as plain data. */
export type ThreadAnswer<Result> = { readonly result: Result } | { readonly error: WireError };

/**
 * The default export of a thread's module: does tasks, and says when it is ready.
 * @param typed gives what was thrown its type, since that is lost on the way
 */
export function answering<Task, Result>(
  doTask: (task: Task) => Promise<Result>,
  prepare: () => Promise<unknown> = async () => undefined,
  typed: (thrown: unknown) => unknown = (thrown) => thrown,
): (task: Task | typeof PING) => Promise<ThreadAnswer<Result | undefined>> {
  return async (task) => {
    try {
      if (task !== PING) return { result: await doTask(task) };
      await prepare();
      return { result: undefined };
    } catch (thrown) {
      return { error: toWire(typed(thrown)) };
    }
  };
}

/** The result of an answer; throws the error that it holds. */
export function resultOf<Result>(answer: ThreadAnswer<Result>): Result {
  if ('error' in answer) throw fromWire(answer.error);
  return answer.result;
}
