import { type ProcessorAccount, processorAccount } from '../processor-time.js';
import { fromWire, toWire, type WireError } from './isolation/wire-error.js';

/** A message to a thread, which answers when it is ready for its first task. */
export const PING = 'ping';

/** A thread's answer. Errors lose their class between threads, so they are sent as plain data. */
export type ThreadAnswer<Result> = { readonly result: Result } | { readonly error: WireError };

/**
 * The default export of a thread's module: runs tasks, and answers `PING` with its account when it is ready.
 * @param typed converts a thrown value to its typed error, before its class is lost
 */
export function answering<Task, Result>(
  doTask: (task: Task) => Promise<Result>,
  prepare: () => Promise<unknown> = async () => undefined,
  typed: (thrown: unknown) => unknown = (thrown) => thrown,
): (task: Task | typeof PING) => Promise<ThreadAnswer<Result | ProcessorAccount>> {
  return async (task) => {
    try {
      if (task !== PING) return { result: await doTask(task) };
      await prepare();
      return { result: processorAccount() };
    } catch (thrown) {
      return { error: toWire(typed(thrown)) };
    }
  };
}

/** The result of an answer; throws the error that it contains. */
export function resultOf<Result>(answer: ThreadAnswer<Result>): Result {
  if ('error' in answer) throw fromWire(answer.error);
  return answer.result;
}
