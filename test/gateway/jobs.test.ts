import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { submitted } from '../../src/gateway/operations/job-resource.js';
import { JobHandle } from '../../src/producers/job-handle.js';
import { leaks, runnerFor } from '../support/agent-answers.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { errorReply, type MessagesApi, type Script, startMessagesApi } from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';
import { startTestGateway, type TestGateway } from './gateway-fixture.js';

const CHECK = { payload: { solution: { content: 'x = 1\n' } } };

const redis = redisOfFile();
let test: TestFleet;
let gateway: TestGateway;
let api: MessagesApi | undefined;
let count = 0;

beforeEach(async () => {
  count += 1;
  const prefix = `jobs-${count}`;
  test = await startTestFleet(redis, prefix);
  gateway = await startTestGateway(redis, prefix);
});
afterEach(async () => {
  await gateway.close();
  await test.close();
  await api?.close();
  api = undefined;
});

async function workWith(reply: Script): Promise<MessagesApi> {
  api = await startMessagesApi({ reply });
  await test.worker(runnerFor(api));
  return api;
}

describe('POST /v1/jobs/{kind}', () => {
  it('accepts a job, says where it is found, and gives its result', async () => {
    const accepted = await gateway.send('POST', '/v1/jobs/solution-check', CHECK);
    expect(accepted.status).toBe(202);
    expect(accepted.json).toEqual({
      id: expect.stringMatching(/^solution-check-/),
      kind: 'solution-check',
      state: 'waiting',
      outcome: 'created',
    });
    const location = accepted.headers.get('location') ?? '';
    expect(location).toBe(`/v1/jobs/${accepted.json.id}`);
    expect((await gateway.send('GET', location)).json.state).toBe('waiting');
    await test.worker(createOfflineRunner());
    const ended = await gateway.send('GET', `${location}?wait=30s`);
    expect(ended.status).toBe(200);
    expect(ended.json).toMatchObject({
      state: 'completed',
      result: { status: 'clean', solution: { content: 'x = 1\n' } },
      attempts: 1,
      usage: { calls: 0 },
    });
  });

  it('with wait answers 200 with the ended job, or 202 with the job as it is', async () => {
    const early = await gateway.send('POST', '/v1/jobs/solution-check?wait=1ms', CHECK);
    expect(early.status).toBe(202);
    expect(early.json).toMatchObject({ state: 'waiting', usage: { calls: 0 } });
    await test.worker(createOfflineRunner());
    const whole = await gateway.send('POST', '/v1/jobs/solution-check?wait', CHECK);
    expect(whole.status).toBe(200);
    expect(whole.json.state).toBe('completed');
  });

  it('takes Idempotency-Key for the key, quoted or not', async () => {
    const first = await gateway.send('POST', '/v1/jobs/solution-check', CHECK, {
      'idempotency-key': '"run:1/ä"',
    });
    expect(first.json.outcome).toBe('created');
    const second = await gateway.send('POST', '/v1/jobs/solution-check', { ...CHECK, key: 'run:1/ä' });
    expect(second.status).toBe(202);
    expect(second.json).toMatchObject({ id: first.json.id, outcome: 'existing', duplicateOf: first.json.id });
    const other = { payload: { solution: { content: 'y = 2\n' } }, key: 'run:1/ä' };
    const refused = await gateway.send('POST', '/v1/jobs/solution-check', other);
    expect(refused.status).toBe(409);
    expect(refused.json).toMatchObject({ code: 'key-conflict', jobId: first.json.id, field: 'key' });
  });

  it.each(['a:b', 'a:b:c', '123', '0', '-1', '🎈', '../x', '__proto__', 'http://x/?a=b', 'k'.repeat(10_000)])(
    'takes any characters in a key (%#)',
    async (key) => {
      const first = await gateway.send('POST', '/v1/jobs/solution-check', { ...CHECK, key });
      expect(first.status).toBe(202);
      expect((await gateway.send('GET', first.headers.get('location') ?? '')).status).toBe(200);
    },
  );

  it('runs a finished job again if that is requested', async () => {
    await test.worker(createOfflineRunner());
    await gateway.send('POST', '/v1/jobs/solution-check?wait', { ...CHECK, key: 'again' });
    const kept = await gateway.send('POST', '/v1/jobs/solution-check', { ...CHECK, key: 'again' });
    expect(kept.json).toMatchObject({ state: 'completed', outcome: 'existing' });
    const forced = await gateway.send('POST', '/v1/jobs/solution-check', {
      ...CHECK,
      key: 'again',
      force: true,
    });
    expect(forced.json.outcome).toBe('replaced');
  });

  it('answers a submission whose job another one with force is just replacing', async () => {
    const gone = new JobHandle(test.fleet, 'solution-check', `solution-check-${'a'.repeat(40)}`, 'existing');
    expect(await submitted(gone, 'waiting')).toMatchObject({ outcome: 'existing', state: 'waiting' });
  });

  it('stores tenant and budget with the job, and delays and orders it', async () => {
    const body = { ...CHECK, tenant: 'team a', budgetUsd: 1.5, priority: 7, delayMs: 3_600_000 };
    const { json } = await gateway.send('POST', '/v1/jobs/solution-check', body);
    expect(json.state).toBe('delayed');
    const job = await test.fleet.queue('solution-check').getJob(json.id);
    expect(job?.opts).toMatchObject({
      fleet: { tenant: 'team a', budgetUsd: 1.5, priority: 7 },
      delay: 3_600_000,
    });
    expect((await gateway.send('GET', `/v1/jobs/${json.id}`)).json.state).toBe('delayed');
  });

  it('REQ-P2O-018: a failed job tells its code, and runs again when asked', async () => {
    let broken = true;
    await workWith(() => (broken ? errorReply(401, 'invalid x-api-key') : leaks()));
    const failed = await gateway.send('POST', '/v1/jobs/solution-check?wait', CHECK);
    expect(failed.status).toBe(200);
    expect(failed.json).toMatchObject({ state: 'failed', error: { code: 'unauthorized', retryable: false } });
    broken = false;
    const again = await gateway.send('POST', `/v1/jobs/${failed.json.id}/retry?wait`);
    expect(again.json.state).toBe('completed');
    const refused = await gateway.send('POST', `/v1/jobs/${failed.json.id}/retry`);
    expect(refused.status).toBe(409);
    expect(refused.json.code).toBe('job-not-retryable');
  });
});

