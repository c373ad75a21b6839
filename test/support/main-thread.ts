import { expect } from 'vitest';
import { hasLinuxStat, secondsOfMainThread, secondsOfProcess } from './linux-stat.js';

/**
 * Largest fraction of a process' time that its main thread takes while another thread does something costly. Copying the data
 * for it and handling the result take a fifth or a quarter; the work itself would take nearly all.
 */
const MAX_FRACTION = 0.5;

/**
 * Watches which thread works from now on, by processor time: how long the event loop waits depends on what else the machine
 * does.
 * @returns a function that expects that the main thread left the work to others; it expects nothing where the system reports
 * no times of threads.
 */
export function watchMainThread(): () => void {
  if (!hasLinuxStat) return () => undefined;
  const started = { mainThread: secondsOfMainThread(), all: secondsOfProcess() };
  return () => {
    const mainThread = secondsOfMainThread() - started.mainThread;
    expect(mainThread / (secondsOfProcess() - started.all)).toBeLessThan(MAX_FRACTION);
  };
}
