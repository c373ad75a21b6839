import { setTimeout as wait } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { JobError } from '../src/errors.js';
import { locationOf } from '../src/producers/find-job.js';
import { hasEnded, viewJob } from '../src/producers/job-view.js';
import { startClusterOfOne } from '../test/support/cluster-node.js';
import { startTestRedis, type TestRedis } from '../test/support/redis.js';
import {
  ALL_REFUSALS,
  CLUSTER_REFUSALS,
  REFUSALS,
  type RefusalName,
} from '../test/support/refusing-redis.js';
import { TcpProxy } from '../test/support/tcp-proxy.js';
import { type Evaluation, evaluate, type FaultWindow } from './evaluate.js';
import { type Accepted, Pipeline } from './pipeline.js';
import { type FaultName, type PlannedFault, planFaults } from './plan.js';
import { type Provider, startProvider } from './provider.js';
import { LOCK_MS, WorkerPool } from './workers.js';

export interface ChaosOptions {
  readonly seed: number;
  /** How long faults are injected, in milliseconds; jobs under way then get `settleMs` to end. */
  readonly durationMs: number;
  /** The faults; planned from the seed if not given. */
  readonly plan?: readonly PlannedFault[];
  readonly workers?: number;
  readonly submitEveryMs?: number;
  readonly settleMs?: number;
  /**
   * How Redis writes its file. With `everysec`, it may acknowledge writes that are not on disk yet, and lose up to two
   * seconds of them when it is killed: writes of the last seconds before are then not guaranteed. Default: `always`.
   */
  readonly appendfsync?: 'always' | 'everysec';
  /** Whether the Redis is a node of a cluster, which refuses writes as such a node does. */
  readonly cluster?: boolean;
  readonly say?: (line: string) => void;
}

export interface ChaosReport extends Evaluation {
  readonly seed: number;
  readonly accepted: number;
  readonly requests: number;
  /** Of these, those that came in batches. */
  readonly batched: number;
  readonly refusedSubmissions: number;
  readonly faults: Readonly<Record<string, number>>;
  /** How often Redis refused writes in each way. */
  readonly refusals: Readonly<Record<string, number>>;
  /** From the end of a fault to the next call that a worker sends, in milliseconds. */
  readonly recoveryMs: { readonly p50: number; readonly p99: number };
  readonly kept: boolean;
}

const PREFIX = '{fleet}-chaos';
const LATENCY_MS = 200;
/** On a busy machine a worker takes many seconds to start, which delays the plan; the run must still end. */
const MAX_STRETCH = 2;
/** Redis waits at most two seconds for the last write to reach the disk; plus some time for the acknowledgement. */
const FORGOTTEN_MS = 3_000;

/**
 * Injects planned faults into a fleet of real worker processes while a pipeline submits to it, and compares the result of
 * every accepted job with the guarantees. Ends by itself.
 */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const {
    seed,
    durationMs,
    plan = planFaults(seed, durationMs),
    workers = 3,
    submitEveryMs,
    settleMs = 120_000,
    appendfsync = 'always',
    cluster = false,
    say = () => undefined,
  } = options;
  const { redis, proxy, workersUrl, stop } = await (cluster ? clusterNode : singleServer)([
    '--appendfsync',
    appendfsync,
  ]);
  const refusals = Object.keys(cluster ? CLUSTER_REFUSALS : REFUSALS) as RefusalName[];
  const provider = await startProvider(seed);
  const pool = new WorkerPool(workerEnvironment(workersUrl, provider.api.url));
  try {
    await pool.start(workers);
    const pipeline = await Pipeline.open(redis.url, PREFIX, submitEveryMs);
    try {
      const breaker = new Breaker({ redis, proxy, provider, pool, pipeline, refusals, say });
      pipeline.begin();
      await breaker.carryOut(plan, MAX_STRETCH * durationMs);
      await pipeline.stopSubmitting();
      say(`no more faults; ${pipeline.accepted.length} jobs were accepted`);
      await untilAllEnded(pipeline, settleMs);
      const crashed = await pool.stop();
      const evaluation = await evaluate(pipeline, {
        billed: provider.billed,
        windows: breaker.windows,
        forgotten:
          appendfsync === 'always'
            ? []
            : breaker.redisKills.map((at) => ({ from: at - FORGOTTEN_MS, to: at })),
      });
      const promises = [
        ...evaluation.promises,
        { promise: 'workers that did not end in order at the end', found: crashed, allowed: 0, examples: [] },
      ];
      return {
        ...evaluation,
        promises,
        seed,
        accepted: pipeline.accepted.length,
        requests: provider.billed.length,
        batched: provider.api.batches.lines.length,
        refusedSubmissions: pipeline.refusedSubmissions,
        faults: breaker.counts,
        refusals: breaker.refusals,
        recoveryMs: breaker.recovery(),
        kept: promises.every(({ found, allowed }) => found <= allowed),
      };
    } finally {
      await pipeline.close();
    }
  } finally {
    pool.kill();
    await provider.api.close();
    await stop();
  }
}