describe('DELETE /v1/jobs/{id}', () => {
  it('cancels a waiting job, for good', async () => {
    const { json } = await gateway.send('POST', '/v1/jobs/solution-check', CHECK);
    const cancelled = await gateway.send('DELETE', `/v1/jobs/${json.id}`);
    expect(cancelled.status).toBe(200);
    expect(cancelled.json).toMatchObject({ state: 'cancelled', error: { code: 'job-cancelled' } });
    expect((await gateway.send('GET', `/v1/jobs/${json.id}?wait`)).json.state).toBe('cancelled');
    const again = await gateway.send('DELETE', `/v1/jobs/${json.id}`);
    expect([again.status, again.json.state]).toEqual([200, 'cancelled']);
  });

  it('refuses one that has ended, and one that is not there', async () => {
    await test.worker(createOfflineRunner());
    const { json } = await gateway.send('POST', '/v1/jobs/solution-check?wait', CHECK);
    expect((await gateway.send('DELETE', `/v1/jobs/${json.id}`)).json.code).toBe('job-already-ended');
    for (const id of [
      'solution-check-00000000-0000-4000-8000-000000000000',
      'events',
      'meta',
      '1',
      '%F0%9F%8E%88',
    ]) {
      const missing = await gateway.send('DELETE', `/v1/jobs/${id}`);
      expect([id, missing.status, missing.json.code]).toEqual([id, 404, 'job-not-found']);
    }
  });
});

