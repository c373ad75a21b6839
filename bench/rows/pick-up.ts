import { performance } from 'node:perf_hooks';
import { QueueEvents } from 'bullmq';
import type { AgentRunner } from '../../src/agents/agent-runner.js';
import { addJobs } from '../../src/producers/add-jobs.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { workerConnection } from '../../src/queues/connection.js';
import { NO_USAGE } from '../../src/queues/usage.js';
import { BareBullmq } from '../harness/bare-bullmq.js';
import { startBenchFleet } from '../harness/bench-fleet.js';
import type { RowContext, RowGroup, RowHead, Sample } from '../harness/row.js';
import { percentile } from '../harness/statistics.js';

const CROWD = 1_000;
/** Other tenants, in the order in which their jobs of one round start. */
const TENANTS = ['north', 'east', 'south', 'west'] as const;
const BLOCKING_TENANT = 'west';

/** When each job started, by the event that Redis writes when a worker takes it: the same clock for both sides. */
class Starts {
  readonly #started = new Map<string, number>();
  readonly #waiting = new Map<string, (at: number) => void>();

  constructor(readonly events: QueueEvents) {
    events.on('active', ({ jobId }) => {
      const now = performance.now();
      this.#started.set(jobId, now);
      this.#waiting.get(jobId)?.(now);
    });
  }

  static async of({ redis }: RowContext, prefix: string, queue: string): Promise<Starts> {
    const events = new QueueEvents(queue, { connection: workerConnection(redis.url), prefix });
    await events.waitUntilReady();
    return new Starts(events);
  }

