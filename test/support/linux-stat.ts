/** Processor times as Linux reports them in /proc. */
import { existsSync, readFileSync } from 'node:fs';

const PROCESS = '/proc/self/stat';
/** What Linux calls USER_HZ: the same on every machine that Node runs on. */
const TICKS_PER_SECOND = 100;

export const hasLinuxStat = existsSync(PROCESS);

/** utime, stime, cutime and cstime: fields 14 to 17 of proc(5), counted after the name, which may contain blanks. */
function seconds(path: string, fields: number): number {
  const stat = readFileSync(path, 'utf8');
  const times = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 11 + fields);
  return times.reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
}

/** Of this process with all its threads and its ended children. */
export const secondsWithChildren = () => seconds(PROCESS, 4);
