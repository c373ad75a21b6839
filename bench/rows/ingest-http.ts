import { startFleetCommand } from '../../test/support/fleet-command.js';
import { BareBullmq } from '../harness/bare-bullmq.js';
import { endWithBench } from '../harness/end-with-bench.js';
import { CHECK_PAYLOAD } from '../harness/fill.js';
import type { BenchRow } from '../harness/row.js';
import { timed } from '../harness/statistics.js';

const JOBS = 10_000;

/** Posts a batch and makes sure that every job of it was taken. */
async function postBatch(url: string, body: string, count: number): Promise<void> {
  const response = await fetch(`${url}/v1/jobs:batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const { jobs } = (await response.json()) as { readonly jobs?: readonly object[] };
  const taken = jobs?.filter((job) => !('error' in job)).length ?? 0;
  if (taken !== count) throw new Error(`the gateway took ${taken} of ${count} jobs (${response.status})`);
}

export const ingestHttp: BenchRow = {
  name: 'ingest http',
  work: `${JOBS.toLocaleString('en')} jobs through POST /v1/jobs:batch of a gateway process`,
  against: 'raw addBulk',
  target: { atLeast: 0.5 },
  runs: 9,
  run: async (context) => {
    const count = context.short ? 2_000 : JOBS;
    const gateway = startFleetCommand(['serve', '--port', '0'], {
      env: {
        FLEET_REDIS_URL: context.redis.url,
        FLEET_PREFIX: context.prefix(),
        FLEET_LOG_LEVEL: 'info',
      },
    });
    endWithBench(gateway.child);
    await gateway.printed('listening on ');
    const url = /listening on (\S+)/.exec(gateway.lines.join('\n'))?.[1] ?? '';
    const bare = new BareBullmq(context.redis.url, context.prefix());
    const batch = (length: number) =>
      JSON.stringify({
        jobs: Array.from({ length }, () => ({ kind: 'solution-check', payload: CHECK_PAYLOAD })),
      });
    // Both sides are warm: the gateway has served requests, the queue is connected.
    await postBatch(url, batch(1_000), 1_000);
    await bare.queue.addBulk(Array.from({ length: 1_000 }, () => ({ name: 'warm', data: CHECK_PAYLOAD })));
    const ours = await timed(() => postBatch(url, batch(count), count));
    const theirs = await timed(() =>
      bare.queue.addBulk(Array.from({ length: count }, () => ({ name: 'job', data: CHECK_PAYLOAD }))),
    );
    await gateway.end('SIGKILL');
    await bare.close();
    return {
      ratio: theirs / ours,
      details: {
        gateway: `${Math.round((count / ours) * 1_000)}/s`,
        bare: `${Math.round((count / theirs) * 1_000)}/s`,
      },
    };
  },
};
