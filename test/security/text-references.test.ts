import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { referencesIn } from '../../src/payloads/text-reference.js';
import { getDeadLetter } from '../../src/producers/dead-letters.js';
import { addGuardedEvaluation } from '../../src/producers/flows/guarded-evaluation.js';
import { waitForJob } from '../../src/producers/wait-for-job.js';
import { payloadKey } from '../../src/queues/redis-keys.js';
import { gatewayOfTest, type TestGateway } from '../gateway/gateway-fixture.js';
import { startPipelineWorker } from '../support/evaluation-worker.js';
import type { TestFleet } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';

const SECRET = `secret = 'of another tenant'\ntext = '${'x'.repeat(100_000)}'\n`;
const CLEAN = 'x = 1\nprint(x)\n';

const redis = redisOfFile();
let test: TestFleet;
let gateway: TestGateway;
/** A reference to the text of another job, which anyone with its digest can write. */
let reference: { 'fleet:text': string; bytes: number };
let victim: string;

beforeEach(async () => {
  ({ test, gateway } = await gatewayOfTest(redis, 'references'));
  const { json } = await gateway.send('POST', '/v1/jobs/solution-check', {
    payload: { solution: { content: SECRET } },
    delayMs: 3_600_000,
  });
  victim = json.id;
  const digest = createHash('sha256').update('utf8\0').update(SECRET).digest('hex');
  reference = { 'fleet:text': digest, bytes: Buffer.byteLength(SECRET) };
  expect(await test.fleet.client.exists(payloadKey(test.fleet.prefix, digest))).toBe(1);
});

const post = (path: string, body: unknown) => gateway.send('POST', path, body);

async function claimed(data: Record<string, unknown> = {}) {
  await post('/v1/flows/guarded-evaluation', {
    solution: { content: CLEAN },
    evaluation: { queue: 'evaluate', name: 'score', data },
  });
  const { json } = await post('/v1/evaluations/claim?wait=20s', { queue: 'evaluate' });
  return json;
}

const refOf = ({ queue, id, lease }: Record<string, string>) => ({ queue, id, lease });

describe('data in the form of a reference to a stored text', () => {
  it('come back as they were sent: the data and the result of an evaluation', async () => {
    await test.worker(createOfflineRunner());
    const result = { many: Array.from({ length: 500 }, () => reference), one: reference };
    const data = { stolen: reference, deep: [[{ reference }]] };
    const claim = await claimed(data);
    expect(claim.data).toEqual(data);
    expect((await post('/v1/evaluations/complete', { ...refOf(claim), result })).status).toBe(204);
    const job = await gateway.send('GET', `/v1/jobs/${claim.id}`);
    expect(job.json.result).toEqual(result);
    expect(job.text.length).toBeLessThan(100_000);
    expect((await waitForJob(test.fleet, claim.id, {}, 'evaluate')).result).toEqual(result);
    const events = await gateway.send('GET', `/v1/jobs/${claim.id}/events`);
    expect(events.text).toContain(reference['fleet:text']);
    expect(events.text).not.toContain('of another tenant');
    expect(await gateway.send('GET', '/v1/jobs')).toMatchObject({ status: 200 });
  });

  it('come back as they were returned by a worker of the pipeline', async () => {
    await test.worker(createOfflineRunner());
    const evaluating = startPipelineWorker(redis, test.fleet, 'own', async () => ({ reference }));
    try {
      const { evaluation } = await addGuardedEvaluation(test.fleet, {
        solution: { content: CLEAN },
        evaluation: { queue: 'own', name: 'score', data: { reference } },
      });
      expect(await evaluation.returned()).toEqual({ reference });
      expect((await evaluation.view()).result).toEqual({ reference });
    } finally {
      await evaluating.close();
    }
  });

  it('are another payload than the text that they name', async () => {
    const evaluation = { queue: 'own', name: 'score', data: { text: SECRET.slice(0, 40_000) } };
    const text = evaluation.data.text;
    const digest = createHash('sha256').update('utf8\0').update(text).digest('hex');
    const body = { solution: { content: CLEAN }, key: 'k' };
    expect((await post('/v1/flows/guarded-evaluation', { ...body, evaluation })).status).toBe(202);
    const forged = { ...evaluation, data: { text: { 'fleet:text': digest, bytes: text.length } } };
    const again = await post('/v1/flows/guarded-evaluation', { ...body, evaluation: forged });
    expect([again.status, again.json.code]).toEqual([409, 'key-conflict']);
  });

  it('are not a text if the contract requires one', async () => {
    for (const [kind, payload, field] of [
      ['solution-check', { solution: { content: reference } }, 'payload.solution.content'],
      ['solution-check', { solution: reference }, 'payload.solution.content'],
      ['summarize', { ablationCode: 'x', rawOutput: reference }, 'payload.rawOutput'],
      [
        'extract',
        { solution: { content: 'x' }, summary: 's', previousBlocks: [reference] },
        'payload.previousBlocks[0]',
      ],
      ['summarize', { ablationCode: 'x', rawOutput: 'y', tags: reference }, 'payload.tags.bytes'],
    ] as const) {
      const { status, json } = await post(`/v1/jobs/${kind}`, { payload });
      expect([status, json.field]).toEqual([422, field]);
    }
  });

  it('are rejected by the worker in a job that was added without the producers', async () => {
    await test.worker(createOfflineRunner());
    const queue = test.fleet.queue('solution-check');
    const id = 'solution-check-00000000-0000-4000-8000-000000000001';
    await queue.add('solution-check', { v: 1, solution: { content: reference } }, { jobId: id });
    const view = await waitForJob(test.fleet, id);
    expect(view.error).toMatchObject({ code: 'invalid-payload' });
    expect(JSON.stringify(await getDeadLetter(test.fleet, id))).not.toContain('of another tenant');
    expect((await gateway.send('GET', `/v1/dead-letters/${id}`)).json.payload.solution.content).toEqual(
      reference,
    );
  });

  it('added or changed on the board name no text of another job', async () => {
    await test.worker(createOfflineRunner());
    const board = '/board/api/queues/solution-check';
    const added = await post(`${board}/add`, {
      name: 'solution-check',
      data: { solution: { content: reference } },
    });
    const shown = await gateway.send('GET', '/board/api/queues?activeQueue=solution-check&status=latest');
    expect(added.status).toBeLessThan(500);
    expect(shown.text).not.toContain('of another tenant');
  });
});

