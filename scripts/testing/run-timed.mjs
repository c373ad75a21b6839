import { spawnSync } from 'node:child_process';

/** Prints what its children used, after the command; nobody else inherits the descriptor. */
const SCRIPT = '"$@" 3>&-; status=$?; times >&3; exit $status';

/**
 * Runs a program to its end on this terminal.
 * @returns its exit status, the seconds that passed, and the seconds of processor time (user and system) that it and all
 * processes below it used. Processes that nobody waited for are not counted.
 */
export function runTimed(program, args, options) {
  const began = performance.now();
  const { status, output, error } = spawnSync('/bin/sh', ['-c', SCRIPT, 'sh', program, ...args], {
    ...options,
    stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
  });
  if (error !== undefined) throw error;
  const wallSeconds = (performance.now() - began) / 1_000;
  return { status, wallSeconds, cpuSeconds: secondsIn(String(output[3]).trim().split('\n')[1] ?? '') };
}

/** The sum of times as the shell writes them: `1m2.500s 0m0.250s`. */
function secondsIn(line) {
  const times = [...line.matchAll(/(\d+)m([\d.]+)s/g)];
  return times.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0);
}
