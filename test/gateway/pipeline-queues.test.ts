import { beforeEach, describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import {
  countQueues,
  forgetEmptyQueues,
  MAX_QUEUES,
  MAX_QUEUES_PER_TOKEN,
  rememberedQueues,
  rememberQueue,
} from '../../src/queues/pipeline-queues.js';
import type { TestFleet } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';
import { gatewayOfTest, startTestGateway, type TestGateway } from './gateway-fixture.js';

const redis = redisOfFile();
let test: TestFleet;
let gateway: TestGateway;

beforeEach(async () => {
  ({ test, gateway } = await gatewayOfTest(redis, 'queues'));
});

const submit = (queue: string, to = gateway) =>
  to.send('POST', '/v1/flows/guarded-evaluation', {
    solution: { content: 'x = 1\n' },
    evaluation: { queue, name: 'score' },
  });
/** A loop with the script of the job that it follows. */
const loopIn = (newBlock: string, evaluation: string) => ({
  solution: { content: 'x = 1\n' },
  score: 1,
  direction: 'higher',
  ablationCode: 'x = 2\n',
  rawOutput: '',
  previousBlocks: [],
  rounds: 1,
  newBlock: { queue: newBlock },
  evaluation: { queue: evaluation },
});
const names = () => rememberedQueues(test.fleet.client, test.fleet.prefix);

describe('queues of a pipeline', () => {
  it('are not remembered for a submission that is refused, whatever refuses it', async () => {
    const full = await startTestGateway(redis, test.fleet.prefix, { maxWaiting: 0 });
    try {
      expect((await submit('a', full)).status).toBe(429);
    } finally {
      await full.close();
    }
    const odd = { solution: { content: 'x' }, evaluation: { queue: 'b', name: 'n' } };
    for (const [status, body] of [
      [422, { ...odd, model: 'another' }],
      [422, { ...odd, workspace: '/' }],
      [422, { ...odd, solution: { content: '' } }],
      [413, { ...odd, solution: { content: 'x'.repeat(2 ** 20 + 1) } }],
      [422, { ...odd, evaluation: { ...odd.evaluation, data: { solutionFleet: 1 } } }],
    ] as const) {
      expect((await gateway.send('POST', '/v1/flows/guarded-evaluation', body)).status).toBe(status);
    }
    expect(await names()).toEqual([]);
  });

  it('are at most so many of one token, and so many in all; known ones are taken all the same', async () => {
    const { client, prefix } = test.fleet;
    for (let at = 0; at < MAX_QUEUES_PER_TOKEN - 1; at += 1) {
      await rememberQueue(client, prefix, `own-${at}`, 'anyone');
    }
    const together = ['x', 'y', 'z', 'x'];
    const answers = await Promise.all(together.map((queue) => submit(queue)));
    const taken = together.filter((_, at) => answers[at]?.status === 202);
    expect(new Set(taken).size).toBe(1);
    const { json, status } = await submit('one-more');
    expect([status, json.field]).toEqual([422, 'evaluation.queue']);
    const followed = {
      solution: { content: 'x = 1\n' },
      then: [{ kind: 'refinement-loop', payload: loopIn('one-more', 'own-0') }],
    };
    const field = 'payload.then[0].payload.newBlock.queue';
    expect((await gateway.send('POST', '/v1/jobs/solution-check', { payload: followed })).json.field).toBe(
      field,
    );
    const batch = { jobs: [{ kind: 'solution-check', payload: followed }] };
    expect((await gateway.send('POST', '/v1/jobs:batch', batch)).json.jobs[0].error.field).toBe(field);
    expect((await submit('own-0')).status).toBe(202);
    for (let at = 0; at < MAX_QUEUES; at += 1) await rememberQueue(client, prefix, `other-${at}`, 'b');
    expect((await countQueues(client, prefix, 'c')).ofOwner).toBe(0);
    expect((await submit('another')).json.detail).toContain(`${MAX_QUEUES} queues`);
  });

  it('are forgotten without a trace when they are empty, and come again with their next job', async () => {
    await test.worker(createOfflineRunner());
    const { client, prefix } = test.fleet;
    const { json } = await submit('night-12');
    expect(await names()).toEqual(['night-12']);
    expect(await forgetEmptyQueues(client, prefix)).toEqual([]);
    const { json: claim } = await gateway.send('POST', '/v1/evaluations/claim?wait=20s', {
      queue: 'night-12',
    });
    const ref = { queue: claim.queue, id: claim.id, lease: claim.lease };
    await gateway.send('POST', '/v1/evaluations/complete', { ...ref, result: 1 });
    expect(await forgetEmptyQueues(client, prefix)).toEqual([]);
    await (await test.fleet.queue('night-12').getJob(json.evaluation.id))?.remove();
    // It looks for expired leases, by a record that expires by itself.
    await client.del(`${prefix}:night-12:stalled-check`);
    expect(await forgetEmptyQueues(client, prefix)).toEqual(['night-12']);
    expect(await client.keys(`${prefix}:night-12:*`)).toEqual([]);
    expect(await client.keys(`${prefix}::queue*`)).toEqual([]);
    expect((await gateway.send('POST', '/v1/evaluations/claim', { queue: 'night-12' })).status).toBe(204);
    expect((await submit('night-12')).status).toBe(202);
    expect(await names()).toEqual(['night-12']);
  });

  it('that somebody paused stay paused when they are forgotten', async () => {
    const { client, prefix } = test.fleet;
    await rememberQueue(client, prefix, 'paused', 'a');
    await test.fleet.queue('paused').pause();
    expect(await forgetEmptyQueues(client, prefix)).toEqual(['paused']);
    expect(await test.fleet.queue('paused').isPaused()).toBe(true);
  });
});
