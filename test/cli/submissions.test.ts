import { afterEach, expect, it, vi } from 'vitest';
import { Submissions } from '../../src/cli/submissions.js';
import { locationOf } from '../../src/producers/find-job.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { addRefinementStep } from '../../src/producers/flows/refinement-step.js';
import { jobOfKey } from '../../src/producers/job-handle.js';
import { viewJob } from '../../src/producers/job-view.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { redisOfFile } from '../support/redis.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { WAIT_LIMIT_MS } from '../support/wait-limit-ms.js';

const redis = redisOfFile();
const opened: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

/** A client behind a link that can be broken, and one that stays. */
async function clients(prefix: string) {
  const proxy = await TcpProxy.start({ path: redis.socketPath });
  opened.push({ close: () => proxy.stop() });
  const broken = await FleetClient.open({ redisUrl: proxy.url, prefix });
  const direct = await FleetClient.open({ redisUrl: redis.url, prefix, waitForSlow: true });
  opened.push(broken, direct);
  return { proxy, broken, direct };
}

const SCRIPT = "score = 'the script of this submission'\n";

/** The next submission reaches Redis, and its reply does not come back. */
function loseReply(proxy: TcpProxy) {
  proxy.onRequest = (chunk) => {
    if (!chunk.includes('the script of this submission')) return;
    proxy.onRequest = undefined;
    proxy.mode = 'half-open';
  };
}

const submitCheck = (fleet: FleetClient, key: string) =>
  addSolutionCheck(fleet, { solution: { content: SCRIPT } }, { key });
const submitStep = async (fleet: FleetClient, key: string) => {
  const step = { ablationCode: 'x', rawOutput: '', solution: { content: SCRIPT }, previousBlocks: [] };
  return (await addRefinementStep(fleet, step, { key })).extract;
};

it.each([
  ['a check', 'solution-check', submitCheck],
  ['a refinement step', 'extract', submitStep],
] as const)(
  '%s whose reply was lost is sent again, and is one job that an interruption cancels',
  async (_what, queue, submit) => {
    const { proxy, broken, direct } = await clients(`lost-${queue}`);
    const submissions = new Submissions(new AbortController().signal);
    loseReply(proxy);
    const keys: string[] = [];
    const submitting = submissions.addThroughOutage(
      (key) => {
        keys.push(key);
        return submit(broken, key);
      },
      (key) => jobOfKey(broken, queue, key),
    );
    const jobs = async () => direct.queue(queue).getJobCountByTypes();
    await vi.waitFor(async () => expect(await jobs()).toBe(1), WAIT_LIMIT_MS);
    proxy.cut();
    proxy.mode = 'open';

    const job = await submitting;
    expect(keys.length).toBeGreaterThan(1);
    expect(new Set(keys).size).toBe(1);
    expect(await jobs()).toBe(1);
    expect(job.outcome).toBe('existing');
    await submissions.cancelAll();
    expect(await job.state()).toBe('cancelled');
  },
);

it('a submission that Redis refuses until somebody changes its permissions is not waited for', async () => {
  const { direct } = await clients('refused');
  await direct.client.call('ACL', 'SETUSER', 'reader', 'on', '>secret', '~*', '&*', '+@all', '-@scripting');
  const redisUrl = redis.url.replace('unix://', 'unix://reader:secret@');
  const reader = await FleetClient.open({ redisUrl, prefix: direct.prefix, waitForSlow: true });
  opened.push(reader);
  let attempts = 0;
  const submitting = new Submissions(new AbortController().signal).addThroughOutage(
    (key) => {
      attempts += 1;
      return submitCheck(reader, key);
    },
    (key) => jobOfKey(reader, 'solution-check', key),
  );
  await expect(submitting).rejects.toMatchObject({
    code: 'redis-unreachable',
    message: expect.stringContaining('NOPERM') as unknown,
  });
  expect(attempts).toBe(1);
});

it('an interruption ends the wait for a Redis that is away, and cancels the job whose reply was lost', async () => {
  const { proxy, broken, direct } = await clients('interrupted');
  const interruption = new AbortController();
  const submissions = new Submissions(interruption.signal);
  loseReply(proxy);
  let attempts = 0;
  const submitting = submissions.addThroughOutage(
    (key) => {
      attempts += 1;
      if (attempts === 2) interruption.abort();
      return submitCheck(broken, key);
    },
    (key) => jobOfKey(direct, 'solution-check', key),
  );
  const queue = direct.queue('solution-check');
  await vi.waitFor(async () => expect(await queue.getJobCountByTypes()).toBe(1), WAIT_LIMIT_MS);
  proxy.mode = 'refusing';
  proxy.cut();
  await expect(submitting).rejects.toMatchObject({ name: 'AbortError' });
  expect(attempts).toBe(2);
  await submissions.cancelAll();
  const [job] = await queue.getJobs();
  expect((await viewJob(direct, locationOf(direct, job?.id ?? ''))).state).toBe('cancelled');
});
