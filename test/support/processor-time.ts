/** Records the processor time of each test file, with all threads and ended processes, if the system reports it. */
import { existsSync, readFileSync } from 'node:fs';
import { afterAll } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** Seconds, user and system. */
    cpuSeconds?: number;
  }
}

const STAT = '/proc/self/stat';
/** What Linux calls USER_HZ: the same on every machine that Node runs on. */
const TICKS_PER_SECOND = 100;

/** utime, stime, cutime and cstime: fields 14 to 17 of proc(5), counted after the name, which may contain blanks. */
function usedSeconds(): number {
  const stat = readFileSync(STAT, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
}

if (existsSync(STAT)) {
  const before = usedSeconds();
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the pattern to see which fixtures the hook uses.
  afterAll(({}, file) => {
    file.meta.cpuSeconds = usedSeconds() - before;
  });
}