/** A Redis, the proxy to it, and the address that workers get. */
interface Surroundings {
  readonly redis: TestRedis;
  readonly proxy: TcpProxy;
  readonly workersUrl: string;
  stop(): Promise<void>;
}

async function singleServer(args: readonly string[]): Promise<Surroundings> {
  const redis = await startTestRedis(args);
  const proxy = await TcpProxy.start({ path: redis.socketPath });
  const stop = async () => {
    await proxy.stop();
    await redis.stop();
  };
  return { redis, proxy, workersUrl: proxy.url, stop };
}

/** The pipeline uses the same address as the workers: the cluster names no other. */
async function clusterNode(args: readonly string[]): Promise<Surroundings> {
  const { redis, proxy, stop } = await startClusterOfOne(args);
  return { redis, proxy, workersUrl: redis.url, stop };
}

function workerEnvironment(redisUrl: string, apiUrl: string): Record<string, string> {
  return {
    FLEET_REDIS_URL: redisUrl,
    FLEET_PREFIX: PREFIX,
    FLEET_LOCK_MS: String(LOCK_MS),
    FLEET_CONCURRENCY: '5',
    FLEET_AGENT: 'anthropic',
    FLEET_CALL_IDLE_MS: '1500',
    FLEET_CALL_TIMEOUT_MS: '4000',
    FLEET_BUDGET_USD: '100000',
    FLEET_BATCH_COLLECT_MS: '300',
    FLEET_BATCH_POLL_MS: '300',
    FLEET_BATCH_TIMEOUT_MS: '2000',
    FLEET_LOG_LEVEL: 'info',
    ANTHROPIC_API_KEY: 'test-key',
    ANTHROPIC_BASE_URL: apiUrl,
  };
}

interface BreakerParts {
  readonly redis: TestRedis;
  readonly proxy: TcpProxy;
  readonly provider: Provider;
  readonly pool: WorkerPool;
  readonly pipeline: Pipeline;
  /** The ways in which this Redis can refuse writes. */
  readonly refusals: readonly RefusalName[];
  readonly say: (line: string) => void;
}

/** Executes the plan and measures how soon the fleet continues. */
class Breaker {
  readonly counts: Partial<Record<FaultName, number>> = {};
  /** How often Redis refused writes in each way. */
  readonly refusals: Partial<Record<RefusalName, number>> = {};
  /** The times of faults, in milliseconds since 1970. */
  readonly windows: FaultWindow[] = [];
  /** When Redis was not running. */
  readonly redisKills: number[] = [];
  readonly #parts: BreakerParts;
  readonly #recoveries: number[] = [];

  constructor(parts: BreakerParts) {
    this.#parts = parts;
  }

