import { describe, expect, it, onTestFinished } from 'vitest';
import { createAnthropicRunner } from '../../src/agents/anthropic-runner.js';
import { retryJob } from '../../src/producers/retry-job.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { readCallRecords } from '../../src/queues/call-record.js';
import { correction, leaks, runnerFor } from '../support/agent-answers.js';
import { startTestFleet } from '../support/fleet.js';
import {
  errorReply,
  type Reply,
  startMessagesApi,
  textReply,
  truncatedReply,
} from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';

const redis = redisOfFile();
let fleets = 0;

const PAYLOAD = { solution: { content: 'a = fit(all)\nprint(a)\n' } };
const HANG: Reply = { kind: 'hang' };

async function startFleet(replies: readonly Reply[]) {
  fleets += 1;
  const test = await startTestFleet(redis, `middle-${fleets}`);
  const api = await startMessagesApi({ reply: replies });
  onTestFinished(async () => {
    await test.close();
    await api.close();
  });
  const states = async (id: string) => {
    const records = await readCallRecords(test.fleet.client, test.fleet.queue('solution-check').toKey(id));
    return records.map(({ step, turn, state }) => `${step} ${turn} ${state}`);
  };
  return { ...test, api, states };
}

describe('a question that was asked on after an unusable answer', () => {
  const nonsense = textReply('no JSON');
  const cut = truncatedReply('{"answers": [');

  /** What the provider answers to one job: two answers that cannot be used, and three that can. */
  const ANSWERS: readonly Reply[] = [
    nonsense,
    cut,
    leaks('a = fit(all)'),
    textReply(''),
    correction('a = fit(train)'),
  ];

  it.each(ANSWERS.map((_, index) => index))(
    'is gone on with where its worker stopped in call %#, and no answered call is paid again',
    async (stopped) => {
      const replies = [...ANSWERS.slice(0, stopped), HANG, ...ANSWERS.slice(stopped)];
      const { fleet, worker, api, states } = await startFleet(replies);
      const first = await worker(runnerFor(api));
      const handle = await addSolutionCheck(fleet, PAYLOAD);
      await api.arrived(stopped + 1);
      await first.stop(0);
      await worker(runnerFor(api));
      const result = await handle.result();
      expect(result).toMatchObject({
        status: 'corrected',
        usage: { calls: ANSWERS.length - stopped, reusedCalls: stopped },
      });
      // Every answer once, and again the call that was under way when the worker stopped.
      expect(api.requests).toHaveLength(ANSWERS.length + 1);
      expect((await states(handle.id)).filter((state) => state.endsWith('in-doubt'))).toHaveLength(1);
    },
  );

  it('is gone on with by a retry after another question of the job had failed', async () => {
    const { fleet, worker, api } = await startFleet([
      nonsense,
      leaks('a = fit(all)'),
      errorReply(401),
      correction('a = fit(train)'),
    ]);
    await worker(runnerFor(api));
    const handle = await addSolutionCheck(fleet, PAYLOAD);
    expect((await handle.wait()).state).toBe('failed');
    await retryJob(fleet, handle.id);
    expect((await handle.result()).usage).toMatchObject({ calls: 1, reusedCalls: 2 });
    expect(api.requests).toHaveLength(4);
  });

  it('is gone on with by the next attempt after its second call had failed in passing', async () => {
    const { fleet, worker, api } = await startFleet([nonsense, errorReply(500), errorReply(500), leaks()]);
    await worker(runnerFor(api));
    const handle = await addSolutionCheck(fleet, PAYLOAD);
    expect((await handle.result()).usage).toMatchObject({ calls: 1, reusedCalls: 1 });
    expect(api.requests).toHaveLength(4);
  });
});

describe('a question that came to its end without a usable answer', () => {
  it('is asked from the beginning by a retry: no unusable answer is replayed', async () => {
    const nonsense = [1, 2, 3].map((time) => textReply(`no JSON ${time}`));
    const { fleet, worker, api, states } = await startFleet([...nonsense, leaks()]);
    await worker(runnerFor(api));
    const handle = await addSolutionCheck(fleet, PAYLOAD);
    expect(await handle.wait()).toMatchObject({ state: 'failed', error: { code: 'answer-invalid' } });
    await retryJob(fleet, handle.id);
    expect((await handle.result()).usage).toMatchObject({ calls: 1, reusedCalls: 0 });
    expect(api.requests[3]?.body.messages).toHaveLength(1);
    expect(await states(handle.id)).toEqual([
      'detect 1 unusable',
      'detect 2 unusable',
      'detect 3 unusable',
      'detect 1 answered',
    ]);
  });

  it('is asked from the beginning, and gone on with from there when that worker stops', async () => {
    const old = [1, 2, 3].map((time) => textReply(`no JSON ${time}`));
    const { fleet, worker, api } = await startFleet([...old, textReply('no JSON, anew'), HANG, leaks()]);
    const first = await worker(runnerFor(api));
    const handle = await addSolutionCheck(fleet, PAYLOAD);
    await handle.wait();
    await retryJob(fleet, handle.id);
    await api.arrived(5);
    await first.stop(0);
    await worker(runnerFor(api));
    expect((await handle.result()).usage).toMatchObject({ calls: 1, reusedCalls: 1 });
    expect(api.requests).toHaveLength(6);
    expect(JSON.stringify(api.requests[5]?.body.messages)).toContain('no JSON, anew');
  });

  it('is asked from the beginning where only a request that came of it is refused', async () => {
    const { fleet, worker, api } = await startFleet([
      textReply('no JSON'),
      errorReply(400, 'messages: too long'),
      leaks(),
    ]);
    await worker(runnerFor(api));
    const handle = await addSolutionCheck(fleet, PAYLOAD);
    expect((await handle.wait()).state).toBe('failed');
    await retryJob(fleet, handle.id);
    expect((await handle.result()).usage).toMatchObject({ calls: 1, reusedCalls: 0 });
    expect(api.requests).toHaveLength(3);
  });

  it('is asked from the beginning where the next call fell silent again and again', async () => {
    const silent: Reply = { ...leaks(), fault: { after: 2, effect: { what: 'hang' } } };
    const { fleet, worker, api } = await startFleet([
      textReply('no JSON'),
      ...[1, 2, 3].map(() => silent),
      textReply('no JSON'),
      leaks(),
    ]);
    const runner = createAnthropicRunner({
      baseURL: api.url,
      apiKey: 'test-key',
      callRetries: 0,
      callIdleMs: 100,
    });
    await worker(runner);
    const handle = await addSolutionCheck(fleet, PAYLOAD);
    expect(await handle.wait()).toMatchObject({
      state: 'failed',
      error: { code: 'call-idle' },
    });
    expect(api.requests).toHaveLength(4);
    await retryJob(fleet, handle.id);
    expect((await handle.result()).usage).toMatchObject({ calls: 2, reusedCalls: 0 });
    expect(api.requests[4]?.body.messages).toHaveLength(1);
  });
});
