import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { FleetHttpClient } from '../../src/http-client/index.js';
import { gatewayOfTest } from '../gateway/gateway-fixture.js';
import { redisOfFile } from '../support/redis.js';

const PAYLOAD = { solution: { content: 'print(1)\n' } };

const redis = redisOfFile();

async function startAll() {
  const { test, gateway } = await gatewayOfTest(redis, 'http-client');
  return {
    client: new FleetHttpClient({ url: gateway.url }),
    worker: () => test.worker(createOfflineRunner()),
  };
}

describe('the HTTP client', () => {
  it('waits for follow-ups, or only for the result', async () => {
    const { client, worker } = await startAll();
    await worker();
    const then = [{ kind: 'solution-check', from: { solution: 'result.solution' } }];
    const { id } = await client.add('solution-check', { ...PAYLOAD, then });
    expect((await client.result('solution-check', id, { follow: false })).status).toBe('clean');
    expect((await client.wait(id)).followUps).toMatchObject([{ job: { state: 'completed' } }]);
  });

  it('submits, waits, and gives a validated result of the kind', async () => {
    const { client, worker } = await startAll();
    await worker();
    const { id, outcome } = await client.add('solution-check', PAYLOAD, { key: 'k' });
    expect(outcome).toBe('created');
    const { status } = await client.result('solution-check', id);
    expect(status).toBe('clean');
    expect(await client.add('solution-check', PAYLOAD, { key: 'k' })).toMatchObject({ id, duplicateOf: id });
  });

  it('refuses as the producers do: with the code and the field', async () => {
    const { client } = await startAll();
    const bad = client.add('solution-check', { solution: { content: '' } });
    await expect(bad).rejects.toMatchObject({ code: 'invalid-payload', field: 'payload.solution.content' });
    await expect(client.job('solution-check-00000000-0000-0000-0000-000000000000')).rejects.toMatchObject({
      code: 'job-not-found',
    });
  });

  it('submits a batch in which each job is accepted or rejected by itself', async () => {
    const { client } = await startAll();
    const [good, bad] = await client.addBatch([
      { kind: 'solution-check', payload: PAYLOAD },
      { kind: 'summarize', payload: { ablationCode: '', rawOutput: '' } },
    ]);
    expect(good).toMatchObject({ kind: 'solution-check', state: 'waiting' });
    expect(bad).toMatchObject({ error: { code: 'invalid-payload' } });
  });

  it('submits the flows', async () => {
    const { client, worker } = await startAll();
    await worker();
    const step = { ablationCode: 'x', rawOutput: '', solution: { content: 'a = 1\n' }, previousBlocks: [] };
    const { extract, summarize } = await client.addRefinementStep(step);
    expect((await client.result('summarize', summarize.id)).summary).not.toBe('');
    expect((await client.wait(extract.id)).state).toBe('completed');
    const evaluation = { queue: 'evaluate', name: 'score' };
    const guarded = await client.addGuardedEvaluation({ ...PAYLOAD, evaluation });
    expect(guarded.evaluation).toMatchObject({ kind: 'evaluate' });
    const batch = await client.addCandidateBatch({ candidates: [PAYLOAD, PAYLOAD], evaluation });
    expect(batch.evaluations).toHaveLength(2);
  });

  it('cancels, and a cancelled job has no result', async () => {
    const { client } = await startAll();
    const { id } = await client.add('solution-check', PAYLOAD);
    expect((await client.cancel(id)).state).toBe('cancelled');
    await expect(client.result('solution-check', id)).rejects.toMatchObject({ code: 'job-cancelled' });
    await expect(client.retry(id)).rejects.toMatchObject({ code: 'job-not-retryable' });
  });

  it('says that no gateway answers', async () => {
    await startAll();
    const nowhere = new FleetHttpClient({ url: 'http://127.0.0.1:1' });
    await expect(nowhere.job('x')).rejects.toMatchObject({ code: 'gateway-unreachable', retryable: true });
  });

  it.each([
    [{ url: 'http://user:S3CRET@127.0.0.1:1' }],
    [{ url: 'http://S3CRET@127.0.0.1:1' }],
    [{ url: 'S3CRET' }],
    [{ url: 'ftp://u:S3CRET@127.0.0.1' }],
    [{ url: 'http://127.0.0.1:1', token: 'S3CRET\nx: y' }],
    [{ url: 'http://127.0.0.1:1', token: 'S3CRET\0' }],
    [{ url: 'http://127.0.0.1:1', token: 'S3CRET€' }],
  ])('shows neither an address nor a token that it cannot use: %j', async (options) => {
    const job = async () => new FleetHttpClient(options).job('x');
    const thrown = await job().catch((error: unknown) => error);
    expect(thrown).toMatchObject({ code: 'usage' });
    expect(inspect(thrown, { depth: 10, showHidden: true })).not.toContain('S3CRET');
  });
});

describe('a request that is refused for the moment', () => {
  /** A gateway that sends these answers, one after the other. */
  async function answering(answers: readonly { status: number; code: string; retryAfter?: string }[]) {
    const left = [...answers];
    let requests = 0;
    const server = createServer((request, response) => {
      request.resume();
      requests += 1;
      const { status, code, retryAfter } = left.shift() ?? { status: 200, code: '' };
      response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter });
      response.end(JSON.stringify(status === 200 ? { id: 'x' } : { code, detail: 'not now' }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}`, requests: () => requests };
  }

  it.each([
    [429, 'too-many-open'],
    [503, 'redis-full'],
  ])('with %d %s is sent again, whatever it is', async (status, code) => {
    const { url, requests } = await answering([{ status, code, retryAfter: '0' }]);
    expect(await new FleetHttpClient({ url }).add('solution-check', PAYLOAD)).toEqual({ id: 'x' });
    expect(requests()).toBe(2);
  });

  it('with 503 because Redis is away is sent again only where it reads', async () => {
    const away = { status: 503, code: 'redis-unreachable', retryAfter: '0' };
    const { url, requests } = await answering([away, away]);
    const client = new FleetHttpClient({ url });
    await expect(client.add('solution-check', PAYLOAD)).rejects.toMatchObject({ code: away.code });
    expect(await client.job('x')).toEqual({ id: 'x' });
    expect(requests()).toBe(3);
  });

  it('is not sent again where the gateway asks to wait longer than the timeout, or the caller gives up', async () => {
    const busy = (retryAfter: string) => ({ status: 429, code: 'too-many-waiting', retryAfter });
    const { url, requests } = await answering([busy('5'), busy('5')]);
    const shortTimeout = new FleetHttpClient({ url, retryTimeoutMs: 1_000 });
    await expect(shortTimeout.add('solution-check', PAYLOAD)).rejects.toMatchObject({
      code: 'too-many-waiting',
    });
    const leaving = new AbortController();
    const waiting = new FleetHttpClient({ url, signal: leaving.signal }).add('solution-check', PAYLOAD);
    await expect.poll(requests).toBe(2);
    leaving.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    expect(requests()).toBe(2);
  });
});
