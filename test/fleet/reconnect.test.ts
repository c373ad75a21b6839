import { setImmediate as nextTurn, setTimeout as passes } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { cancelJob } from '../../src/producers/cancel-job.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { waitForJob } from '../../src/producers/wait-for-job.js';
import { leaks, runnerFor } from '../support/agent-answers.js';
import { startTestFleet } from '../support/fleet.js';
import { startMessagesApi } from '../support/messages-api.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { TcpProxy } from '../support/tcp-proxy.js';

/** How long Redis is away, in milliseconds. */
const AWAY_MS = 10_000;

const script = (name: string) => ({ solution: { content: `name = '${name}'\n` } });

interface Fault {
  readonly name: string;
  begin(redis: TestRedis, proxy: TcpProxy): Promise<unknown> | unknown;
  end(redis: TestRedis, proxy: TcpProxy): Promise<unknown> | unknown;
}

const FAULTS: readonly Fault[] = [
  { name: 'killed and started again', begin: (redis) => redis.kill(), end: (redis) => redis.restart() },
  { name: 'frozen', begin: (redis) => redis.pause(), end: (redis) => redis.resume() },
  {
    name: 'with a connection that drops everything',
    begin: (_redis, proxy) => {
      proxy.mode = 'black-hole';
    },
    end: (_redis, proxy) => {
      proxy.mode = 'open';
    },
  },
  {
    name: 'with a connection that drops the answers',
    begin: (_redis, proxy) => {
      proxy.mode = 'half-open';
    },
    end: (_redis, proxy) => {
      proxy.mode = 'open';
    },
  },
];

describe.concurrent('Redis away for ten seconds', () => {
  it.for(FAULTS)(
    '$name: waiting, delayed and running jobs and waiters go on by themselves',
    async (fault, { onTestFinished }) => {
      const redis = await startTestRedis();
      const proxy = await TcpProxy.start({ path: redis.socketPath });
      const api = await startMessagesApi({
        reply: ({ text }) => ({ ...leaks(), delayMs: text.includes('running') ? AWAY_MS / 2 : 0 }),
      });
      const test = await startTestFleet({ ...redis, url: proxy.url }, 'away', { waitForSlow: false });
      onTestFinished(() => redis.stop());
      onTestFinished(() => proxy.stop());
      onTestFinished(() => api.close());
      onTestFinished(() => test.close());
      await test.worker(runnerFor(api), { lockMs: 5_000, waitForSlow: false });
      const delayed = await addSolutionCheck(test.fleet, script('delayed'), { delayMs: AWAY_MS / 2 });
      const running = await addSolutionCheck(test.fleet, script('running'));
      await api.arrived(1);
      // The waiters listen before the outage begins: a wait that cannot begin is rejected.
      await test.fleet.events('solution-check').listen('no-such-job', () => undefined);
      const waiters = Promise.allSettled([delayed, running].map((job) => job.wait()));
      await running.view();
      await fault.begin(redis, proxy);
      // The outage itself is what is tested; nothing in the product says when it has lasted long enough.
      await passes(AWAY_MS);
      await fault.end(redis, proxy);
      expect(await waiters).toMatchObject([
        { status: 'fulfilled', value: { state: 'completed' } },
        { status: 'fulfilled', value: { state: 'completed' } },
      ]);
      const later = await submitAgain(test.fleet);
      expect((await later.wait()).state).toBe('completed');
    },
  );

  it('a cancellation that was published meanwhile still reaches the call', async ({ onTestFinished }) => {
    const redis = await startTestRedis();
    const proxy = await TcpProxy.start({ path: redis.socketPath });
    const api = await startMessagesApi({ reply: () => ({ kind: 'hang' }) });
    const test = await startTestFleet(redis, 'cancelled');
    onTestFinished(() => redis.stop());
    onTestFinished(() => proxy.stop());
    onTestFinished(() => api.close());
    onTestFinished(() => test.close());
    await test.worker(runnerFor(api), { redisUrl: proxy.url });
    const job = await addSolutionCheck(test.fleet, script('hanging'));
    await api.arrived(1);
    proxy.mode = 'refusing';
    proxy.cut();
    await job.cancel();
    proxy.mode = 'open';
    await api.requests[0]?.aborted;
    expect((await job.wait()).state).toBe('cancelled');
  });

  it('connections that Redis kills come back at once', async ({ onTestFinished }) => {
    const redis = await startTestRedis();
    const api = await startMessagesApi({ reply: () => leaks() });
    const test = await startTestFleet(redis, 'killed');
    onTestFinished(() => redis.stop());
    onTestFinished(() => api.close());
    onTestFinished(() => test.close());
    await test.worker(runnerFor(api));
    for (let round = 0; round < 5; round += 1) {
      await test.fleet.client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      const job = await submitAgain(test.fleet);
      expect((await job.wait()).state).toBe('completed');
    }
  });

  it('a wait that begins meanwhile goes on, unless its client is closed', async ({ onTestFinished }) => {
    const redis = await startTestRedis();
    onTestFinished(() => redis.stop());
    const open = () => FleetClient.open({ redisUrl: redis.url, prefix: 'waits' });
    const [fleet, closing] = [await open(), await open()];
    onTestFinished(() => fleet.close());
    const { id } = await addSolutionCheck(fleet, script('waited for'));
    const next = ({ client }: FleetClient, event: 'close' | 'ready') =>
      new Promise<void>((resolve) => client.once(event, resolve));
    const lost = [next(fleet, 'close'), next(closing, 'close')];
    await redis.kill();
    await Promise.all(lost);
    const ended = expect(waitForJob(closing, id)).rejects.toThrow(/closed/);
    // It has failed to read the events once: without a connection, commands fail at once.
    await nextTurn();
    await closing.close();
    await ended;
    const waited = waitForJob(fleet, id);
    const back = next(fleet, 'ready');
    await redis.restart();
    await back;
    await cancelJob(fleet, id);
    expect((await waited).state).toBe('cancelled');
  });
});

/** A producer gets an error while Redis is unreachable, and tries again. */
async function submitAgain(fleet: Parameters<typeof addSolutionCheck>[0]) {
  for (;;) {
    try {
      return await addSolutionCheck(fleet, script('later'), { key: 'later', force: true });
    } catch {
      await passes(100);
    }
  }
}
