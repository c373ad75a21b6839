import { getHeapStatistics } from 'node:v8';
import type { Config } from '../config/settings.js';
import type { ContaminationChecker } from '../contamination/contamination-checker.js';
import type { ContaminationResult, KnownSolution } from '../contamination/types.js';
import { siblingModuleUrl } from '../fleet/compute-thread.js';
import { TwoLanes } from '../fleet/two-lanes.js';

export interface ContaminationLane extends ContaminationChecker {
  close(): Promise<void>;
}

/**
 * Checks outputs in a thread, so that one that takes longer than a worker would give it can be ended. The others go on.
 * The thread holds the known solutions, as the command did without it: it may have the heap of a process.
 */
export function contaminationLane(
  known: readonly KnownSolution[],
  { analysisTimeoutMs, analysisHeapMb }: Config,
): ContaminationLane {
  const heapMb = Math.max(analysisHeapMb, Math.floor(getHeapStatistics().heap_size_limit / 2 ** 20));
  const module = siblingModuleUrl(import.meta.url, 'contamination-thread', '.cjs');
  const lanes = new TwoLanes<Parameters<ContaminationChecker['check']>[0], ContaminationResult>(
    'the comparison of the output',
    { timeoutMs: analysisTimeoutMs, heapMb },
    { short: module, long: module },
    known,
  );
  const owner = { tenant: '', signal: new AbortController().signal };
  return { check: (input) => lanes.run(input, false, owner), close: () => lanes.close() };
}
