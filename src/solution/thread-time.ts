import { readFileSync } from 'node:fs';

/** The kernel's account of the thread that reads it: nanoseconds on a processor, nanoseconds of waiting, time slices. */
const SCHEDULE = '/proc/thread-self/schedstat';

/** Processor time of the calling thread, in milliseconds; undefined on a system that does not tell. */
function threadMilliseconds(): number | undefined {
  try {
    const nanoseconds = Number(readFileSync(SCHEDULE, 'utf8').split(' ')[0]);
    return nanoseconds > 0 ? nanoseconds / 1e6 : undefined;
  } catch {
    // Only Linux has the file.
    return undefined;
  }
}

/** How much longer than its processor time a task may take by the clock, where only the clock can be read. */
const CLOCK_FACTOR = 4;

/**
 * Tells when so much processor time of this thread is over, however busy the machine is. It asks the kernel only where the
 * clock says that it may be over.
 */
export function threadDeadline(milliseconds: number): () => boolean {
  const usedBefore = threadMilliseconds();
  if (usedBefore === undefined) {
    const end = performance.now() + CLOCK_FACTOR * milliseconds;
    return () => performance.now() > end;
  }
  let askAt = performance.now() + milliseconds;
  return () => {
    const now = performance.now();
    if (now < askAt) return false;
    const left = milliseconds - ((threadMilliseconds() ?? Number.POSITIVE_INFINITY) - usedBefore);
    askAt = now + left;
    return left <= 0;
  };
}