  /** @param mostMs after this time it begins no more faults */
  async carryOut(plan: readonly PlannedFault[], mostMs: number): Promise<void> {
    const start = performance.now();
    for (const planned of plan) {
      if (performance.now() - start > mostMs) break;
      await wait(Math.max(0, planned.atMs - (performance.now() - start)));
      const { provider, say } = this.#parts;
      this.counts[planned.fault] = (this.counts[planned.fault] ?? 0) + 1;
      say(`${Math.round(planned.atMs)} ms: ${planned.fault} for ${Math.round(planned.lastsMs)} ms`);
      const from = Date.now();
      await this.#break(planned);
      this.windows.push({ from, to: Date.now() });
      this.#noteRecovery(performance.now(), provider.billed.length);
    }
  }

  recovery(): { p50: number; p99: number } {
    const sorted = [...this.#recoveries].sort((a, b) => a - b);
    const at = (fraction: number) =>
      Math.round(sorted[Math.min(sorted.length - 1, Math.floor(fraction * sorted.length))] ?? 0);
    return { p50: at(0.5), p99: at(0.99) };
  }

  #noteRecovery(endedAt: number, requests: number): void {
    const timer = setInterval(() => {
      if (this.#parts.provider.billed.length <= requests) return;
      clearInterval(timer);
      this.#recoveries.push(performance.now() - endedAt);
    }, 10);
    timer.unref();
  }

  async #rejectWrites(victim: number, lastsMs: number): Promise<void> {
    const { redis, refusals, say } = this.#parts;
    const name = refusals[Math.floor(victim * refusals.length)] ?? 'MISCONF';
    say(`Redis refuses: ${name}`);
    this.refusals[name] = (this.refusals[name] ?? 0) + 1;
    const admin = new Redis({ path: redis.socketPath, maxRetriesPerRequest: null });
    admin.on('error', () => undefined);
    try {
      await ALL_REFUSALS[name].begin(admin, redis);
      await wait(lastsMs);
    } finally {
      await ALL_REFUSALS[name].end(admin, redis);
      admin.disconnect();
    }
  }

  async #break({ fault, lastsMs, victim }: PlannedFault): Promise<void> {
    const { redis, proxy, pool } = this.#parts;
    switch (fault) {
      case 'kill-worker':
        return pool.replace(victim, 'SIGKILL');
      case 'stop-worker':
        return pool.replace(victim, 'SIGTERM');
      case 'freeze-worker':
        return pool.freeze(victim, lastsMs + LOCK_MS);
      case 'kill-redis':
        await redis.kill();
        this.redisKills.push(Date.now());
        await wait(lastsMs);
        return redis.restart();
      case 'cut-links':
        return proxy.cut();
      case 'black-hole':
      case 'half-open':
        proxy.mode = fault;
        await wait(lastsMs);
        proxy.mode = 'open';
        return;
      case 'slow-link':
        proxy.delayMs = LATENCY_MS;
        await wait(lastsMs);
        proxy.delayMs = 0;
        return;
      case 'refuse-writes':
        return this.#rejectWrites(victim, lastsMs);
    }
  }
}

/** Waits until every accepted job has ended, or the time is over: the evaluation then lists the others. */
async function untilAllEnded({ fleet, accepted }: Pipeline, timeoutMs: number): Promise<void> {
  const giveUpAt = performance.now() + timeoutMs;
  let open = [...accepted];
  while (open.length > 0 && performance.now() < giveUpAt) {
    const ended = await Promise.all(open.map((job) => hasEndedOrIsGone(fleet, job)));
    open = open.filter((_, at) => !ended[at]);
    await wait(200);
  }
}

/** The evaluation reports a lost job. */
async function hasEndedOrIsGone(fleet: Pipeline['fleet'], { id, queue }: Accepted): Promise<boolean> {
  try {
    return hasEnded((await viewJob(fleet, locationOf(fleet, id, queue))).state);
  } catch (thrown) {
    if (thrown instanceof JobError && thrown.code === 'job-not-found') return true;
    throw thrown;
  }
}
