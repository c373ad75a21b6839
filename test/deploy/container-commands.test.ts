import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sendTo } from '../gateway/gateway-fixture.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { ContainerProcess, IMAGE, imageTree, noContainersBecause } from './container-process.js';
import { freePort } from './redis-processes.js';

const reason = noContainersBecause();
if (reason !== undefined) {
  process.stderr.write(`\nSKIPPED: the commands of the container image are not run, since ${reason}.\n\n`);
}

describe.skipIf(reason !== undefined)('the commands of the image, as its user on a read-only root', () => {
  let redis: TestRedis;
  let env: Record<string, string>;
  let tree: string;
  const running: ContainerProcess[] = [];

  function start(args: readonly string[], more: Readonly<Record<string, string>> = {}): ContainerProcess {
    const started = new ContainerProcess(tree, [...IMAGE.entrypoint, ...args], { ...env, ...more });
    running.push(started);
    return started;
  }

  beforeAll(async () => {
    const port = await freePort();
    redis = await startTestRedis(['--port', String(port), '--bind', '127.0.0.1']);
    env = { FLEET_REDIS_URL: `redis://127.0.0.1:${port}`, FLEET_DRAIN_SECONDS: '30' };
    tree = imageTree();
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((started) => started.kill()));
  });
  afterAll(() => redis.stop());

  it('cannot write anywhere but into /tmp', async () => {
    const script =
      'id -u; touch /tmp/x && echo tmp; for f in /x /srv/app/x /var/tmp/x; do touch $f || echo no; done';
    const shell = new ContainerProcess(tree, ['sh', '-c', script], env);
    const { output } = await shell.ended;
    expect(output.split('\n').filter((line) => !line.startsWith('touch:'))).toEqual([
      ...['1000', 'tmp'],
      ...['no', 'no', 'no'],
    ]);
  });

  it('takes a job through gateway and worker, unhealthy only without Redis, and both end in order on SIGTERM', async () => {
    const port = await freePort();
    const worker = start(IMAGE.command);
    await worker.printed('worker ready');
    const health = () => worker.execute(IMAGE.healthcheck);
    expect(await health()).toEqual({ code: 0, output: '' });
    await redis.kill();
    await expect
      .poll(health, { interval: 500 })
      .toEqual({ code: 1, output: expect.stringMatching(/^not able to work for \d+ s\n$/) });
    await redis.restart();
    await expect.poll(health, { interval: 500 }).toEqual({ code: 0, output: '' });

    const added = await start(['token', 'add', 'test', '--role', 'admin', '--json']).ended;
    expect(added.code).toBe(0);
    const { token } = JSON.parse(added.output) as { token: string };
    const gateway = start(['serve', '--host', '0.0.0.0', '--port', String(port)]);
    await gateway.printed('listening on');
    expect(await gateway.execute(IMAGE.healthcheck)).toEqual({ code: 0, output: '' });

    const job = await sendTo(
      `http://127.0.0.1:${port}`,
      'POST',
      '/v1/jobs/solution-check?wait=30s',
      { payload: { solution: { content: 'x = 1\n' } } },
      { authorization: `Bearer ${token}` },
    );
    expect(job.json).toMatchObject({ state: 'completed', result: { status: 'clean' } });

    gateway.signal('SIGTERM');
    worker.signal('SIGTERM');
    expect((await gateway.ended).code).toBe(0);
    const { code, output } = await worker.ended;
    expect([code, output]).toEqual([0, expect.stringContaining('worker stopped')]);
  });

  it('keeps no jobs in a container: a worker needs a Redis elsewhere, and says so', async () => {
    const { code, output } = await start(IMAGE.command, { FLEET_REDIS_URL: '' }).ended;
    expect([code, output]).toEqual([2, expect.stringContaining('FLEET_REDIS_URL: is not set')]);
  });

  it('serves nobody without a token, and says what to do', async () => {
    const { code, output } = await start(['serve', '--host', '0.0.0.0', '--port', '0'], {
      FLEET_PREFIX: 'without-token',
    }).ended;
    expect(code).not.toBe(0);
    expect(output).toContain('token add');
  });
});
