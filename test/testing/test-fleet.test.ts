import { AssertionError } from 'node:assert';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createAnthropicRunner } from '../../src/agents/anthropic-runner.js';
import { AgentError } from '../../src/errors.js';
import { addGuardedEvaluation, addJob, addSolutionCheck, checkedSolution } from '../../src/index.js';
import { defineKind } from '../../src/processors/define-kind.js';
import {
  scriptedAgents,
  startTestFleet,
  TestClock,
  type TestFleet,
  type TestFleetOptions,
} from '../../src/testing/index.js';
import { leaks } from '../support/agent-answers.js';
import { errorReply, startMessagesApi } from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';

const redis = redisOfFile();
let test: TestFleet | undefined;
let fleets = 0;
afterEach(async () => {
  await test?.close();
  test = undefined;
});

async function start(options: TestFleetOptions = {}): Promise<TestFleet> {
  fleets += 1;
  test = await startTestFleet({ redisUrl: redis.url, prefix: `pipeline-${fleets}`, ...options });
  return test;
}

const LEAKY = 'x = fit(all)\nprint(x)\n';
const OF_ANALYSIS = `import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split
t = pd.read_csv("t.csv")
a, b, c, d = train_test_split(t[["x"]], t["y"])
print(Ridge().fit(a, c).score(b, d))
`;
const CLEAN = { answers: [{ leakage_status: 'No Data Leakage', code_block: '' }] };
const CORRECTION = {
  detect: { answers: [{ leakage_status: 'Yes Data Leakage', code_block: 'x = fit(all)' }] },
  'correct-1-1': '```python\nx = fit(train)\n```',
};

describe('a fleet in a test', () => {
  it('drains: every job has ended, also those that jobs started, in the order of their submission', async () => {
    const agents = scriptedAgents((request) => CORRECTION[request.step as keyof typeof CORRECTION] ?? CLEAN);
    const evaluate = async (job: Parameters<typeof checkedSolution>[0]) => {
      const { solution } = await checkedSolution(job);
      return { score: solution.content.length };
    };
    const { fleet, drain, expectSubmitted, submitted } = await start({ agents, queues: { score: evaluate } });
    await addSolutionCheck(fleet, { solution: { content: LEAKY } });
    await addGuardedEvaluation(fleet, {
      solution: { content: LEAKY },
      evaluation: { queue: 'score', name: 'score', data: { trial: 7 } },
    });
    const jobs = await drain();
    expect(jobs.map(({ kind, state, status }) => [kind, state, status])).toEqual(
      expect.arrayContaining([
        ['solution-check', 'completed', 'corrected'],
        ['score', 'completed', undefined],
      ]),
    );
    expect(jobs).toHaveLength(3);
    expect(agents.requests.map(({ step }) => step)).toContain('correct-1-1');
    expect((await expectSubmitted('score', { trial: 7 })).kind).toBe('score');
    expect(await submitted('solution-check')).toHaveLength(2);
  });

  it('says what was submitted instead of what was expected', async () => {
    const { fleet, expectSubmitted } = await start({ agents: scriptedAgents({ detect: CLEAN }) });
    await addSolutionCheck(fleet, { solution: { content: 'a = 1\n' } });
    const failed = expectSubmitted('solution-check', { solution: { content: 'b = 2\n' } });
    await expect(failed).rejects.toThrow(AssertionError);
    await expect(failed).rejects.toThrow(/"content": "a = 1\\n"/);
    await expect(expectSubmitted('extract', {})).rejects.toThrow(/submitted were \[\]/);
  });

  it('does not wait for a queue that nobody works on', async () => {
    const { fleet, drain } = await start({ agents: scriptedAgents({ detect: CLEAN }) });
    await addGuardedEvaluation(fleet, {
      solution: { content: 'a = 1\n' },
      evaluation: { queue: 'nobody', name: 'score' },
    });
    await expect(drain()).rejects.toThrow(/nobody/);
  });

  it('runs kinds of one’s own, by static analysis where no agents are named', async () => {
    const doubled = defineKind({
      name: 'doubled',
      payload: z.object({ n: z.number() }),
      result: z.object({ n: z.number() }),
      process: async ({ n }) => ({ n: 2 * n }),
    });
    const { fleet, drain } = await start({ kinds: [doubled] });
    await addJob(fleet, doubled, { n: 21 });
    await addSolutionCheck(fleet, { solution: { content: OF_ANALYSIS } });
    const jobs = await drain();
    expect(jobs.map(({ kind, result }) => [kind, (result as { n?: number; status?: string }).n])).toEqual([
      ['doubled', 42],
      ['solution-check', undefined],
    ]);
    expect(jobs[1]).toMatchObject({ status: 'clean', result: { agent: { runner: 'offline' } } });
  });
});