  at(id: string): Promise<number> {
    const known = this.#started.get(id);
    return known === undefined
      ? new Promise((resolve) => this.#waiting.set(id, resolve))
      : Promise.resolve(known);
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function fleetIdle(context: RowContext, count: number): Promise<number[]> {
  const answers: AgentRunner = { name: 'offline', ask: answering(async () => undefined) };
  const bench = await startBenchFleet(context, {
    runner: answers,
    kinds: ['solution-check'],
    concurrency: 10,
  });
  const starts = await Starts.of(context, bench.fleet.prefix, 'solution-check');
  const times: number[] = [];
  for (let index = 0; index < count + 5; index += 1) {
    const added = performance.now();
    const job = await addSolutionCheck(bench.fleet, { solution: { content: `print(${index})\n` } });
    times.push((await starts.at(job.id)) - added);
    await job.result();
    // The fleet must be idle and waiting, not just done with the last job.
    await pause(2);
  }
  await starts.events.close();
  await bench.close();
  return times.slice(5);
}

async function bareIdle(context: RowContext, count: number): Promise<number[]> {
  const prefix = context.prefix();
  const bare = new BareBullmq(context.redis.url, prefix);
  const worker = bare.worker(10);
  await worker.waitUntilReady();
  const starts = await Starts.of(context, prefix, bare.queue.name);
  const times: number[] = [];
  for (let index = 0; index < count + 5; index += 1) {
    const ended = new Promise((resolve) => worker.once('completed', resolve));
    const added = performance.now();
    const job = await bare.queue.add('job', { solution: { content: `print(${index})\n` } });
    times.push((await starts.at(job.id ?? '')) - added);
    await ended;
    await pause(2);
  }
  await starts.events.close();
  await bare.close();
  return times.slice(5);
}

/** A runner that answers "clean" once `until` resolves for the script's text. */
function answering(until: (code: string) => Promise<unknown>): AgentRunner['ask'] {
  const output = { answers: [{ leakage_status: 'No Data Leakage', code_block: '' }] };
  const ask = async ({ variables }: { variables: Readonly<Record<string, unknown>> }) => {
    await until(String(variables.code));
    return { output, usage: NO_USAGE };
  };
  return ask as unknown as AgentRunner['ask'];
}

/**
 * One slot, a thousand jobs of other tenants waiting, and a new tenant's job: how long after the slot comes free does it
 * start? The last job of a round uses the slot, so that the new tenant's job is the next one.
 */
async function fleetCrowded(context: RowContext, count: number): Promise<number[]> {
  let arrived: (() => void) | undefined;
  let release: (() => void) | undefined;
  const hold = async (code: string) => {
    if (!code.includes(BLOCKING_TENANT)) return;
    await new Promise<void>((resolve) => {
      release = resolve;
      arrived?.();
    });
  };
  const bench = await startBenchFleet(context, {
    runner: { name: 'offline', ask: answering(hold) },
    kinds: ['solution-check'],
    concurrency: 1,
  });
  const { fleet } = bench;
  const round = (number: number) =>
    TENANTS.map((tenant) => ({
      kind: 'solution-check' as const,
      payload: { solution: { content: `print("${tenant}", ${number})\n` } },
      options: { tenant },
    }));
  const nextArrival = () =>
    new Promise<void>((resolve) => {
      arrived = resolve;
    });
  let holding = nextArrival();
  const starts = await Starts.of(context, fleet.prefix, 'solution-check');
  await addJobs(fleet, Array.from({ length: CROWD / TENANTS.length }, (_, number) => round(number)).flat());
  const times: number[] = [];
  for (let index = 0; index < count + 5; index += 1) {
    await holding;
    const payload = { solution: { content: `print(${index})\n` } };
    const job = await addSolutionCheck(fleet, payload, { tenant: 'new' });
    // As many more as have ended.
    await addJobs(fleet, round(CROWD + index));
    holding = nextArrival();
    const free = performance.now();
    release?.();
    times.push((await starts.at(job.id)) - free);
  }
  await holding;
  const stopped = bench.close();
  // Jobs that wait for `release` when the worker stops must end, and those that it takes meanwhile.
  const releaseTimer = setInterval(() => release?.(), 10);
  await stopped;
  clearInterval(releaseTimer);
  await starts.events.close();
  return times.slice(5);
}

const P50 = { atMost: 1.3 } as const;
const P99 = { atMost: 1.5 } as const;
const PEER = 'bare BullMQ worker that is idle: added → started';
const row = (name: string, work: string, target: RowHead['target']): RowHead => ({
  name,
  work,
  against: PEER,
  target,
});
const CROWDED = `a slot comes free → a new tenant's job started, ${CROWD.toLocaleString('en')} jobs of other tenants waiting`;

/** Samples of p50 and p99, each with all its times. */
function samplesOf(ours: readonly number[], bare: readonly number[]): readonly [Sample, Sample] {
  const sample = (fraction: number): Sample => {
    const [a, b] = [percentile(ours, fraction), percentile(bare, fraction)];
    return {
      ratio: a / b,
      details: { fleet: `${a.toFixed(2)} ms`, bare: `${b.toFixed(2)} ms` },
      series: { fleet: ours, bare },
    };
  };
  return [sample(0.5), sample(0.99)];
}

export const pickUp: RowGroup = {
  rows: [
    row('pick-up idle p50', 'added → started, slots free, idle fleet, p50', P50),
    row('pick-up idle p99', 'the same, p99', P99),
    row('pick-up crowded p50', `${CROWDED}, p50`, P50),
    row('pick-up crowded p99', 'the same, p99', P99),
  ],
  shortSeconds: 5,
  measure: async (context) => {
    const count = context.short ? 60 : 400;
    const samples: [Sample[], Sample[], Sample[], Sample[]] = [[], [], [], []];
    for (let run = 0; run < (context.short ? 1 : 5); run += 1) {
      await context.redis.flush();
      const idle = await fleetIdle(context, count);
      const bare = await bareIdle(context, count);
      const crowded = await fleetCrowded(context, count);
      const found = [...samplesOf(idle, bare), ...samplesOf(crowded, bare)];
      for (const [index, sample] of found.entries()) samples[index]?.push(sample);
    }
    return Object.fromEntries(pickUp.rows.map(({ name }, index) => [name, samples[index] ?? []]));
  },
};
