import type { Redis } from 'ioredis';
import type { ModelLimits } from '../config/model-limits.js';
import type { Reuse } from '../queues/reuse.js';
import { type BatchTiming, DEFAULT_BATCH_TIMING } from './batches/batch-timing.js';
import { type Clock, systemClock } from './clock.js';

/** Limits of a worker's agent calls. */
export interface CallControlOptions {
  /** Prefix of what all calls share (spending, limits, known answers); default: that of the worker's queues. */
  readonly prefix?: string;
  /** What the calls of one day (UTC) may cost, in US dollars; default: no limit. */
  readonly budgetUsd?: number;
  /** What becomes of a call in doubt; default: it is sent again. */
  readonly callsInDoubt?: 'resend' | 'park';
  /** Whether jobs that do not say so use the answers of other jobs to the same requests; default: `none`. */
  readonly reuse?: Reuse;
  /** How long other jobs find an answer, in milliseconds: as long as jobs are kept. Default: 7 days. */
  readonly answerTtlMs?: number;
  /** Limits a minute by model, besides what the provider says. */
  readonly limits?: ModelLimits;
  /** A longer wait for a quota parks the job, in milliseconds. */
  readonly quotaParkMs?: number;
  /** How long rate limits may reject a job's calls, in milliseconds. */
  readonly callWaitMs?: number;
  /** Longest wait for which a job keeps its slot, in milliseconds. */
  readonly shortWaitMs?: number;
  /**
   * How long a call waits for the answer to an earlier one with the same cacheable prompt prefix to begin, in milliseconds;
   * 0: not at all.
   */
  readonly cacheWaitMs?: number;
  /** When calls of jobs that can wait are sent in batches, if the runner's provider has batches. */
  readonly batches?: Partial<BatchTiming>;
  readonly clock?: Clock;
  /** Time in the fleet's scripts, in milliseconds; default: Redis's own clock. */
  readonly now?: () => number;
}

/** The same for one fleet, with its Redis. */
export interface CallControl {
  /** A connection that retries until Redis answers: what is paid for must be written. */
  readonly client: Redis;
  readonly prefix: string;
  readonly budgetUsd: number | undefined;
  readonly callsInDoubt: 'resend' | 'park';
  readonly reuse: Reuse;
  readonly answerTtlMs: number;
  readonly limits: ModelLimits;
  readonly quotaParkMs: number;
  readonly callWaitMs: number;
  readonly shortWaitMs: number;
  readonly cacheWaitMs: number;
  /** Undefined if the runner's provider has no batches. */
  readonly batches: BatchTiming | undefined;
  readonly clock: Clock;
  readonly now: (() => number) | undefined;
}

/** A job that waits no longer than this keeps its slot: going back to the queue would take about as long. */
const SHORT_WAIT_MS = 1_000;
/** Most answers begin within some seconds, and last longer than that. */
const CACHE_WAIT_MS = 10_000;
const ANSWER_TTL_MS = 7 * 86_400_000;

/** @param hasBatches Whether the runner's provider has batches. */
export function callControl(
  client: Redis,
  prefix: string,
  options: CallControlOptions = {},
  hasBatches = false,
): CallControl {
  return {
    client,
    prefix: options.prefix ?? prefix,
    budgetUsd: options.budgetUsd,
    callsInDoubt: options.callsInDoubt ?? 'resend',
    reuse: options.reuse ?? 'none',
    answerTtlMs: options.answerTtlMs ?? ANSWER_TTL_MS,
    limits: options.limits ?? {},
    quotaParkMs: options.quotaParkMs ?? 600_000,
    callWaitMs: options.callWaitMs ?? 86_400_000,
    shortWaitMs: options.shortWaitMs ?? SHORT_WAIT_MS,
    cacheWaitMs: options.cacheWaitMs ?? CACHE_WAIT_MS,
    batches: hasBatches ? { ...DEFAULT_BATCH_TIMING, ...options.batches } : undefined,
    clock: options.clock ?? systemClock,
    now: options.now,
  };
}
