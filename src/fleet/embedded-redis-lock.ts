import { execFileSync } from 'node:child_process';
import { linkSync, readdirSync, readFileSync, rmSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { readPrivateFile, writeNewFile } from './private-files.js';

const LOCK_NAME = /^supervisor\.(\d+)$/;
/** Number of outdated lock files that stay, so a slow reader always sees the newest one. */
const MAX_GENERATIONS = 4;
const MAX_LOCK_BYTES = 1_024;

interface Owner {
  readonly pid: number;
  /** When the process started: the system reuses process ids, but not with the same start time. */
  readonly startedAt: string;
}

/**
 * Makes this process the only supervisor of a folder, until it ends.
 *
 * Lock files have increasing numbers: `supervisor.7` is valid while its owner lives. A process that finds its owner dead
 * may create `supervisor.8`, which succeeds for one process only. A dead owner's lock is never deleted to take it over, so
 * no process can delete a valid one by mistake.
 *
 * @returns whether this process is now the supervisor.
 */
export function becomeSupervisor(folder: string): boolean {
  const newest = generations(folder).at(-1);
  if (newest !== undefined && ownerLives(folder, newest)) return false;
  const generation = (newest ?? 0) + 1;
  if (!createLock(folder, generation)) return false;
  // Other processes may have created locks in the meantime: only the highest number is valid.
  if (generations(folder).at(-1) !== generation) {
    rmSync(lockPath(folder, generation), { force: true });
    return false;
  }
  for (const old of generations(folder)) {
    if (old <= generation - MAX_GENERATIONS) rmSync(lockPath(folder, old), { force: true });
  }
  return true;
}

function lockPath(folder: string, generation: number): string {
  return join(folder, `supervisor.${generation}`);
}

function generations(folder: string): number[] {
  return readdirSync(folder)
    .flatMap((name) => LOCK_NAME.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
}

/** A hard link is created atomically with its content, and only if the name does not exist. */
function createLock(folder: string, generation: number): boolean {
  const draft = join(folder, `lock-of-${process.pid}`);
  const owner: Owner = { pid: process.pid, startedAt: startOfProcess(process.pid) ?? 'unknown' };
  // A file with this name is from an earlier process with the same id.
  rmSync(draft, { force: true });
  writeNewFile(draft, JSON.stringify(owner));
  try {
    linkSync(draft, lockPath(folder, generation));
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    unlinkSync(draft);
  }
}

function ownerLives(folder: string, generation: number): boolean {
  try {
    // An outdated lock may be removed meanwhile: the empty text is not JSON either.
    const text = readPrivateFile(lockPath(folder, generation), MAX_LOCK_BYTES) ?? '';
    const owner = JSON.parse(text) as Owner;
    return startOfProcess(owner.pid) === owner.startedAt;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** When a process started, as the system reports it; undefined if there is no such process. */
export function startOfProcess(pid: number): string | undefined {
  try {
    if (process.platform === 'linux') {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // The name, in parentheses, may contain anything; the state is the first field after it, the start time the 20th.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return fields[0] === 'Z' ? undefined : fields[19];
    }
    return execFileSync('/bin/ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    // No such process, by either method.
    return undefined;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