const SAME_SCRIPT = { solution: 'result.solution' };

describe('POST /v1/jobs:batch', () => {
  it('submits each job by itself: one that is refused keeps no other back', async () => {
    const { status, json } = await gateway.send('POST', '/v1/jobs:batch', {
      jobs: [
        { kind: 'solution-check', ...CHECK, key: 'one' },
        { kind: 'solution-check', payload: { solution: { content: '' } } },
        { kind: 'nothing', payload: {} },
        { kind: 'summarize', payload: { ablationCode: 'x', rawOutput: '' }, delayMs: 60_000 },
        { kind: 'solution-check', ...CHECK, key: 'one' },
        { kind: 'solution-check', payload: { solution: { content: 'other' } }, key: 'one' },
      ],
    });
    expect(status).toBe(200);
    expect(json.jobs).toMatchObject([
      { state: 'waiting', outcome: 'created' },
      { error: { code: 'invalid-payload', field: 'payload.solution.content' } },
      { error: { code: 'invalid-payload', field: 'kind' } },
      { kind: 'summarize', state: 'delayed' },
      { outcome: 'existing', duplicateOf: json.jobs[0].id },
      { error: { code: 'key-conflict' } },
    ]);
    const again = await gateway.send('POST', '/v1/jobs:batch', {
      jobs: [{ kind: 'solution-check', ...CHECK, key: 'one' }],
    });
    expect(again.json.jobs).toMatchObject([{ id: json.jobs[0].id, outcome: 'existing' }]);
  });

  it('with follow-ups: each is checked by itself, and other follow-ups are another payload of the key', async () => {
    const job = (then: readonly object[], key?: string) => ({
      kind: 'solution-check',
      payload: { ...CHECK.payload, then },
      ...(key === undefined ? {} : { key }),
    });
    const followUp = { kind: 'solution-check', from: SAME_SCRIPT };
    const named = { ...followUp, name: 'other' };
    const post = async (...jobs: object[]) =>
      (await gateway.send('POST', '/v1/jobs:batch', { jobs })).json.jobs;
    const jobs = [
      job([followUp], 'a'),
      job([named], 'a'),
      job([{ ...followUp, kind: 'nothing' }], 'b'),
      job([{ ...followUp, payload: { model: 'claude-dear' } }]),
      { ...job([]), then: [followUp] },
      job([followUp], 'c'),
    ];
    const refused = [
      { error: { code: 'key-conflict' } },
      { error: { code: 'invalid-payload', field: 'payload.then[0].kind' } },
      { error: { code: 'model-not-allowed', field: 'payload.then[0].payload.model' } },
      { error: { code: 'invalid-payload', field: 'then' } },
    ];
    const first = await post(...jobs);
    expect(first).toMatchObject([{ outcome: 'created' }, ...refused, { outcome: 'created' }]);
    // Sent again, as after a lost answer; and with other follow-ups for a key that is stored.
    const again = await post(...jobs, job([named], 'c'), job([named], 'b'));
    expect(again).toMatchObject([
      { outcome: 'existing', id: first[0].id },
      ...refused,
      { outcome: 'existing', id: first[5].id },
      { error: { code: 'key-conflict' } },
      { outcome: 'created' },
    ]);
  });

  it('takes hundreds in one request, all of which are there', async () => {
    const jobs = Array.from({ length: 520 }, (_, index) => ({
      kind: 'solution-check',
      payload: { solution: { content: `x = ${index}\n` }, tags: { run: 'many' } },
    }));
    const { json } = await gateway.send('POST', '/v1/jobs:batch', { jobs });
    expect(new Set(json.jobs.map(({ id }: { id: string }) => id)).size).toBe(520);
    expect(await test.fleet.queue('solution-check').getJobCountByTypes('wait', 'prioritized')).toBe(520);
    const run = await gateway.send('GET', '/v1/runs/many?limit=10');
    expect(run.json).toMatchObject({ total: 520, truncated: true, states: { waiting: 520 } });
    expect(run.json.jobs).toHaveLength(10);
    const listed = await gateway.send('GET', '/v1/jobs?run=many&state=waiting&limit=7');
    expect(listed.json.jobs).toHaveLength(7);
    expect((await gateway.send('GET', '/v1/jobs?run=many&kind=summarize')).json.jobs).toEqual([]);
    expect((await gateway.send('GET', '/v1/jobs?run=other')).json.jobs).toEqual([]);
  });
});

