import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { FleetClient } from '../../producers/fleet-client.js';
import { readRedisMemory } from '../../queues/redis-memory.js';
import { runScript, script } from '../../queues/run-script.js';
import { servedQueues } from '../../queues/served-queues.js';
import { readWorkerReports } from '../../queues/worker-report.js';
import type { Gateway } from '../gateway.js';
import type { EndedRequest } from '../http/request-log.js';
import { sharedReading } from '../http/shared-reading.js';
import { type Depth, readDepth } from './depth.js';
import { DurationHistogram } from './duration-histogram.js';
import { expectedTotals } from './expected-totals.js';
import { readPipelineDepths } from './pipeline-depths.js';
import { processMetrics } from './process-metrics.js';

/** How many failed jobs one script reads, so that Redis serves other clients in between. */
const PAGE = 1_000;
/** How many failed jobs are read in all; the newest ones. */
const MOST = 20_000;

/**
 * KEYS: 1 failed jobs. ARGV: 1 beginning of the keys of jobs, 2-3 first and last index from the newest, 4 flag of a cancelled
 * job. Returns how many were read, and how many of them were not cancelled.
 */
const COUNT = script(`
local ids = redis.call('ZREVRANGE', KEYS[1], ARGV[2], ARGV[3])
local dead = 0
for _, id in ipairs(ids) do
  -- A key of another type than a job's is no dead letter: this is an error then, and no number.
  if redis.pcall('HEXISTS', ARGV[1] .. id, ARGV[4]) == 0 then dead = dead + 1 end
end
return {#ids, dead}`);

/** Jobs of a queue that failed for good and were not cancelled, of its 20,000 newest failed ones. */
async function countDeadLetters(fleet: FleetClient, kind: string): Promise<number> {
  const queue = fleet.queue(kind);
  let dead = 0;
  for (let start = 0; start < MOST; start += PAGE) {
    const args = [queue.toKey(''), start, start + PAGE - 1, 'fleet:cancelled'];
    const [seen, counted] = (await runScript(fleet.client, COUNT, [queue.toKey('failed')], args)) as number[];
    dead += counted ?? 0;
    if ((seen ?? 0) < PAGE) break;
  }
  return dead;
}

/** Bounds of the durations of requests, in seconds; long ones are waits. */
const REQUEST_BOUNDS = [0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300];

