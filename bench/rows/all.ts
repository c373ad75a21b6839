import type { BenchRow, RowGroup } from '../harness/row.js';
import { cacheOrder } from './cache-order.js';
import { childStep } from './child-step.js';
import { commands } from './commands.js';
import { completed } from './completed.js';
import { contaminationRows } from './contamination.js';
import { contaminationSet } from './contamination-set.js';
import { cost } from './cost.js';
import { crash } from './crash.js';
import { depth } from './depth.js';
import { flowEvaluation, flowRefinement } from './flow.js';
import { ingest } from './ingest.js';
import { ingestHttp } from './ingest-http.js';
import { latencyClean, latencyCorrected } from './latency.js';
import { memoryIdle, memoryWaiting } from './memory.js';
import { pickUp } from './pick-up.js';
import { rateLimit } from './rate-limit.js';
import { recovery } from './recovery.js';
import { scaling } from './scaling.js';
import { manyFiles, start, startLong, staticCheck } from './static-check.js';
import { throughput, throughputWithCalls } from './throughput.js';
import { typing } from './typing.js';

/** Every row of the table, in its order. */
export const ROWS: readonly (BenchRow | RowGroup)[] = [
  throughput,
  throughputWithCalls,
  ingest,
  ingestHttp,
  latencyClean,
  latencyCorrected,
  pickUp,
  flowRefinement,
  flowEvaluation,
  childStep,
  scaling,
  depth,
  memoryIdle,
  memoryWaiting,
  completed,
  crash,
  recovery,
  rateLimit,
  ...contaminationRows,
  contaminationSet,
  staticCheck,
  start,
  startLong,
  manyFiles,
  typing,
  commands,
  cost,
  cacheOrder,
];