it('a test clock passes the waits of agent calls: for a rate limit, and between retries', async () => {
  const replies = [
    errorReply(429, 'slow down', { 'retry-after': '3600' }),
    errorReply(500, 'failed'),
    leaks(),
  ];
  const api = await startMessagesApi({ reply: replies });
  const clock = new TestClock();
  const agents = createAnthropicRunner({ baseURL: api.url, apiKey: 'k', clock });
  const calls = { clock, now: () => clock.now(), shortWaitMs: Number.POSITIVE_INFINITY };
  const { fleet, drain } = await start({ agents, worker: { calls } });
  await addSolutionCheck(fleet, { solution: { content: LEAKY } });
  await clock.timer((ms) => ms > 3_000_000 && ms < 4_000_000);
  clock.advance(4_000_000);
  await clock.timer((ms) => ms <= 1_000);
  clock.advance(1_000);
  expect((await drain()).map(({ status }) => status)).toEqual(['clean']);
  expect(api.requests).toHaveLength(3);
  await api.close();
});

describe('scripted agents', () => {
  const request = { variables: {}, step: 'detect' };
  const agent = {
    agentType: 'critic',
    variant: 'default',
    tools: null,
    outputSchema: null,
    model: null,
    render: () => ({ text: '', stable: '', variable: '', digest: '' }),
  };
  const asked = (agents: ReturnType<typeof scriptedAgents>, step = 'detect') =>
    agents.ask({ ...request, agent, step });

  it('answer by step, else by the type of the agent, each answer of a list once', async () => {
    const agents = scriptedAgents({ detect: ['one', 'two'], critic: 'always' });
    expect((await asked(agents)).output).toBe('one');
    expect((await asked(agents)).output).toBe('two');
    expect((await asked(agents, 'other')).output).toBe('always');
    await expect(asked(agents)).rejects.toThrow('the script has 2 answers to detect, and this is request 3');
    expect(agents.requests.map(({ step }) => step)).toEqual(['detect', 'detect', 'other', 'detect']);
  });

  it('fail as a model does: an error of the script, an answer that does not fit, a step without an answer', async () => {
    const overloaded = new AgentError('overloaded', 'detect: too much to do.');
    await expect(asked(scriptedAgents({ detect: overloaded }))).rejects.toBe(overloaded);
    const schema = z.object({ answers: z.array(z.string()) });
    const wrong = scriptedAgents({ detect: { answers: 3 } }).ask({ ...request, agent, schema });
    await expect(wrong).rejects.toMatchObject({ code: 'answer-invalid' });
    await expect(asked(scriptedAgents({ extract: 'x' }))).rejects.toThrow(
      'no answer to detect (critic); it answers extract',
    );
  });
});

it('a test clock fires what is due, in order, and says when a timer is set', async () => {
  const clock = new TestClock(1_000);
  const fired: string[] = [];
  const isSet = clock.timer((ms) => ms === 500);
  clock.after(700, () => fired.push('late'));
  clock.after(500, () => fired.push('soon'));
  clock.after(600, () => fired.push('cancelled'))();
  await isSet;
  expect(clock.timers).toEqual([500, 700]);
  clock.advance(499);
  expect(fired).toEqual([]);
  clock.advance(201);
  expect(fired).toEqual(['soon', 'late']);
  expect(clock.now()).toBe(1_700);
});
