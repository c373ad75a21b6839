import type { BenchRow } from '../harness/row.js';
import { contaminationRows } from './contamination.js';
import { depth, memory } from './depth.js';
import { flowEvaluation, flowRefinement } from './flow.js';
import { ingest } from './ingest.js';
import { latencyClean, latencyCorrected } from './latency.js';
import { crash, recovery, scaling } from './processes.js';
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
  scaling,
  depth,
  memory,
  crash,
  recovery,
  ...contaminationRows,
  staticCheck,
  start,
];
