import { describe, expect, it } from 'vitest';
import { addJob } from '../../src/producers/add-job.js';
import { findJob } from '../../src/producers/find-job.js';
import { retryJob } from '../../src/producers/retry-job.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { waitForJob } from '../../src/producers/wait-for-job.js';
import { correction, leaks } from '../support/agent-answers.js';
import { fleetWithRunner } from '../support/fleet.js';
import { errorReply, type Script } from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';

const SCRIPT = 'a = fit(all)\nprint(a)\n';

const redis = redisOfFile();
const startFleet = (reply: Script) => fleetWithRunner(redis, 'test', reply);

describe('a solution-check job', () => {
  it('REQ-SF-020: goes through Redis and a worker and comes back corrected', async () => {
    const { fleet, worker, runner } = await startFleet([leaks('a = fit(all)'), correction('a = fit(train)')]);
    await worker(runner);
    const handle = await addSolutionCheck(fleet, { solution: { content: SCRIPT }, tags: { run: 'r1' } });
    const result = await handle.result();
    expect(result.status).toBe('corrected');
    expect(result.solution.content).toBe('a = fit(train)\nprint(a)\n');
    const view = await handle.view();
    expect(view).toMatchObject({
      state: 'completed',
      tags: { run: 'r1' },
      attempts: 1,
    });
    expect(view.usage.calls).toBe(2);
  });

  it('returns its result also after the end, and to two callers at once', async () => {
    const { fleet, worker, runner } = await startFleet([leaks()]);
    await worker(runner);
    const handle = await addSolutionCheck(fleet, { solution: { content: SCRIPT } });
    const [first, second] = await Promise.all([handle.result(), handle.result()]);
    expect(first).toEqual(second);
    expect(await handle.result()).toEqual(first);
  });

  it('shows what it is doing while it does', async () => {
    let answer: (() => void) | undefined;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const { fleet, worker, runner } = await startFleet(async () => answered.then(() => leaks()));
    await worker(runner);
    const handle = await addSolutionCheck(fleet, { solution: { content: SCRIPT } });
    try {
      await expect.poll(async () => (await handle.view()).progress).toBe('detecting');
    } finally {
      answer?.();
    }
    expect((await handle.wait()).state).toBe('completed');
  });

  it('shows its log lines on the job', async () => {
    const { fleet, worker, runner } = await startFleet([leaks('nowhere()')]);
    await worker(runner);
    const handle = await addSolutionCheck(fleet, { solution: { content: SCRIPT } });
    await handle.result();
    const { queue } = await findJob(fleet, handle.id);
    const { logs } = await queue.getJobLogs(handle.id);
    expect(logs.join('\n')).toContain('is not in the script');
  });

  it('names the job and its kind on every log line of its run', async () => {
    const { fleet, worker, runner, logLines } = await startFleet([leaks()]);
    await worker(runner);
    const handle = await addSolutionCheck(fleet, { solution: { content: SCRIPT } });
    await handle.result();
    const lines = logLines.filter(({ jobId }) => jobId === handle.id);
    expect(lines.map(({ msg }) => msg)).toEqual(expect.arrayContaining(['job started', 'job completed']));
    expect(new Set(lines.map(({ kind }) => kind))).toEqual(new Set(['solution-check']));
  });

  it('with a wrong key fails once, and is not tried again', async () => {
    const {
      fleet,
      worker,
      runner,
      api: server,
    } = await startFleet(() => errorReply(401, 'invalid x-api-key'));
    await worker(runner);
    const handle = await addSolutionCheck(fleet, { solution: { content: SCRIPT } });
    const view = await handle.wait();
    expect(view).toMatchObject({
      state: 'failed',
      error: { code: 'unauthorized', retryable: false },
      attempts: 1,
    });
    expect(server.requests).toHaveLength(1);
    await expect(handle.result()).rejects.toMatchObject({ code: 'unauthorized' });
  });

  it('with an unknown model fails once', async () => {
    const { fleet, worker, runner } = await startFleet(() => errorReply(404, 'model: no-such-model'));
    await worker(runner);
    const handle = await addSolutionCheck(fleet, { solution: { content: SCRIPT }, model: 'no-such-model' });
    expect(await handle.wait()).toMatchObject({
      state: 'failed',
      error: { code: 'unknown-model' },
      attempts: 1,
    });
  });

  it('that failed can be run again', async () => {
    const { fleet, worker, runner } = await startFleet([errorReply(401), leaks()]);
    await worker(runner);
    const handle = await addSolutionCheck(fleet, { solution: { content: SCRIPT } });
    await handle.wait();
    await retryJob(fleet, handle.id);
    expect((await handle.result()).status).toBe('clean');
    await expect(retryJob(fleet, handle.id)).rejects.toMatchObject({ code: 'job-not-retryable' });
  });

  it('shows what its calls cost although it failed', async () => {
    const { fleet, worker, runner } = await startFleet([leaks('a = fit(all)'), errorReply(401)]);
    await worker(runner);
    const handle = await addSolutionCheck(fleet, { solution: { content: SCRIPT } });
    const view = await handle.wait();
    expect(view.state).toBe('failed');
    expect(view.usage).toMatchObject({ calls: 1, inputTokens: 100, outputTokens: 20 });
  });

  it('of a newer contract is left for a newer worker and does not fail', async () => {
    const { fleet, worker, runner, logged } = await startFleet([]);
    const queue = fleet.queue('solution-check');
    const job = await queue.add('solution-check', { v: 99, shape: 'new' }, { jobId: 'solution-check-newer' });
    await worker(runner);
    await logged('left for a newer worker');
    expect(['delayed', 'active']).toContain(await job.getState());
    expect((await queue.getJob('solution-check-newer'))?.attemptsMade).toBe(0);
  });

  it('whose payload was written past the producers fails with the field, once', async () => {
    const { fleet, worker, runner } = await startFleet([]);
    await worker(runner);
    const queue = fleet.queue('solution-check');
    await queue.add(
      'solution-check',
      { solution: { content: 1 } },
      { jobId: 'solution-check-bad', attempts: 3 },
    );
    const view = await waitForJob(fleet, 'solution-check-bad');
    expect(view).toMatchObject({ state: 'failed', error: { code: 'invalid-payload' }, attempts: 1 });
    expect(view.error?.message).toContain('solution.content');
  });
});

