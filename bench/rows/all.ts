import type { BenchRow } from '../harness/row.js';
import { latencyClean, latencyCorrected } from './latency.js';

/** Every row of the table, in its order. */
export const ROWS: readonly BenchRow[] = [latencyClean, latencyCorrected];
