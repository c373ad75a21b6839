import { addJobs } from '../../src/producers/add-jobs.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { BareBullmq } from '../harness/bare-bullmq.js';
import type { BenchRow } from '../harness/row.js';
import { timed } from '../harness/statistics.js';

const PAYLOAD = { solution: { content: 'print(1)\n' } };

export const ingest: BenchRow = {
  name: 'ingest',
  work: "10,000 jobs through a producer's batch",
  against: 'raw addBulk',
  target: { atLeast: 0.7 },
  runs: 9,
  run: async (context) => {
    const count = context.short ? 1_000 : 10_000;
    const fleet = await FleetClient.open({ redisUrl: context.redis.url, prefix: context.prefix() });
    const bare = new BareBullmq(context.redis.url, context.prefix());
    await bare.queue.add('warm', PAYLOAD);
    await addJobs(fleet, [{ kind: 'solution-check', payload: PAYLOAD }]);
    const items = Array.from({ length: count }, () => ({
      kind: 'solution-check' as const,
      payload: PAYLOAD,
    }));
    const ours = await timed(() => addJobs(fleet, items));
    const theirs = await timed(() => bare.queue.addBulk(items.map(() => ({ name: 'job', data: PAYLOAD }))));
    await fleet.close();
    await bare.close();
    return {
      ratio: theirs / ours,
      details: {
        fleet: `${Math.round((count / ours) * 1_000)}/s`,
        bare: `${Math.round((count / theirs) * 1_000)}/s`,
      },
    };
  },
};
