import { afterEach, describe, expect, it } from 'vitest';
import { retryAfter } from '../../src/gateway/admission/admission.js';
import { minuteOf } from '../../src/gateway/metrics/statistics-keys.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { statisticsKeys } from '../../src/queues/redis-keys.js';
import { redisOfFile } from '../support/redis.js';
import { startTestGateway, type TestGateway } from './gateway-fixture.js';

const SUBMIT = '/v1/jobs/solution-check';
const CHECK = { payload: { solution: { content: 'x = 1\n' } } };

const redis = redisOfFile();
let gateway: TestGateway;
let fleet: FleetClient;
let count = 0;

afterEach(async () => {
  await gateway.close();
  await fleet.close();
});

async function start(maxWaiting: number): Promise<void> {
  count += 1;
  const prefix = `pressure-${count}`;
  fleet = await FleetClient.open({ redisUrl: redis.url, prefix, waitForSlow: true });
  gateway = await startTestGateway(redis, prefix, { maxWaiting });
}

async function unstarted(): Promise<number> {
  return fleet
    .queue('solution-check')
    .getJobCountByTypes('wait', 'prioritized', 'delayed', 'waiting-children');
}

describe('back-pressure', () => {
  it('past the limit of a kind answers 429, and other kinds go on', async () => {
    await start(3);
    for (let job = 0; job < 3; job += 1) expect((await gateway.send('POST', SUBMIT, CHECK)).status).toBe(202);
    const refused = await gateway.send('POST', SUBMIT, CHECK);
    expect([refused.status, refused.json.code]).toEqual([429, 'too-many-waiting']);
    // Nothing has been worked off, so nothing is known of how fast that goes.
    expect(refused.headers.get('retry-after')).toBe('60');
    const other = { payload: { ablationCode: 'x', rawOutput: '' } };
    expect((await gateway.send('POST', '/v1/jobs/summarize', other)).status).toBe(202);
  });

  it('counts delayed jobs too, and takes new ones once there is room', async () => {
    await start(2);
    await gateway.send('POST', SUBMIT, { ...CHECK, delayMs: 3_600_000 });
    const { json } = await gateway.send('POST', SUBMIT, CHECK);
    expect((await gateway.send('POST', SUBMIT, CHECK)).status).toBe(429);
    await (await fleet.queue('solution-check').getJob(json.id))?.remove();
    await expect.poll(async () => (await gateway.send('POST', SUBMIT, CHECK)).status).toBe(202);
  });

  it('holds under 80 requests at once: nothing beyond the limit is queued', async () => {
    await start(50);
    const answers = await Promise.all(Array.from({ length: 80 }, () => gateway.send('POST', SUBMIT, CHECK)));
    expect(answers.filter(({ status }) => status === 202).length).toBe(50);
    expect(answers.filter(({ status }) => status === 429).length).toBe(30);
    expect(await unstarted()).toBe(50);
  });

  it('refuses a batch item by item, and a flow as a whole', async () => {
    await start(2);
    const jobs = Array.from({ length: 4 }, () => ({ kind: 'solution-check', ...CHECK }));
    const { json } = await gateway.send('POST', '/v1/jobs:batch', { jobs });
    expect(json.jobs.map((job: { error?: { code: string } }) => job.error?.code)).toEqual([
      undefined,
      undefined,
      'too-many-waiting',
      'too-many-waiting',
    ]);
    const candidates = [{ solution: { content: 'x' } }];
    const flow = await gateway.send('POST', '/v1/flows/candidate-batch', {
      candidates,
      evaluation: { queue: 'q', name: 'n' },
    });
    expect(flow.status).toBe(429);
    expect(await fleet.queue('q').getJobCountByTypes('waiting-children')).toBe(0);
  });

  it('what was let in and then refused for another reason gives its place back', async () => {
    await start(2);
    const keyed = (content: string) => ({ payload: { solution: { content } }, key: 'k' });
    await gateway.send('POST', SUBMIT, keyed('x'));
    for (let attempt = 0; attempt < 5; attempt += 1) {
      expect((await gateway.send('POST', SUBMIT, keyed('y'))).status).toBe(409);
      const step = {
        ablationCode: 'x',
        rawOutput: '',
        solution: { content: 'x' },
        previousBlocks: [],
        key: 's',
      };
      await gateway.send('POST', '/v1/flows/refinement', { ...step, rawOutput: String(attempt) });
    }
    expect((await gateway.send('POST', SUBMIT, CHECK)).status).toBe(202);
    expect(
      (await gateway.send('POST', '/v1/jobs/summarize', { payload: { ablationCode: 'x', rawOutput: '' } }))
        .status,
    ).toBe(202);
  });

  it('Retry-After follows the measured drain rate', async () => {
    await start(1);
    await gateway.send('POST', SUBMIT, CHECK);
    // 120 jobs ended in the minute before last: one in a second, or somewhat less, since the present one is not over.
    const keys = statisticsKeys(fleet.prefix);
    await fleet.client.hset(keys.minute('solution-check', minuteOf(Date.now()) - 1), 'completed', 120);
    const refused = await gateway.send('POST', SUBMIT, CHECK);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('1');
  });

  it.each([
    [10, 2, 5],
    [1, 100, 1],
    [3, 2, 2],
    [1_000_000, 0.1, 3_600],
    [5, 0, 60],
  ])('%i jobs at %d a second have ended after %i seconds', (jobs, rate, seconds) => {
    expect(retryAfter(jobs, rate)).toBe(seconds);
  });
});