/**
 * The content of `/metrics`. Counts of jobs and calls are the whole fleet's, from what the collectors store in Redis: every
 * gateway reports the same, so scrape one, or take the maximum over gateways. Numbers of requests and of the process are this
 * gateway's.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests: Counter<'route' | 'method' | 'status'>;
  readonly #requestSeconds: Histogram<'route' | 'waits'>;
  readonly #depth: Gauge<'kind' | 'state'>;
  readonly #load: Gauge<'kind'>;
  readonly #oldest: Gauge<'kind'>;
  readonly #dead: Gauge<'kind'>;
  readonly #pipelineDepth: Gauge<'queue' | 'state'>;
  readonly #pipelineOldest: Gauge<'queue'>;
  readonly #pipelineServed: Gauge<'queue'>;
  readonly #pipelineDead: Gauge<'queue'>;
  readonly #redisUsed: Gauge;
  readonly #redisLimit: Gauge;
  readonly #redisRoom: Gauge;
  readonly #workers: Gauge<'kind'>;
  readonly #workerLag: Gauge<'worker'>;
  readonly #workerMemory: Gauge<'worker'>;
  readonly #spend: Gauge<'state'>;
  readonly #budget: Gauge;
  readonly #underWay: Gauge;
  readonly #input: Gauge;
  readonly #inBatches: Gauge<'state'>;
  readonly #batches: Gauge;
  readonly #reusedCalls: Gauge;
  readonly #reusedUsd: Gauge;
  readonly #inDoubt: Gauge;
  readonly #outcomes: Gauge<'outcome'>;
  readonly #blocked: Gauge<'model' | 'why'>;
  readonly #totals: readonly TotalCounter[];
  readonly #durations = new DurationHistogram(
    'fleet_job_duration_seconds',
    'Time from the start of the last attempt of a job to its end.',
  );

  constructor() {
    const registers = [this.#registry];
    this.#requests = new Counter({
      name: 'fleet_http_requests_total',
      help: 'Requests to this gateway.',
      labelNames: ['route', 'method', 'status'],
      registers,
    });
    this.#requestSeconds = new Histogram({
      name: 'fleet_http_request_duration_seconds',
      help: 'Time from a request to the end of its answer; waits: whether its client asked to wait.',
      labelNames: ['route', 'waits'],
      buckets: REQUEST_BOUNDS,
      registers,
    });
    const gauge = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
      new Gauge({ name, help, labelNames, registers });
    this.#depth = gauge('fleet_queue_jobs', 'Jobs of a kind by state; ended ones while they are kept.', [
      'kind',
      'state',
    ]);
    this.#load = gauge(
      'fleet_queue_load',
      'Waiting, prioritized, due and active jobs of a kind: what to scale workers by.',
      ['kind'],
    );
    this.#oldest = gauge(
      'fleet_queue_oldest_waiting_seconds',
      'Age of the oldest job that is ready; 0: none.',
      ['kind'],
    );
    this.#dead = gauge('fleet_dead_letters', 'Jobs that failed for good, were not cancelled, and are kept.', [
      'kind',
    ]);
    this.#pipelineDepth = gauge(
      'fleet_pipeline_queue_jobs',
      'Jobs of a pipeline queue by state; ended ones while they are kept.',
      ['queue', 'state'],
    );
    this.#pipelineOldest = gauge(
      'fleet_pipeline_queue_oldest_waiting_seconds',
      'Age of the oldest job of a pipeline queue that is ready; 0: none.',
      ['queue'],
    );
    this.#pipelineServed = gauge(
      'fleet_pipeline_queue_served',
      'Whether somebody takes jobs of a pipeline queue: 1 or 0; absent if Redis does not list its connections.',
      ['queue'],
    );
    this.#pipelineDead = gauge(
      'fleet_pipeline_dead_letters',
      'Jobs of a pipeline queue that failed for good, were not cancelled, and are kept.',
      ['queue'],
    );
    this.#redisUsed = gauge('fleet_redis_used_bytes', 'Memory that Redis uses.', []);
    this.#redisLimit = gauge(
      'fleet_redis_limit_bytes',
      'Memory beyond which Redis takes no jobs; absent: no limit.',
      [],
    );
    this.#redisRoom = gauge('fleet_redis_room_bytes', 'Memory that new jobs may still take.', []);
    this.#workers = gauge('fleet_workers', 'Workers connected for a kind.', ['kind']);
    this.#workerLag = gauge(
      'fleet_worker_event_loop_lag_seconds',
      'Delay of the event loop of a worker, 99th percentile of its last ten seconds.',
      ['worker'],
    );
    this.#workerMemory = gauge('fleet_worker_resident_memory_bytes', 'Memory of the process of a worker.', [
      'worker',
    ]);
    this.#spend = gauge(
      'fleet_spend_today_usd',
      'Agent calls since midnight UTC: spent, in doubt (at their likely price), reserved by calls under way.',
      ['state'],
    );
    this.#budget = gauge(
      'fleet_budget_today_usd',
      'What the agent calls of a day may cost; absent: no limit.',
      [],
    );
    this.#underWay = gauge('fleet_agent_calls_under_way', 'Agent calls that are being answered.', []);
    this.#input = gauge(
      'fleet_agent_input_tokens_today',
      'Input of agent calls since midnight UTC by what the prompt cache did: uncached, read, write.',
      ['cache'],
    );
    this.#inBatches = gauge(
      'fleet_batch_calls',
      'Agent calls that wait for the next batch (queued), or in one (sent).',
      ['state'],
    );
    this.#batches = gauge('fleet_batches', 'Batches at the provider that have not ended.', []);
    this.#reusedCalls = gauge(
      'fleet_agent_calls_reused_today',
      'Agent calls since midnight UTC that were answered from the ledgers of other jobs.',
      [],
    );
    this.#reusedUsd = gauge(
      'fleet_reused_today_usd',
      'What these answers had cost when they were asked for.',
      [],
    );
    this.#inDoubt = gauge(
      'fleet_agent_calls_in_doubt_today',
      'Agent calls in doubt since midnight UTC: nobody knows whether they were billed.',
      [],
    );
    this.#outcomes = gauge(
      'fleet_agent_call_outcomes_today',
      'Agent calls sent since midnight UTC whose end was seen, by outcome class.',
      ['outcome'],
    );
    this.#blocked = gauge(
      'fleet_model_blocked_seconds',
      'How much longer calls of a model are blocked (429, 529).',
      ['model', 'why'],
    );
    this.#totals = totalCounters(this.#registry);
    this.#registry.registerMetric(this.#durations as never);
  }

  /** Serves a 0 for failures of a route: an alert would not see the first one otherwise. */
  expect(route: string, method: string): void {
    this.#requests.inc({ route, method, status: '500' }, 0);
  }

  /** Counts a request that has ended. */
  observe({ route, method, status, seconds, waits }: EndedRequest): void {
    this.#requests.inc({ route, method, status: String(status) });
    this.#requestSeconds.observe({ route, waits: waits ? 'yes' : 'no' }, seconds);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** The metrics as text. */
  async render(gateway: Gateway): Promise<string> {
    await this.#readAll(gateway);
    return Registry.merge([processMetrics(), this.#registry]).metrics();
  }

  /** Concurrent callers share one reading. */
  readonly #readAll = sharedReading(0, async (gateway: Gateway): Promise<void> => {
    const totals = await gateway.statistics.totals();
    await Promise.all(gateway.fleet.kinds.names.map((kind) => this.#readQueue(gateway, kind)));
    await this.#readPipelineQueues(gateway);
    await Promise.all([this.#readCosts(gateway), this.#readWorkers(gateway), this.#readRedis(gateway)]);
    const expected = expectedTotals(gateway.fleet.kinds.names).map((field) => [field, 0] as const);
    const counted = new Map([...expected, ...totals]);
    for (const total of this.#totals) total.set(counted);
    this.#durations.set(gateway.fleet.kinds.names, totals);
  });

  async #readWorkers({ fleet }: Gateway): Promise<void> {
    const reports = await readWorkerReports(fleet.client, fleet.prefix);
    this.#workerLag.reset();
    this.#workerMemory.reset();
    for (const [worker, { eventLoopLagSeconds, residentBytes }] of reports) {
      this.#workerLag.set({ worker }, eventLoopLagSeconds);
      this.#workerMemory.set({ worker }, residentBytes);
    }
  }

  async #readRedis({ fleet }: Gateway): Promise<void> {
    const { used, limit } = await readRedisMemory(fleet.client);
    this.#redisUsed.set(used);
    if (limit === undefined) this.#redisLimit.remove();
    else this.#redisLimit.set(limit);
    const room = await fleet.memory.room();
    if (Number.isFinite(room)) this.#redisRoom.set(room);
    else this.#redisRoom.remove();
  }

  async #readCosts({ fleet, costs }: Gateway): Promise<void> {
    const [today, blocked, { queued, sent, batches }] = await Promise.all([
      costs.today(fleet),
      costs.blockedModels(fleet),
      costs.batchedCalls(fleet),
    ]);
    this.#spend.set({ state: 'spent' }, today.spentUsd);
    this.#spend.set({ state: 'in-doubt' }, today.inDoubtUsd);
    this.#spend.set({ state: 'reserved' }, today.reservedUsd);
    if (today.budgetUsd === null) this.#budget.remove();
    else this.#budget.set(today.budgetUsd);
    this.#underWay.set(today.callsUnderWay);
    this.#input.set({ cache: 'uncached' }, today.inputTokens);
    this.#input.set({ cache: 'read' }, today.cacheReadTokens);
    this.#input.set({ cache: 'write' }, today.cacheWriteTokens);
    this.#inDoubt.set(today.callsInDoubt);
    this.#inBatches.set({ state: 'queued' }, queued);
    this.#inBatches.set({ state: 'sent' }, sent);
    this.#batches.set(batches);
    this.#reusedCalls.set(today.reusedCalls);
    this.#reusedUsd.set(today.reusedUsd);
    this.#outcomes.reset();
    for (const [outcome, count] of Object.entries(today.outcomes)) this.#outcomes.set({ outcome }, count);
    this.#blocked.reset();
    for (const { model, why, seconds } of blocked) this.#blocked.set({ model, why }, seconds);
  }

  async #readQueue({ fleet }: Gateway, kind: string): Promise<void> {
    const [depth, workers, dead] = await Promise.all([
      readDepth(fleet, kind),
      fleet.queue(kind).getWorkersCount(),
      countDeadLetters(fleet, kind),
    ]);
    for (const [state, count] of statesOf(depth)) this.#depth.set({ kind, state }, count);
    this.#load.set({ kind }, depth.load);
    this.#oldest.set({ kind }, depth.oldestSeconds ?? 0);
    this.#workers.set({ kind }, workers);
    this.#dead.set({ kind }, dead);
  }

  /** A queue without jobs is not remembered, so its samples end. */
  async #readPipelineQueues({ fleet }: Gateway): Promise<void> {
    const [queues, served] = await Promise.all([
      readPipelineDepths(fleet),
      servedQueues(fleet.client, fleet.prefix),
    ]);
    const dead = await Promise.all(queues.map(({ queue }) => countDeadLetters(fleet, queue)));
    const gauges = [this.#pipelineDepth, this.#pipelineOldest, this.#pipelineServed, this.#pipelineDead];
    for (const gauge of gauges) gauge.reset();
    for (const [at, { queue, depth }] of queues.entries()) {
      for (const [state, count] of statesOf(depth)) this.#pipelineDepth.set({ queue, state }, count);
      this.#pipelineOldest.set({ queue }, depth.oldestSeconds ?? 0);
      this.#pipelineDead.set({ queue }, dead[at] ?? 0);
      if (served !== undefined) this.#pipelineServed.set({ queue }, served.has(queue) ? 1 : 0);
    }
  }
}

function statesOf(depth: Depth): [state: string, count: number][] {
  return [
    ['waiting', depth.waiting],
    ['delayed', depth.delayed],
    ['waiting-children', depth.waitingChildren],
    ['active', depth.active],
    ['failed', depth.failed],
    ['completed', depth.completed],
  ];
}

interface TotalCounter {
  set(totals: ReadonlyMap<string, number>): void;
}

/** Counters whose values are in the totals: the first part of a field names the counter, the other parts are its labels. */
function totalCounters(registry: Registry): TotalCounter[] {
  const counter = (part: string, name: string, help: string, labelNames: string[]): TotalCounter => {
    const metric = new Counter({ name, help, labelNames, registers: [registry] });
    return {
      set: (totals) => {
        metric.reset();
        for (const [field, value] of totals) {
          const [first, ...labels] = field.split('|');
          if (first !== part) continue;
          metric.inc(
            Object.fromEntries(labelNames.map((label, index) => [label, labels[index] ?? ''])),
            value,
          );
        }
      },
    };
  };
  return [
    counter(
      'jobs',
      'fleet_jobs_total',
      'Jobs that ended, by outcome; reason is the error code of failed ones.',
      ['kind', 'outcome', 'reason'],
    ),
    counter(
      'calls',
      'fleet_agent_calls_total',
      'Agent calls of ended jobs: sent, or reused from an earlier attempt or another job.',
      ['kind', 'source'],
    ),
    counter('tokens', 'fleet_agent_tokens_total', 'Tokens of agent calls; cache-read are cache hits.', [
      'kind',
      'type',
    ]),
    counter('cost', 'fleet_agent_cost_usd_total', 'Cost of agent calls in US dollars, as far as priced.', [
      'kind',
    ]),
    counter(
      'audits',
      'fleet_audits_total',
      'Scripts that static analysis was certain of and the agent was asked about for comparison.',
      ['kind'],
    ),
    counter(
      'disagreements',
      'fleet_audit_disagreements_total',
      'Those of which the agent said something else.',
      ['kind', 'analysis', 'agent'],
    ),
    counter('unpriced', 'fleet_agent_unpriced_jobs_total', 'Jobs whose cost is not known.', ['kind']),
  ];
}
