import { Worker } from 'bullmq';
import { checkedSolution } from '../../src/producers/flows/checked-solution.js';
import { addGuardedEvaluation } from '../../src/producers/flows/guarded-evaluation.js';
import { addRefinementStep } from '../../src/producers/flows/refinement-step.js';
import { workerConnection } from '../../src/queues/connection.js';
import { BareBullmq } from '../harness/bare-bullmq.js';
import { type BenchFleet, startBenchFleet } from '../harness/bench-fleet.js';
import { CLEAN, instantRunner } from '../harness/instant-runner.js';
import type { BenchRow, RowContext } from '../harness/row.js';
import { median, timed } from '../harness/statistics.js';

const SCRIPT = 'a = 1\nprint(a)\n';
const PLANS = { plans: [{ code_block: 'a = 1', plan: 'Make it two.' }] };

async function repeated(count: number, once: () => Promise<unknown>): Promise<number> {
  await once();
  const times: number[] = [];
  for (let index = 0; index < count; index += 1) times.push(await timed(once));
  return median(times);
}

async function bareFlow(context: RowContext, count: number): Promise<number> {
  const bare = new BareBullmq(context.redis.url, context.prefix(), 'parent');
  bare.worker(1, 'parent');
  bare.worker(1, 'child');
  const events = await bare.events('parent');
  const flows = bare.flows();
  const ms = await repeated(count, async () => {
    const { job } = await flows.add({
      name: 'parent',
      queueName: 'parent',
      data: {},
      children: [{ name: 'child', queueName: 'child', data: {} }],
    });
    await job.waitUntilFinished(events);
  });
  await bare.close();
  return ms;
}

async function refinement(context: RowContext, count: number): Promise<number> {
  const bench = await startBenchFleet(context, {
    runner: instantRunner({ structured: PLANS, text: 'a matters' }),
    kinds: ['summarize', 'extract'],
    concurrency: 1,
  });
  const step = { ablationCode: 'x', rawOutput: 'a: 1', solution: { content: SCRIPT }, previousBlocks: [] };
  const ms = await repeated(count, async () => (await addRefinementStep(bench.fleet, step)).extract.result());
  await bench.close();
  return ms;
}

async function guardedEvaluation(context: RowContext, count: number): Promise<number> {
  const bench: BenchFleet = await startBenchFleet(context, {
    runner: instantRunner({ structured: CLEAN, text: '' }),
    kinds: ['solution-check'],
    concurrency: 1,
  });
  const evaluating = new Worker('evaluate', async (job) => (await checkedSolution(job)).status, {
    connection: workerConnection(context.redis.url),
    prefix: bench.fleet.prefix,
  });
  const request = { solution: { content: SCRIPT }, evaluation: { queue: 'evaluate', name: 'score' } };
  const ms = await repeated(count, async () =>
    (await addGuardedEvaluation(bench.fleet, request)).evaluation.returned(),
  );
  await evaluating.close();
  await bench.close();
  return ms;
}

function row(name: string, work: string, measure: typeof refinement): BenchRow {
  return {
    name,
    work,
    against: 'bare FlowProducer, parent and child',
    target: { atMost: 2.2 },
    runs: 9,
    run: async (context) => {
      const count = context.short ? 30 : 200;
      const fleet = await measure(context, count);
      const bare = await bareFlow(context, count);
      return {
        ratio: fleet / bare,
        details: { fleet: `${fleet.toFixed(2)} ms`, bare: `${bare.toFixed(2)} ms` },
      };
    },
  };
}

export const flowRefinement = row('flow refinement', 'one refinement step', refinement);
export const flowEvaluation = row('flow evaluation', 'one guarded evaluation', guardedEvaluation);