describe('labels in the data of a job of a pipeline', () => {
  it('that can be no name of a run name none, and are shown as none', async () => {
    await test.worker(createOfflineRunner());
    const runs = `${test.fleet.prefix}::run`;
    for (const tags of [
      { run: '\ud800' },
      { run: 'x'.repeat(5_000) },
      { run: '\0' },
      { run: 5 },
      'text',
      null,
    ]) {
      const claim = await claimed({ tags });
      const { status, json } = await gateway.send('GET', `/v1/jobs/${claim.id}`);
      expect([status, json.tags]).toEqual([200, {}]);
      await post('/v1/evaluations/complete', { ...refOf(claim), result: 1 });
    }
    expect(await test.fleet.client.keys(`${runs}*`)).toEqual([]);
  });
});

describe('stored texts that cannot be read', () => {
  it('are reported in the view of a completed job, and nothing else fails', async () => {
    await test.worker(createOfflineRunner());
    const { json } = await post('/v1/jobs/solution-check?wait=30s', {
      payload: { solution: { content: SECRET } },
    });
    expect(json.result.solution.content).toBe(SECRET);
    const key = `${test.fleet.prefix}:solution-check:${json.id}`;
    const [digest = ''] = referencesIn(JSON.parse((await test.fleet.client.hget(key, 'returnvalue')) ?? ''));
    await test.fleet.client.del(payloadKey(test.fleet.prefix, digest));
    for (const query of ['', '?wait=1s']) {
      const view = await gateway.send('GET', `/v1/jobs/${json.id}${query}`);
      expect([view.status, view.json.state, view.json.error.code]).toEqual([
        200,
        'completed',
        'payload-missing',
      ]);
      expect(view.json.result).toBeUndefined();
    }
    const events = await gateway.send('GET', `/v1/jobs/${json.id}/events`);
    expect(events.text).toContain('payload-missing');
    expect((await gateway.send('GET', '/v1/jobs')).status).toBe(200);
    await gateway.send('DELETE', `/v1/jobs/${victim}`);
    await test.fleet.client.del(key);
    await test.fleet.queue('solution-check').obliterate({ force: true });
  });
});

describe('a reason of a failure in the words of BullMQ for a failed child', () => {
  it('is not followed to a job that is no child, nor to itself', async () => {
    await test.worker(createOfflineRunner());
    const { prefix } = test.fleet;
    for (const key of [`${prefix}:solution-check:${victim}`, `${prefix}:evaluate:events`, 'ITSELF']) {
      const claim = await claimed();
      const message = `child ${key === 'ITSELF' ? `${prefix}:evaluate:${claim.id}` : key} failed`;
      await post('/v1/evaluations/fail', { ...refOf(claim), message, retryable: false });
      const { status, json } = await gateway.send('GET', `/v1/jobs/${claim.id}`);
      expect([status, json.error]).toMatchObject([200, { code: 'job-failed', message }]);
    }
  });

  it('says the code of the pipeline, not one of the fleet', async () => {
    await test.worker(createOfflineRunner());
    const claim = await claimed();
    const message = '[payload-missing] not really';
    await post('/v1/evaluations/fail', { ...refOf(claim), message, retryable: false });
    expect((await gateway.send('GET', `/v1/jobs/${claim.id}`)).json.error).toMatchObject({
      code: 'job-failed',
      message,
    });
  });
});
