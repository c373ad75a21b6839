import { siblingModuleUrl, startSpareThread } from './compute-thread.js';

/** The module of threads that analyze scripts. Compiled, it is CommonJS, as `scripts/bundle.mjs` writes it. */
export const ANALYSIS = siblingModuleUrl(import.meta.url, 'analysis-task', '.cjs');

/** Starts a thread that the next `AnalysisThread` of this process takes over. @param heapMb its heap, in MiB */
export function startAnalysisThread(heapMb: number): void {
  startSpareThread({ module: ANALYSIS, heapMb });
}
