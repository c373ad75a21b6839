import type { JobsOptions } from 'bullmq';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { FleetWorker } from '../../src/fleet/worker.js';
import { SubmitterQuota } from '../../src/gateway/admission/submitter-quota.js';
import { TokenStore } from '../../src/gateway/auth/token-store.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { rememberQueue } from '../../src/queues/pipeline-queues.js';
import { spendBase } from '../../src/queues/redis-keys.js';
import { parseRedisMemory } from '../../src/queues/redis-memory.js';
import { redisOfFile } from '../support/redis.js';
import { startTestGateway, type TestGateway } from './gateway-fixture.js';

const redis = redisOfFile();
const PREFIX = 'tenants';
const LIMIT = 50;
let fleet: FleetClient;
let gateway: TestGateway;
let acme: string;
let other: string;
let greedy: string;

beforeAll(async () => {
  fleet = await FleetClient.open({ redisUrl: redis.url, prefix: PREFIX, waitForSlow: true });
  const tokens = new TokenStore(fleet.client, PREFIX);
  acme = (await tokens.add('acme', 'submit', 'acme')).token;
  other = (await tokens.add('other', 'submit', 'other')).token;
  greedy = (await tokens.add('greedy', 'submit')).token;
  gateway = await startTestGateway(redis, PREFIX, { maxWaiting: LIMIT });
});
afterAll(async () => {
  await gateway.close();
  await fleet.close();
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
let scripts = 0;
function submit(token: string, fields: object = {}) {
  scripts += 1;
  const payload = { solution: { content: `x = ${scripts}\n` } };
  return gateway.send('POST', '/v1/jobs/solution-check', { payload, ...fields }, bearer(token));
}
const stored = async (id: string) =>
  JSON.parse((await fleet.client.hget(fleet.queue('solution-check').toKey(id), 'opts')) ?? '{}').fleet;

describe('a token that is bound to a tenant', () => {
  it('submits for that tenant, whether it names it or not, and for no other', async () => {
    for (const fields of [{}, { tenant: 'acme' }]) {
      const { status, json } = await submit(acme, fields);
      expect(status).toBe(202);
      expect(await stored(json.id)).toMatchObject({ tenant: 'acme', submitter: 'tenant acme' });
    }
    const refused = await submit(acme, { tenant: 'other' });
    expect([refused.status, refused.json.code, refused.json.field]).toEqual([
      422,
      'tenant-not-allowed',
      'tenant',
    ]);
    const batch = await gateway.send(
      'POST',
      '/v1/jobs:batch',
      { jobs: [{ kind: 'solution-check', payload: { solution: { content: 'y = 1\n' } }, tenant: 'other' }] },
      bearer(acme),
    );
    expect(batch.json.jobs[0].error.code).toBe('tenant-not-allowed');
  });

  it.each([
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/retry'],
  ])('%s %s of another tenant’s job finds no job', async (method, path) => {
    const { id } = (await submit(other)).json;
    const foreign = await gateway.send(method, `/v1/jobs/${id}${path}`, undefined, bearer(acme));
    expect([foreign.status, foreign.json.code]).toEqual([404, 'job-not-found']);
    const own = await gateway.send(method, `/v1/jobs/${id}${path}`, undefined, bearer(other));
    expect(own.json.code).not.toBe('job-not-found');
  });

  it('reads and cancels the evaluations that it submitted, and nobody else’s', async () => {
    const guarded = { solution: { content: 'g = 1\n' }, evaluation: { queue: 'evaluate', name: 'score' } };
    const { json } = await gateway.send('POST', '/v1/flows/guarded-evaluation', guarded, bearer(acme));
    for (const { id } of [json.evaluation, json.check]) {
      const ask = (token: string, method = 'GET', rest = '') =>
        gateway.send(method, `/v1/jobs/${id}${rest}`, undefined, bearer(token));
      expect((await ask(acme)).json.id).toBe(id);
      for (const rest of ['', '/events']) expect((await ask(other, 'GET', rest)).status).toBe(404);
      expect((await ask(other, 'DELETE')).status).toBe(404);
      expect((await ask(acme, 'DELETE')).json.state).toBe('cancelled');
      expect((await ask(acme, 'GET', '/events')).text).toContain('event: end');
    }
  });

  it('finds no job whose options are damaged', async () => {
    const { id } = (await submit(acme)).json;
    const key = fleet.jobKey('solution-check', id);
    const options = (await fleet.client.hget(key, 'opts')) ?? '';
    await fleet.client.hset(key, 'opts', '{');
    const { status } = await gateway.send('GET', `/v1/jobs/${id}`, undefined, bearer(acme));
    await fleet.client.hset(key, 'opts', options);
    expect(status).toBe(404);
  });

  it.each(['events', 'wait', 'meta', 'completed', 'solution-check:events'])(
    'finds no job where the id is the name of a key of the queue: %s',
    async (id) => {
      await submit(acme);
      for (const [method, path] of [
        ['GET', ''],
        ['DELETE', ''],
        ['POST', '/retry'],
      ] as const) {
        const answer = await gateway.send(method, `/v1/jobs/${id}${path}`, undefined, bearer(acme));
        expect([answer.status, answer.json.code]).toEqual([404, 'job-not-found']);
      }
    },
  );

  it('sees of a run and on its page only its own jobs and what they cost, and no other run in the list', async () => {
    const run = 'run of both';
    const add = async (token: string, name: string) => {
      scripts += 1;
      const payload = { solution: { content: `x = ${scripts}\n` }, tags: { run } };
      const { status, json } = await gateway.send(
        'POST',
        '/v1/jobs/solution-check',
        { payload, key: `key of ${name}` },
        bearer(token),
      );
      expect(status).toBe(202);
      return json.id;
    };
    const own = await add(acme, 'acme');
    const foreign = await add(other, 'other');
    const account = (tenant: string) => `${spendBase(PREFIX)}:run:${tenant}\0${run}`;
    await fleet.client.hset(account('acme'), { spent: 1e9, calls: 3 });
    await fleet.client.hset(account('other'), { spent: 7e9, calls: 11 });
    const address = `/runs?name=${encodeURIComponent(run)}`;
    const read = async (path: string) => (await gateway.send('GET', path, undefined, bearer(acme))).text;
    for (const path of [address, `${address}&key=key%20of%20acme`]) {
      const page = await read(path);
      expect(page).toContain(`href="/v1/jobs/${own}"`);
      expect(page).toContain('<strong>$1.00</strong>, without a budget, 3 calls');
      for (const text of [foreign, 'key of other', '/board']) expect(page).not.toContain(text);
    }
    expect(await read(`${address}&job=${foreign}`)).not.toContain(`/v1/jobs/${foreign}`);
    expect(await read(`${address}&key=key%20of%20other`)).not.toContain('/v1/jobs/');
    expect(await read('/runs')).not.toContain(run);
    const { json } = await gateway.send(
      'GET',
      `/v1/runs/${encodeURIComponent(run)}`,
      undefined,
      bearer(acme),
    );
    expect(json).toMatchObject({ run, total: 1, jobs: [{ id: own }], truncated: false });
    expect(json.states.waiting).toBe(1);
    const form = { 'content-type': 'application/x-www-form-urlencoded', origin: gateway.url };
    const { headers } = await gateway.send('POST', '/login', `token=${acme}`, form);
    expect(headers.get('location')).toBe('/runs');
  });

  it.each([
    ['GET', '/v1/jobs'],
    ['GET', '/v1/dead-letters'],
    ['POST', '/v1/dead-letters:retry'],
    ['POST', '/v1/evaluations/claim'],
    ['GET', '/v1/known/x'],
    ['GET', '/metrics'],
    ['GET', '/board'],
    ['GET', '/'],
  ])('%s %s, which is about all tenants, is refused', async (method, path) => {
    const body = method === 'GET' ? undefined : {};
    expect((await gateway.send(method, path, body, bearer(acme))).status).toBe(403);
  });

  it('has keys of its own: the key of another tenant’s job is no conflict and runs nothing of it', async () => {
    const job = (content: string) => ({ payload: { solution: { content } }, key: 'shared', force: true });
    const first = await gateway.send('POST', '/v1/jobs/solution-check', job('a = 1\n'), bearer(acme));
    const second = await gateway.send('POST', '/v1/jobs/solution-check', job('b = 1\n'), bearer(other));
    expect([first.status, second.status]).toEqual([202, 202]);
    expect(first.json.id).not.toBe(second.json.id);
  });
});

describe('the limit of waiting jobs', () => {
  it('is filled by no single token, under whatever tenants and delays', async () => {
    let status = 202;
    for (let count = 0; status === 202; count += 1) {
      const answer = await submit(greedy, {
        tenant: `name ${count}`,
        delayMs: count % 2 === 0 ? 86_400_000 : 0,
      });
      status = answer.status;
      if (status === 429) expect(answer.json.detail).toContain('of this token wait');
    }
    expect(status).toBe(429);
    const { json } = await submit(other);
    expect(json.id).toBeDefined();
    // It is scheduled before all except one of the other token's.
    const waiting = await fleet.client.zrange(fleet.queue('solution-check').toKey('prioritized'), '0', '-1');
    expect(waiting.indexOf(json.id)).toBeLessThan(LIMIT / 2);
  });
});

describe('the memory for jobs', () => {
  it.each([
    ['their data', { text: 'x'.repeat(60_000) }, {}],
    ['what their checks returned', {}, { check: 'x'.repeat(60_000) }],
  ])(
    'counts evaluations that wait in a queue of a pipeline with the token: %s',
    async (what, data, results) => {
      const prefix = `bytes-${what.length}`;
      const filling = await FleetClient.open({ redisUrl: redis.url, prefix, waitForSlow: true });
      const evaluations = filling.queue('mine');
      const opts = { fleet: { submitter: 'greedy' } } as JobsOptions;
      for (let count = 0; count < 40; count += 1) {
        const job = await evaluations.add('score', data, opts);
        if ('check' in results)
          await filling.client.hset(`${evaluations.toKey(job.id ?? '')}:processed`, results);
      }
      await rememberQueue(filling.client, prefix, 'mine', 'greedy');
      const { counted } = parseRedisMemory(await filling.client.info('memory'));
      // Less room than the 2.4 MB of these evaluations, which is scarce.
      const memory = { admitPercent: 100, maxBytes: counted + 1_500_000 };
      const full = await FleetClient.open({ redisUrl: redis.url, prefix, waitForSlow: true, memory });
      const quota = new SubmitterQuota(full, async () => 2);
      await expect(quota.take('solution-check', 'greedy', 1, 1_000, 1_000)).rejects.toMatchObject({
        code: 'redis-full',
      });
      await quota.take('solution-check', 'other', 1, 1_000, 1_000);
      await evaluations.obliterate({ force: true });
      await Promise.all([filling.close(), full.close()]);
    },
  );

  it('has the follow-ups of its jobs too, which no other tenant sees', async () => {
    const worker = await FleetWorker.start({
      redisUrl: redis.url,
      prefix: PREFIX,
      runner: createOfflineRunner(),
      logger: pino({ level: 'silent' }),
      concurrency: 50,
      lockMs: 30_000,
    });
    try {
      const then = [{ kind: 'solution-check', from: { solution: 'result.solution' } }];
      const payload = { solution: { content: 'z = 1\n' }, then };
      const path = '/v1/jobs/solution-check?wait';
      const { json } = await gateway.send('POST', path, { payload, priority: 7 }, bearer(acme));
      const [{ id }] = json.followUps;
      expect(await stored(id)).toMatchObject({ tenant: 'acme', submitter: 'tenant acme', priority: 7 });
      const statusFor = async (token: string) =>
        (await gateway.send('GET', `/v1/jobs/${id}`, undefined, bearer(token))).status;
      expect([await statusFor(acme), await statusFor(other)]).toEqual([200, 404]);
    } finally {
      await worker.stop(5_000);
    }
  });
});
