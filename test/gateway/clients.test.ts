import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { startTestFleet } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';
import { startTestGateway, type TestGateway } from './gateway-fixture.js';

const SUBMIT = '/v1/jobs/solution-check';

const redis = redisOfFile();
let gateway: TestGateway;
let count = 0;

afterEach(() => gateway.close());

async function start(options = {}, settings = {}): Promise<void> {
  count += 1;
  gateway = await startTestGateway(redis, `clients-${count}`, settings, options);
}

async function open(): Promise<Socket> {
  const socket = connect(gateway.port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

async function waitingJobs(): Promise<number> {
  const fleet = await FleetClient.open({
    redisUrl: redis.url,
    prefix: `clients-${count}`,
    waitForSlow: true,
  });
  const waiting = await fleet.queue('solution-check').getJobCountByTypes('wait', 'prioritized');
  await fleet.close();
  return waiting;
}

/** The head of a submission with a body of so many bytes. */
function head(bytes: number): string {
  return `POST ${SUBMIT} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${bytes}\r\n\r\n`;
}

describe('many and difficult clients', () => {
  it('fifty requests at once are all accepted, each with a job of its own', async () => {
    await start();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        gateway.send('POST', SUBMIT, { payload: { solution: { content: `x = ${index}\n` } } }),
      ),
    );
    expect(answers.map(({ status }) => status).filter((status) => status !== 202)).toEqual([]);
    expect(new Set(answers.map(({ json }) => json.id)).size).toBe(50);
    expect(await waitingJobs()).toBe(50);
  });

  it('twenty submissions with one key at once make one job', async () => {
    await start();
    const body = { payload: { solution: { content: 'x = 1\n' } }, key: 'one' };
    const answers = await Promise.all(Array.from({ length: 20 }, () => gateway.send('POST', SUBMIT, body)));
    expect(new Set(answers.map(({ json }) => json.id)).size).toBe(1);
    expect(await waitingJobs()).toBe(1);
  });

  it('sixty requests that wait for quick jobs all get their results', async () => {
    await start();
    const test = await startTestFleet(redis, `clients-${count}`);
    await test.worker(createOfflineRunner(), { concurrency: 20 });
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) => {
        const payload = { ablationCode: 'x', rawOutput: `baseline: 0.${index + 100}\n` };
        return gateway.send('POST', '/v1/jobs/summarize?wait=50s', { payload });
      }),
    );
    expect(answers.filter(({ status, json }) => status !== 200 || json.state !== 'completed')).toEqual([]);
    await test.close();
  });

  it('health is answered while a large batch is taken', async () => {
    await start();
    const jobs = Array.from({ length: 520 }, (_, index) => ({
      kind: 'solution-check',
      payload: { solution: { content: `x = ${index}\n` } },
      key: String(index),
    }));
    let done = false;
    const batch = gateway.send('POST', '/v1/jobs:batch', { jobs }).then((answer) => {
      done = true;
      return answer;
    });
    const statuses = new Set<number>();
    while (!done) statuses.add((await gateway.send('GET', '/healthz')).status);
    expect([...statuses]).toEqual([200]);
    expect((await batch).json.jobs).toHaveLength(520);
  });

  it('bodies that break off make no job and leave no connection', async () => {
    await start();
    const sockets = await Promise.all(Array.from({ length: 50 }, open));
    for (const socket of sockets) socket.write(`${head(100_000)}{"payload":{"solution":{"content":"x`);
    await vi.waitFor(async () => expect(await gateway.connections()).toBe(50));
    for (const socket of sockets) socket.destroy();
    await vi.waitFor(async () => expect(await gateway.connections()).toBe(0));
    expect(await waitingJobs()).toBe(0);
    expect(gateway.log()).not.toContain('"level":50');
  });

  it('a client that sends its request too slowly is cut off with 408', async () => {
    await start({ limits: { headersTimeoutMs: 200, requestTimeoutMs: 300 } });
    const socket = await open();
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk.toString();
    });
    socket.write(`${head(1_000)}{"payload":`);
    await once(socket, 'close');
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect((await gateway.send('GET', '/healthz')).status).toBe(200);
  });

  it('a connection without a request does not keep the gateway from closing', async () => {
    await start({ limits: { closeGraceMs: 20 } });
    const socket = await open();
    const closed = once(socket, 'close');
    await gateway.close();
    await closed;
    await start();
  });

  it('clients that vanish while they wait for a job leave no listener and no request', async () => {
    await start();
    const { json } = await gateway.send('POST', SUBMIT, { payload: { solution: { content: 'x\n' } } });
    const sockets = await Promise.all(Array.from({ length: 50 }, open));
    for (const socket of sockets)
      socket.write(`GET /v1/jobs/${json.id}?wait=300s HTTP/1.1\r\nhost: localhost\r\n\r\n`);
    await vi.waitFor(async () => expect(await gateway.connections()).toBeGreaterThanOrEqual(50));
    for (const socket of sockets) socket.destroy();
    await vi.waitFor(async () => expect(await gateway.connections()).toBeLessThanOrEqual(1));
    // Each ended wait is logged as a client that has gone.
    await vi.waitFor(() => expect(gateway.log().match(/"status":499/g)).toHaveLength(50));
  });
});
