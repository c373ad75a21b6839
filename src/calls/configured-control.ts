import type { Config } from '../config/settings.js';
import type { CallControlOptions } from './call-control.js';

const MS_A_DAY = 86_400_000;

/** The limits of a worker's agent calls from its configuration. */
export function configuredControl(config: Config): CallControlOptions {
  return {
    ...(config.budgetUsd === undefined ? {} : { budgetUsd: config.budgetUsd }),
    ...(config.modelLimits === undefined ? {} : { limits: config.modelLimits }),
    callsInDoubt: config.callsInDoubt,
    reuse: config.reuse,
    answerTtlMs: config.retentionDays * MS_A_DAY,
    quotaParkMs: config.quotaParkMs,
    callWaitMs: config.callWaitMs,
    cacheWaitMs: config.cacheWaitMs,
    batches: {
      ...(config.batchAfterMs === undefined ? {} : { afterMs: config.batchAfterMs }),
      collectMs: config.batchCollectMs,
      pollMs: config.batchPollMs,
      marginMs: config.batchMarginMs,
      requestMs: config.batchTimeoutMs,
      // As the jobs of a crashed worker, its batches are taken over after that time.
      leaseMs: config.lockMs,
      // Most batches end within an hour, and four times the margin is one by default.
      minMs: 4 * config.batchMarginMs,
    },
  };
}
