import { readFileSync, readlinkSync } from 'node:fs';

/** Where the kernel tells how long a thread has computed; undefined on a system that does not tell. */
export type ProcessorAccount = string | undefined;

/** The account of the thread that reads it: nanoseconds on a processor, nanoseconds of waiting, time slices. */
const OWN_ACCOUNT = '/proc/thread-self/schedstat';

/** The account of the thread that calls this, for other threads of the process. */
export function processorAccount(): ProcessorAccount {
  if (threadMs() === undefined) return undefined;
  // As in `4711/task/4712`.
  return `/proc/self/task/${readlinkSync('/proc/thread-self').split('/').at(-1)}/schedstat`;
}

/** Processor time of the calling thread since its start, in milliseconds; undefined on a system that does not tell. */
export function threadMs(): number | undefined {
  return processorMs(OWN_ACCOUNT);
}

/** The same of another thread; undefined if it has ended, too. */
export function processorMs(account: string): number | undefined {
  try {
    const nanoseconds = Number(readFileSync(account, 'utf8').split(' ')[0]);
    return nanoseconds > 0 ? nanoseconds / 1e6 : undefined;
  } catch {
    // Only Linux has the file, and only while the thread lives.
    return undefined;
  }
}
