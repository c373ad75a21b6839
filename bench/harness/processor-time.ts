import { readdirSync, readFileSync } from 'node:fs';

/** Linux reports times of processes in hundredths of a second, whatever the kernel's own unit. */
const TICK_MS = 10;

/**
 * Milliseconds of processor time that a process and its children have used, without children that have ended; undefined on
 * systems other than Linux.
 */
export function processorMs(pid: number | undefined): number | undefined {
  if (process.platform !== 'linux' || pid === undefined) return undefined;
  // The name of the program is in parentheses and may contain anything.
  const [, afterName = ''] = /\) ([^)]*)$/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
  const fields = afterName.split(' ');
  // utime and stime, fields 14 and 15; the state, after the name, is field 3.
  const own = (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  return childrenOf(pid).reduce((sum, child) => sum + (processorMs(child) ?? 0), own);
}

function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
}
