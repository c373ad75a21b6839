import { pino } from 'pino';
import { FleetWorker } from '../../src/fleet/worker.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { BareBullmq } from '../harness/bare-bullmq.js';
import { CLEAN, instantRunner } from '../harness/instant-runner.js';
import type { BenchRow, RowContext } from '../harness/row.js';
import { median, timed } from '../harness/statistics.js';

const SCRIPT = 'a = fit(all)\nprint(a)\n';
const LEAKY = { answers: [{ leakage_status: 'Yes Data Leakage', code_block: 'a = fit(all)' }] };

async function fleetLatencies(context: RowContext, structured: unknown, count: number): Promise<number[]> {
  const prefix = context.prefix();
  const runner = instantRunner({ structured, text: '```python\na = fit(train)\n```' });
  const worker = await FleetWorker.start({
    redisUrl: context.redis.url,
    prefix,
    runner,
    logger: pino({ level: 'silent' }),
    kinds: ['solution-check'],
    concurrency: 1,
    lockMs: 30_000,
  });
  const fleet = await FleetClient.open({ redisUrl: context.redis.url, prefix });
  const one = async () => (await addSolutionCheck(fleet, { solution: { content: SCRIPT } })).result();
  await one();
  const latencies: number[] = [];
  for (let index = 0; index < count; index += 1) latencies.push(await timed(one));
  await worker.stop(1_000);
  await fleet.close();
  return latencies;
}

async function bareLatencies(context: RowContext, count: number): Promise<number[]> {
  const bare = new BareBullmq(context.redis.url, context.prefix());
  bare.worker(1);
  const events = await bare.events();
  const one = async () => (await bare.queue.add('job', {})).waitUntilFinished(events);
  await one();
  const latencies: number[] = [];
  for (let index = 0; index < count; index += 1) latencies.push(await timed(one));
  await bare.close();
  return latencies;
}

function row(name: string, structured: unknown, atMost: number): BenchRow {
  return {
    name,
    work: 'one solution-check from submit to result, agent of 0 ms, idle fleet',
    against: 'bare BullMQ add → result by events',
    target: { atMost },
    runs: 9,
    run: async (context) => {
      const count = context.short ? 50 : 300;
      const series = {
        fleet: await fleetLatencies(context, structured, count),
        bare: await bareLatencies(context, count),
      };
      const [fleet, bare] = [median(series.fleet), median(series.bare)];
      return {
        ratio: fleet / bare,
        details: { fleet: `${fleet.toFixed(2)} ms`, bare: `${bare.toFixed(2)} ms` },
        series,
      };
    },
  };
}

export const latencyClean = row('latency clean', CLEAN, 2.5);
export const latencyCorrected = row('latency corrected', LEAKY, 4.5);
