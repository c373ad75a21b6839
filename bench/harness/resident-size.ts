import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Resident memory of a process, in bytes. */
export async function residentSize(pid: number | undefined): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)]);
  const kilobytes = Number(stdout.trim());
  if (!Number.isInteger(kilobytes) || kilobytes <= 0) throw new Error(`no resident size of process ${pid}`);
  return kilobytes * 1_024;
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}
