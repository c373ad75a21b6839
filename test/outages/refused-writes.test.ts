import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { FleetHttpClient } from '../../src/http-client/index.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { readCallRecords } from '../../src/queues/call-record.js';
import type { KindRegistry } from '../../src/queues/registry.js';
import { pythonOfFile, runPython } from '../clients/python-program.js';
import { startTestGateway } from '../gateway/gateway-fixture.js';
import { leaks } from '../support/agent-answers.js';
import { type ClusterOfOne, startClusterOfOne } from '../support/cluster-node.js';
import { fleetWithRunner } from '../support/fleet.js';
import { fleetCommand } from '../support/fleet-command.js';
import { redisOfFile, type TestRedis } from '../support/redis.js';
import { CLUSTER_REFUSALS, REFUSALS, type Refusal } from '../support/refusing-redis.js';

const single = redisOfFile();
let cluster: ClusterOfOne;
beforeAll(async () => {
  cluster = await startClusterOfOne();
});
afterAll(() => cluster.stop());

const cases = [
  ...Object.entries(REFUSALS).map(([name, refusal]) => ({ name, refusal, isCluster: false })),
  ...Object.entries(CLUSTER_REFUSALS).map(([name, refusal]) => ({ name, refusal, isCluster: true })),
];
/** Refusals in which the Python client submits too: all reach it in the same way. */
const IN_PYTHON = ['MISCONF', 'LOADING', 'CLUSTERDOWN'];
const SUBMIT_IN_PYTHON = `
try:
    fleet.submit("solution-check", {"solution": {"content": "x = 1"}})
except ApiError as error:
    say(code=error.code, detail=error.detail)
`;
const withPython = await pythonOfFile();
const LOCK_MS = 2_000;
const PAYLOAD = { solution: { content: 'x = 1\n' } };

/** Begins a refusal; it ends with `end`, or with the test. */
async function refuse(refusal: Refusal, redis: TestRedis): Promise<() => Promise<void>> {
  let isOver = false;
  const admin = new Redis({ path: redis.socketPath });
  admin.on('error', () => undefined);
  await refusal.begin(admin, redis);
  const end = async () => {
    if (isOver) return;
    isOver = true;
    await refusal.end(admin, redis);
    admin.disconnect();
  };
  onTestFinished(end);
  return end;
}

describe.each(cases)('while Redis refuses writes: $name', ({ name, refusal, isCluster }) => {
  it('an answer that came is kept, and nothing is paid again; every client is told, and all goes on by itself', async () => {
    const { says } = refusal;
    const redis = isCluster ? cluster.redis : single;
    const isFull = name === 'OOM';
    let answer: () => void = () => undefined;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const { fleet, worker, runner, api, logged, logLines } = await fleetWithRunner(
      redis,
      '{fleet}-refused',
      () => answered.then(() => leaks()),
    );
    await worker(runner, { lockMs: LOCK_MS });
    const openFleet = (kinds: KindRegistry) =>
      FleetClient.open({ redisUrl: redis.url, prefix: fleet.prefix, waitForSlow: true, kinds });
    // As `fleet serve` does beside a Redis of somebody else: a command without a reply ends after some seconds.
    const gateway = await startTestGateway(redis, fleet.prefix, {}, { openFleet });
    onTestFinished(() => gateway.close());
    const handle = await addSolutionCheck(fleet, PAYLOAD);
    const result = handle.result();
    await api.arrived(1);
    const end = await refuse(refusal, redis);
    const beganAt = performance.now();
    answer();

    const code = isFull ? 'redis-full' : 'redis-unreachable';
    const sentence = expect.stringMatching(says);
    await expect
      .poll(() => addSolutionCheck(fleet, PAYLOAD).catch((thrown) => thrown))
      .toMatchObject({ code, retryable: true, message: sentence });
    await expect
      .poll(async () => (await gateway.send('POST', '/v1/jobs/solution-check', { payload: PAYLOAD })).json)
      .toMatchObject({ status: 503, code, retryable: true, detail: sentence });
    const http = new FleetHttpClient({ url: gateway.url, retryTimeoutMs: 0 });
    await expect(http.add('solution-check', PAYLOAD)).rejects.toMatchObject({ code, message: sentence });
    if (withPython && IN_PYTHON.includes(name)) {
      const said = await runPython(gateway.url, SUBMIT_IN_PYTHON, { RETRY_TIMEOUT: '0' });
      expect(said).toEqual({ code, detail: sentence });
    }
    await expect
      .poll(async () => (await gateway.send('GET', '/healthz')).json)
      .toMatchObject({ status: 'unavailable', redis: isFull ? 'full' : 'refuses' });
    expect((await gateway.send('GET', '/readyz')).status).toBe(isFull ? 200 : 503);
    const command = await fleetCommand(['submit', 'solution-check', '--data', '-', '--json'], {
      env: { FLEET_REDIS_URL: redis.url, FLEET_PREFIX: fleet.prefix },
      input: JSON.stringify(PAYLOAD),
    });
    expect(JSON.parse(command.stdout)).toMatchObject({
      error: { code: expect.stringMatching(/^redis-/), message: sentence },
    });
    if (isFull) {
      const doctor = await fleetCommand(['doctor', '--json'], {
        env: { FLEET_REDIS_URL: redis.url, FLEET_PREFIX: fleet.prefix },
      });
      expect(JSON.parse(doctor.stdout).left).toContainEqual(
        expect.objectContaining({ problem: 'refused-writes', detail: expect.stringContaining('maxmemory') }),
      );
    }
    await logged(isFull ? 'Redis is full' : 'Redis refuses writes');
    // Until every lock has run out.
    await expect.poll(() => performance.now() - beganAt).toBeGreaterThan(LOCK_MS);

    await end();
    expect(await result).toMatchObject({ status: 'clean', usage: { calls: 1 } });
    expect(api.requests).toHaveLength(1);
    // This client's connection may be made again after that of the worker.
    await expect.poll(() => fleet.client.ping().catch(String)).toBe('PONG');
    const key = fleet.queue('solution-check').toKey(handle.id);
    expect((await readCallRecords(fleet.client, key)).map(({ state }) => state)).toEqual(['answered']);
    expect(await fleet.client.hmget(key, 'fleet:crashes', 'stc')).toEqual([null, null]);
    expect(logLines.map(({ msg }) => msg)).not.toContainEqual(
      expect.stringMatching(/stalled|crashed|job failed/),
    );
    await expect.poll(async () => (await gateway.send('GET', '/healthz')).json.redis).toBe('ok');
  });
});

it.each([
  ['submit', 'solution-check', '--data', '-'],
  ['list'],
  ['doctor'],
  ['costs'],
  ['token', 'list'],
  ['worker'],
  ['serve', '--port', '0'],
])('a database that the server does not have is refused at the start: fleet %s', async (...args) => {
  const { exitCode, stderr } = await fleetCommand(args, {
    env: { FLEET_REDIS_URL: `${single.url}?db=99` },
    input: JSON.stringify(PAYLOAD),
  });
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/has no database 99 .*\(redis-unsuitable\)/);
});
