import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { startTestGateway, type TestGateway } from './gateway-fixture.js';

// Outages are waited for, and on a busy machine each request of them takes its time.
vi.setConfig({ testTimeout: 180_000 });

const CHECK = { payload: { solution: { content: 'x = 1\n' } } };
const SUBMIT = '/v1/jobs/solution-check';

let redis: TestRedis | undefined;
let proxy: TcpProxy | undefined;
let gateway: TestGateway | undefined;

afterEach(async () => {
  await gateway?.close();
  await proxy?.stop();
  await redis?.stop();
  gateway = proxy = redis = undefined;
});

async function waitingJobs(url: string): Promise<number> {
  const fleet = await FleetClient.open({ redisUrl: url, prefix: 'away' });
  const waiting = await fleet.queue('solution-check').getJobCountByTypes('wait', 'prioritized');
  await fleet.close();
  return waiting;
}

async function untilHealthy(server: TestGateway): Promise<void> {
  await vi.waitFor(async () => expect((await server.send('GET', '/healthz')).status).toBe(200), 15_000);
}

describe('while Redis is away', () => {
  it('a gateway that was started without it refuses at once, and works once it is there', async () => {
    redis = await startTestRedis();
    await redis.kill();
    gateway = await startTestGateway(redis, 'away');
    const refused = await gateway.send('POST', SUBMIT, CHECK);
    expect([refused.status, refused.json.code]).toEqual([503, 'redis-unreachable']);
    expect(refused.headers.get('retry-after')).toBe('2');
    expect((await gateway.send('GET', '/healthz')).json).toMatchObject({
      status: 'unavailable',
      redis: 'away',
    });
    expect((await gateway.send('GET', '/readyz')).status).toBe(503);
    await redis.restart();
    await untilHealthy(gateway);
    expect((await gateway.send('POST', SUBMIT, CHECK)).status).toBe(202);
  });

  it('forty submissions are rejected, and none of them exists when it is back', async () => {
    redis = await startTestRedis();
    gateway = await startTestGateway(redis, 'away');
    const server = gateway;
    expect((await server.send('POST', SUBMIT, CHECK)).status).toBe(202);
    await redis.kill();
    const refused = await Promise.all(Array.from({ length: 40 }, () => server.send('POST', SUBMIT, CHECK)));
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
    const reads = ['/v1/jobs', '/v1/runs/x', '/metrics', '/board/api/queues', '/'];
    for (const path of reads) expect([path, (await server.send('GET', path)).status]).toEqual([path, 503]);
    expect((await server.send('GET', '/healthz')).status).toBe(503);
    expect((await server.send('GET', '/v1/openapi.json')).status).toBe(200);
    await redis.restart();
    await untilHealthy(server);
    expect(await waitingJobs(redis.url)).toBe(1);
    expect((await server.send('POST', SUBMIT, CHECK)).status).toBe(202);
  });

  it('the gateway can be closed, also while somebody listens to its events', async () => {
    redis = await startTestRedis();
    gateway = await startTestGateway(redis, 'away');
    const accepted = await gateway.send('POST', SUBMIT, CHECK);
    const stream = await fetch(`${gateway.url}/v1/jobs/${accepted.json.id}/events`);
    expect(stream.status).toBe(200);
    // Closing breaks it off.
    const streamText = stream.text().catch(() => 'broken off');
    await redis.kill();
    const server = gateway;
    await expect.poll(async () => (await server.send('GET', '/healthz')).status).toBe(503);
    await server.close();
    gateway = undefined;
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();
    await streamText;
  });

  it('on a dead link every request is answered, and nothing that was refused is done afterwards', async () => {
    redis = await startTestRedis();
    proxy = await TcpProxy.start({ path: redis.socketPath });
    const { url } = proxy;
    // The time limit of commands detects the dead link.
    gateway = await startTestGateway(
      { url },
      'away',
      {},
      {
        openFleet: (kinds) => FleetClient.open({ redisUrl: url, prefix: 'away', kinds }),
      },
    );
    const server = gateway;
    proxy.mode = 'black-hole';
    const refused = await server.send('POST', SUBMIT, CHECK);
    expect([refused.status, refused.json.code]).toEqual([503, 'redis-unreachable']);
    proxy.mode = 'open';
    proxy.cut();
    await untilHealthy(server);
    expect(await waitingJobs(redis.url)).toBe(0);
  });
});

describe('when Redis is full', () => {
  it('answers 503, stores nothing, and continues once there is room', async () => {
    redis = await startTestRedis(['--maxmemory', '8mb']);
    gateway = await startTestGateway(redis, 'away');
    // Text that does not compress.
    const large = () => ({
      payload: { solution: { content: randomBytes(600_000).toString('base64') } },
    });
    let last = await gateway.send('POST', SUBMIT, large());
    let accepted = 0;
    for (let request = 0; last.status === 202 && request < 30; request += 1) {
      accepted += 1;
      last = await gateway.send('POST', SUBMIT, large());
    }
    expect([last.status, last.json.code]).toEqual([503, 'redis-full']);
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await waitingJobs(redis.url)).toBe(accepted);
    const fleet = await FleetClient.open({ redisUrl: redis.url, prefix: 'away' });
    await fleet.queue('solution-check').drain();
    await fleet.close();
    expect((await gateway.send('POST', SUBMIT, CHECK)).status).toBe(202);
  });
});
