import { describe, expect, it } from 'vitest';
import { retryDeadLetters } from '../../src/producers/dead-letters.js';
import { findJob } from '../../src/producers/find-job.js';
import type { FleetClient } from '../../src/producers/fleet-client.js';
import { addRefinementStep } from '../../src/producers/flows/refinement-step.js';
import { retryJob } from '../../src/producers/retry-job.js';
import { fleetWithRunner } from '../support/fleet.js';
import {
  errorReply,
  jsonReply,
  type RecordedRequest,
  type Reply,
  type Script,
  textReply,
} from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';

const STEP = {
  ablationCode: 'print("x")',
  rawOutput: 'a: 1',
  solution: { content: 'a = fit(all)\nprint(a)\n' },
  previousBlocks: [],
};
const PLAN = { code_block: 'a = fit(all)', plan: 'Fit it on less.' };

const redis = redisOfFile();
const startFleet = (reply: Script) => fleetWithRunner(redis, 'step', reply);

const isSummary = ({ text }: RecordedRequest) => text.includes('<ablation-code-');

describe('addRefinementStep', () => {
  const reply = (request: RecordedRequest): Reply =>
    isSummary(request) ? textReply('The fit matters most.') : jsonReply({ plans: [PLAN] });

  it('REQ-P2O-016: the prompt of the parent has the summary of the child', async () => {
    const { fleet, worker, runner, api: server } = await startFleet(reply);
    await worker(runner);
    const { extract, summarize } = await addRefinementStep(fleet, { ...STEP, tags: { run: 'r' } });
    const result = await extract.result();
    expect(result).toMatchObject({
      outcome: 'selected',
      codeBlock: 'a = fit(all)',
      planIndex: 0,
      attempts: 1,
    });
    expect((await summarize.result()).summary).toBe('The fit matters most.');
    expect(server.requests[1]?.text).toContain('The fit matters most.');
    expect((await extract.view()).tags).toEqual({ run: 'r' });
  });

  it.each([
    ['a traceback', 'Traceback (most recent call last):\nValueError: Input X contains NaN.\n'],
    ['nothing', ''],
    ['scores that are no numbers', 'Baseline: nan\nNo scaler: nan\n'],
  ])('REQ-P2O-018: pays for no block if the ablation printed %s', async (_what, rawOutput) => {
    const { fleet, worker, runner, api: server } = await startFleet(reply);
    await worker(runner);
    const { extract, summarize } = await addRefinementStep(fleet, { ...STEP, rawOutput });
    const { outcome, reason, attempts, usage } = await extract.result();
    expect([outcome, reason]).toEqual(['skipped', expect.stringContaining('printed no score')]);
    expect([attempts, usage.calls, usage.costUsd]).toEqual([0, 0, 0]);
    expect((await summarize.result()).withoutScores).toBe(true);
    expect(server.requests).toHaveLength(1);
  });

  it('a summary that fails permanently fails the step, which names the child and its reason', async () => {
    const { fleet, worker, runner } = await startFleet(() => errorReply(401, 'invalid x-api-key'));
    await worker(runner);
    const { extract, summarize } = await addRefinementStep(fleet, STEP);
    const view = await extract.wait();
    expect(view).toMatchObject({ state: 'failed', error: { code: 'child-failed', retryable: false } });
    expect(view.error?.message).toContain(summarize.id);
    expect(view.error?.message).toContain('unauthorized');
  });

  it('a child that is run again and succeeds continues its parent', async () => {
    let broken = true;
    const { fleet, worker, runner } = await startFleet((request) =>
      broken ? errorReply(401) : reply(request),
    );
    await worker(runner);
    const { extract, summarize } = await addRefinementStep(fleet, STEP);
    expect((await extract.wait()).state).toBe('failed');
    broken = false;
    await retryJob(fleet, summarize.id);
    await summarize.result();
    const { queue } = await findJob(fleet, extract.id);
    await untilCompleted(fleet, queue.name, extract.id);
    expect((await extract.result()).outcome).toBe('selected');
  });

  it('with a key is one step, however often it is submitted, and is rejected with other inputs', async () => {
    const { fleet, worker, runner, api: server } = await startFleet(reply);
    const first = await addRefinementStep(fleet, STEP, { key: 'run:1/step:1' });
    const second = await addRefinementStep(fleet, STEP, { key: 'run:1/step:1' });
    expect(second.extract.id).toBe(first.extract.id);
    expect([first.extract.outcome, second.extract.outcome]).toEqual(['created', 'existing']);
    await worker(runner);
    await first.extract.result();
    const third = await addRefinementStep(fleet, STEP, { key: 'run:1/step:1' });
    expect((await third.extract.result()).outcome).toBe('selected');
    expect(server.requests).toHaveLength(2);
    const other = addRefinementStep(fleet, { ...STEP, rawOutput: 'b: 2' }, { key: 'run:1/step:1' });
    await expect(other).rejects.toMatchObject({ code: 'key-conflict' });
  });

  it('with a key runs again after a failure, from the failed job', async () => {
    let broken = true;
    const { fleet, worker, runner } = await startFleet((request) =>
      broken ? errorReply(401) : reply(request),
    );
    await worker(runner);
    const first = await addRefinementStep(fleet, STEP, { key: 'k' });
    await first.extract.wait();
    broken = false;
    const again = await addRefinementStep(fleet, STEP, { key: 'k' });
    expect(again.extract.outcome).toBe('retried');
    await untilCompleted(fleet, 'extract', again.extract.id);
    expect((await again.extract.result()).outcome).toBe('selected');
  });

  it.each([
    ['its parent', ['extract']],
    ['both jobs', ['summarize', 'extract']],
  ] as const)(
    'runs again, the child first, with %s as dead letters that are retried',
    async (_what, kinds) => {
      let broken = true;
      const { fleet, worker, runner } = await startFleet((request) =>
        broken ? errorReply(401) : reply(request),
      );
      await worker(runner);
      const step = await addRefinementStep(fleet, STEP);
      await step.extract.wait();
      broken = false;
      const ids = kinds.map((kind) => step[kind].id);
      expect(await retryDeadLetters(fleet, { ids })).toEqual({ done: ids, refused: [] });
      expect(await step.extract.wait()).toMatchObject({ state: 'completed' });
    },
  );

  it('with a key and force runs again after success', async () => {
    const { fleet, worker, runner, api: server } = await startFleet(reply);
    await worker(runner);
    const first = await addRefinementStep(fleet, STEP, { key: 'k' });
    await first.extract.result();
    const again = await addRefinementStep(fleet, STEP, { key: 'k', force: true });
    expect(again.extract.outcome).toBe('replaced');
    await again.extract.result();
    expect(server.requests).toHaveLength(4);
  });

  it('whose child was removed by hand ends instead of waiting forever', async () => {
    const { fleet, worker, runner } = await startFleet(reply);
    const { extract, summarize } = await addRefinementStep(fleet, STEP);
    const { job } = await findJob(fleet, summarize.id);
    await job.remove();
    await worker(runner);
    const view = await extract.wait();
    expect(view).toMatchObject({ state: 'failed', error: { code: 'invalid-payload' }, attempts: 1 });
    expect(view.error?.message).toContain('no child job supplies it');
  });

  it('that is cancelled takes its child along', async () => {
    const { fleet } = await startFleet(reply);
    const { extract, summarize } = await addRefinementStep(fleet, STEP);
    await extract.cancel();
    expect((await extract.view()).state).toBe('cancelled');
    expect((await summarize.view()).state).toBe('cancelled');
  });

  it.each(['before', 'after'])(
    'with a key that is cancelled runs again, %s its child has ended',
    async (when) => {
      const { fleet, worker, runner } = await startFleet(reply);
      const first = await addRefinementStep(fleet, STEP, { key: 'k' });
      await first.extract.cancel();
      if (when === 'after') {
        await worker(runner);
        await expect
          .poll(async () => (await findJob(fleet, first.summarize.id)).job.getState())
          .toBe('failed');
      }
      const again = await addRefinementStep(fleet, STEP, { key: 'k' });
      expect(again.extract.outcome).toBe('retried');
      if (when === 'before') await worker(runner);
      await again.summarize.result();
      await expect.poll(async () => (await again.extract.view()).state).toBe('completed');
    },
  );
});

/** Waits for an event that a job completed, whatever its state was before. */
async function untilCompleted(fleet: FleetClient, queue: string, id: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const look = () => {
      findJob(fleet, id, queue)
        .then(async ({ job }) => {
          if ((await job.getState()) === 'completed') resolve();
        })
        .catch(reject);
    };
    fleet.events(queue).listen(id, look).then(look, reject);
  });
}
