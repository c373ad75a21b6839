/** Records the processor time of each test file, with all threads and ended processes, if the system reports it. */
import { afterAll } from 'vitest';
import { hasLinuxStat, secondsWithChildren } from './linux-stat.js';

declare module 'vitest' {
  interface TaskMeta {
    /** Seconds, user and system. */
    cpuSeconds?: number;
  }
}

if (hasLinuxStat) {
  const before = secondsWithChildren();
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the pattern to see which fixtures the hook uses.
  afterAll(({}, file) => {
    file.meta.cpuSeconds = secondsWithChildren() - before;
  });
}