describe('waiting', () => {
  it('ends after its time limit, and the job goes on', async () => {
    const { fleet } = await startFleet([]);
    const handle = await addSolutionCheck(fleet, { solution: { content: SCRIPT } });
    await expect(handle.result({ timeout: 20 })).rejects.toMatchObject({
      code: 'wait-timeout',
      jobId: handle.id,
    });
    expect((await handle.view()).state).toBe('waiting');
  });

  it('ends when it is aborted', async () => {
    const { fleet } = await startFleet([]);
    const handle = await addSolutionCheck(fleet, { solution: { content: SCRIPT } });
    const waiting = handle.result({ signal: AbortSignal.timeout(20) });
    await expect(waiting).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('for a job that does not exist is rejected', async () => {
    const { fleet } = await startFleet([]);
    await expect(waitForJob(fleet, 'solution-check-none')).rejects.toMatchObject({ code: 'job-not-found' });
  });
});

describe('cancelling', () => {
  it('a running job aborts its call and is final', async () => {
    const { fleet, worker, runner, api: server } = await startFleet([{ kind: 'hang' }]);
    await worker(runner);
    const handle = await addSolutionCheck(fleet, { solution: { content: SCRIPT } });
    await server.arrived(1);
    await handle.cancel();
    expect(await handle.wait()).toMatchObject({ state: 'cancelled', error: { code: 'job-cancelled' } });
    await server.requests[0]?.aborted;
    await expect(retryJob(fleet, handle.id)).rejects.toMatchObject({ code: 'job-not-retryable' });
  });

  it('a waiting job is final at once, and no worker starts it', async () => {
    const { fleet, worker, runner, api: server } = await startFleet([leaks()]);
    const handle = await addSolutionCheck(fleet, { solution: { content: SCRIPT } });
    const waiting = handle.wait();
    await handle.cancel();
    expect((await waiting).state).toBe('cancelled');
    await worker(runner);
    const other = await addSolutionCheck(fleet, { solution: { content: SCRIPT } });
    await other.result();
    expect(server.requests).toHaveLength(1);
    expect((await handle.view()).state).toBe('cancelled');
  });

  it('a delayed job is final too', async () => {
    const { fleet, worker, runner, api: server } = await startFleet([]);
    await worker(runner);
    const handle = await addJob(
      fleet,
      'solution-check',
      { solution: { content: SCRIPT } },
      { delayMs: 3_600_000 },
    );
    expect((await handle.view()).state).toBe('delayed');
    await handle.cancel();
    expect((await handle.wait()).state).toBe('cancelled');
    expect(server.requests).toHaveLength(0);
  });

  it('a job that has ended is rejected', async () => {
    const { fleet, worker, runner } = await startFleet([leaks()]);
    await worker(runner);
    const handle = await addSolutionCheck(fleet, { solution: { content: SCRIPT } });
    await handle.result();
    await expect(handle.cancel()).rejects.toMatchObject({ code: 'job-already-ended' });
  });
});

describe('stopping a worker', () => {
  it('lets a running job end', async () => {
    const { fleet, worker, runner, api: server } = await startFleet([{ ...leaks(), delayMs: 300 }]);
    const running = await worker(runner);
    const handle = await addSolutionCheck(fleet, { solution: { content: SCRIPT } });
    await server.arrived(1);
    await running.stop(30_000);
    expect(await handle.view()).toMatchObject({ state: 'completed' });
  });

  it('returns a job that takes too long to the queue without using an attempt', async () => {
    const { fleet, worker, runner, api: server } = await startFleet([{ kind: 'hang' }, leaks()]);
    const running = await worker(runner);
    const handle = await addSolutionCheck(fleet, { solution: { content: SCRIPT } });
    await server.arrived(1);
    await running.stop(0);
    expect(await handle.view()).toMatchObject({ state: 'waiting', attempts: 0 });
    await worker(runner);
    expect((await handle.result()).status).toBe('clean');
  });
});
