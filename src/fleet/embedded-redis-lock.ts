import { execFileSync } from 'node:child_process';
import { linkSync, readdirSync, readFileSync, rmSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { readOwnFile, writeNewFile } from './own-files.js';

const LOCK_NAME = /^supervisor\.(\d+)$/;
/** So many outdated lock files stay, so that a slow reader never sees the folder without the newest. */
const KEPT_GENERATIONS = 4;
const MAX_LOCK_BYTES = 1_024;

interface Owner {
  readonly pid: number;
  /** When the process began: a process number is used again, but not with the same beginning. */
  readonly startedAt: string;
}

/**
 * Makes this process the one supervisor of a folder, until it ends.
 *
 * Locks are numbered and only ever get higher: `supervisor.7` counts while its owner lives, and whoever finds
 * its owner dead may create `supervisor.8`, which succeeds for one process only. So a dead owner's lock is never
 * deleted to be taken, and nobody can delete a live one by mistake.
 *
 * @returns whether this process is the supervisor now.
 */
export function becomeSupervisor(folder: string): boolean {
  const newest = generations(folder).at(-1);
  if (newest !== undefined && ownerLives(folder, newest)) return false;
  const own = (newest ?? 0) + 1;
  if (!createLock(folder, own)) return false;
  // While this process looked, others may have come and gone several times: only the highest number counts.
  if (generations(folder).at(-1) !== own) {
    rmSync(lockPath(folder, own), { force: true });
    return false;
  }
  for (const old of generations(folder)) {
    if (old <= own - KEPT_GENERATIONS) rmSync(lockPath(folder, old), { force: true });
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

/** A hard link appears with its whole content or not at all, and only where there is none of that name. */
function createLock(folder: string, generation: number): boolean {
  const own = join(folder, `lock-of-${process.pid}`);
  const owner: Owner = { pid: process.pid, startedAt: startOfProcess(process.pid) ?? 'unknown' };
  // One of that name was left by a process that is gone, whose number this one has now.
  rmSync(own, { force: true });
  writeNewFile(own, JSON.stringify(owner));
  try {
    linkSync(own, lockPath(folder, generation));
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    unlinkSync(own);
  }
}

function ownerLives(folder: string, generation: number): boolean {
  try {
    // Where it was removed meanwhile, which only happens to outdated locks, this is no JSON either.
    const text = readOwnFile(lockPath(folder, generation), MAX_LOCK_BYTES) ?? '';
    const owner = JSON.parse(text) as Owner;
    return startOfProcess(owner.pid) === owner.startedAt;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** When a process began, in the system's own words; undefined where there is no such process. */
export function startOfProcess(pid: number): string | undefined {
  try {
    if (process.platform === 'linux') {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // The name, in parentheses, may hold anything; state is the first field after it, start time the 20th.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return fields[0] === 'Z' ? undefined : fields[19];
    }
    return execFileSync('/bin/ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    // No such process, in either way of asking.
    return undefined;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
