/** Embedding a worker in a program of one's own; `fleet worker` is the ready-made one. */
export { chooseRunner, createRunner, type RunnerChoice } from './agents/select-runner.js';
export type { CallControlOptions } from './calls/call-control.js';
export { acquireEmbeddedRedis, acquireThrowawayRedis } from './fleet/embedded-redis.js';
export {
  type IsolatedProcessAgents,
  serveIsolatedProcess,
} from './fleet/isolation/serve-isolated-process.js';
export { createLogger } from './fleet/logger.js';
export { checkRedis } from './fleet/redis-check.js';
export { FleetWorker, type WorkerOptions } from './fleet/worker.js';
export type { Processor, Work } from './processors/processor.js';
/** Options for a BullMQ worker of one's own, on the evaluating side, from the same address forms. */
export { workerConnection } from './queues/connection.js';
