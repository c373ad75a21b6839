import type { BenchRow } from '../harness/row.js';
import { depth, memory } from './depth.js';
import { flowEvaluation, flowRefinement } from './flow.js';
import { ingest } from './ingest.js';
import { latencyClean, latencyCorrected } from './latency.js';
import { start, staticCheck } from './static-check.js';
import { throughput, throughputWithCalls } from './throughput.js';

/** Every row of the table, in its order. */
export const ROWS: readonly BenchRow[] = [
  throughput,
  throughputWithCalls,
  ingest,
  latencyClean,
  latencyCorrected,
  flowRefinement,
  flowEvaluation,
  depth,
  memory,
  staticCheck,
  start,
];