describe('/v1/dead-letters', () => {
  it('lists, shows, runs again and drops what failed for good, and refuses to drop without a filter', async () => {
    let broken = true;
    await workWith(() => (broken ? errorReply(401, 'invalid x-api-key') : leaks()));
    const submit = async (content: string) =>
      (await gateway.send('POST', '/v1/jobs/solution-check?wait', { payload: { solution: { content } } }))
        .json.id;
    const [first, second] = [await submit('a = 1\n'), await submit('b = 1\n')];
    const listed = await gateway.send('GET', '/v1/dead-letters?code=unauthorized');
    expect(listed.json.jobs.map(({ id }: { id: string }) => id).sort()).toEqual([first, second].sort());
    const shown = await gateway.send('GET', `/v1/dead-letters/${first}`);
    expect(shown.json).toMatchObject({
      payload: { solution: { content: 'a = 1\n' } },
      job: { state: 'failed' },
    });
    broken = false;
    const again = await gateway.send('POST', '/v1/dead-letters:retry', { ids: [first] });
    expect(again.json).toEqual({ done: [first], refused: [] });
    expect((await gateway.send('GET', `/v1/jobs/${first}?wait`)).json.state).toBe('completed');
    expect((await gateway.send('GET', `/v1/dead-letters/${first}`)).status).toBe(400);
    expect((await gateway.send('POST', '/v1/dead-letters:drop', {})).status).toBe(400);
    const dropped = await gateway.send('POST', '/v1/dead-letters:drop', { kind: 'solution-check' });
    expect(dropped.json.done).toEqual([second]);
    expect((await gateway.send('GET', `/v1/jobs/${second}`)).status).toBe(404);
  });
});

describe('what HTTP narrows', () => {
  it('takes only models that are listed', async () => {
    const named = (model: string) => ({ payload: { ...CHECK.payload, model } });
    expect((await gateway.send('POST', '/v1/jobs/solution-check', named('claude-test'))).status).toBe(202);
    const refused = await gateway.send('POST', '/v1/jobs/solution-check', named('claude-dear'));
    expect(refused.status).toBe(422);
    expect(refused.json).toMatchObject({ code: 'model-not-allowed', field: 'payload.model' });
    const then = [{ kind: 'solution-check', payload: { model: 'claude-dear' }, from: SAME_SCRIPT }];
    const below = {
      payload: { ...CHECK.payload, then: [{ kind: 'solution-check', from: SAME_SCRIPT, then }] },
    };
    expect((await gateway.send('POST', '/v1/jobs/solution-check', below)).json).toMatchObject({
      code: 'model-not-allowed',
      field: 'payload.then[0].then[0].payload.model',
    });
    const beside = await gateway.send('POST', '/v1/jobs/solution-check', { ...CHECK, then });
    expect(beside.json.detail).toContain('then: unknown field; follow-ups belong in "payload"');
  });

  it('takes no workspace where no roots are configured', async () => {
    const body = { payload: { ...CHECK.payload, workspace: '/tmp' } };
    const refused = await gateway.send('POST', '/v1/jobs/solution-check', body);
    expect(refused.json).toMatchObject({ code: 'workspace-not-allowed', field: 'payload.workspace' });
  });
});
