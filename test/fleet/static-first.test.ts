import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ENDED_JOB_FIELDS, endedJob, totalsOf } from '../../src/gateway/metrics/ended-job.js';
import { listDisagreements } from '../../src/producers/disagreements.js';
import { addGuardedEvaluation } from '../../src/producers/flows/guarded-evaluation.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { leaks, runnerFor } from '../support/agent-answers.js';
import { startPipelineWorker } from '../support/evaluation-worker.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { fleetCommand } from '../support/fleet-command.js';
import { type MessagesApi, startMessagesApi } from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';

const redis = redisOfFile();
const FIT = 'model.fit(a, c)';
const CLEAN = [
  'import pandas as pd',
  'from sklearn.linear_model import Ridge',
  'from sklearn.model_selection import train_test_split',
  'data = pd.read_csv("train.csv")',
  'y = data.pop("target")',
  'a, b, c, d = train_test_split(data, y, random_state=0)',
  'model = Ridge()',
  FIT,
  'print("Final Validation Performance:", model.score(b, d))',
  '',
].join('\n');
/** The same script with another name for its model. */
const clean = (name: string) => CLEAN.replaceAll(/\bmodel\b/g, name);
const UNCERTAIN = CLEAN.replace('y = data', 'import own\ndata = own.prepare(data)\ny = data');

let certain: TestFleet;
let audited: TestFleet;
let api: MessagesApi;
beforeAll(async () => {
  api = await startMessagesApi({
    reply: ({ text }) =>
      text.includes('denied') ? leaks() : leaks(/\w+\.fit\(a, c\)/.exec(text)?.[0] ?? ''),
  });
  [certain, audited] = await Promise.all([
    startTestFleet(redis, 'static-first'),
    startTestFleet(redis, 'static-audit'),
  ]);
  const runner = { ...runnerFor(api), opinion: 'static-first' as const };
  // Nothing may be spent: what completes has made no call.
  await certain.worker({ ...runner, auditFraction: 0 }, { calls: { budgetUsd: 0 } });
  await audited.worker({ ...runner, auditFraction: 1 });
});
afterAll(async () => {
  await Promise.all([certain.close(), audited.close()]);
  await api.close();
});

describe('static-first in a fleet', () => {
  it('needs no budget where the analysis is certain, for any tenant, and one where it is not', async () => {
    const jobs = await Promise.all(
      ['one', 'two'].map((tenant) =>
        addSolutionCheck(certain.fleet, { solution: { content: clean(tenant) } }, { tenant }),
      ),
    );
    for (const job of jobs)
      expect(await job.result()).toMatchObject({ status: 'clean', staticFirst: { decidedBy: 'analysis' } });
    const uncertain = await addSolutionCheck(certain.fleet, { solution: { content: UNCERTAIN } });
    await expect(uncertain.result()).rejects.toMatchObject({ code: 'budget-exhausted' });
    expect(api.requests).toHaveLength(0);
  });

  it('REQ-SF-022: starts a guarded evaluation where it is certain, and none where nobody checked', async () => {
    const pipeline = startPipelineWorker(redis, certain.fleet, 'score', async () => 'scored');
    onTestFinished(() => pipeline.close());
    const evaluation = { queue: 'score', name: 'score', data: {} };
    const [checked, unchecked] = await Promise.all(
      [clean('net'), UNCERTAIN.replace('own.', 'own.other.')].map((content) =>
        addGuardedEvaluation(certain.fleet, { solution: { content }, evaluation }),
      ),
    );
    await checked?.evaluation.wait();
    expect(await checked?.check.result()).toMatchObject({ staticFirst: { decidedBy: 'analysis' } });
    await unchecked?.evaluation.wait();
    await expect(unchecked?.check.result()).rejects.toMatchObject({ code: 'budget-exhausted' });
    expect(await unchecked?.evaluation.state()).toBe('failed');
  });
});

describe('what the agent says otherwise of the sample', () => {
  it('is listed by run, by the command and by the function, and counted', async () => {
    const check = (name: string, run: string) =>
      addSolutionCheck(audited.fleet, { solution: { content: clean(name) }, tags: { run } });
    // The agent calls the fit of a clean script a leak, except in the script that it denies.
    const [differs, agrees] = await Promise.all([check('model', 'night'), check('denied', 'night')]);
    const other = await check('net', 'day');
    await Promise.all([differs.result(), agrees.result(), other.result()]);

    const found = await listDisagreements(audited.fleet, { run: 'night' });
    expect(found).toMatchObject([
      {
        id: differs.id,
        run: 'night',
        analysis: 'clean',
        agent: 'leaky',
        leaks: [{ source: 'agent', line: FIT }],
      },
    ]);
    expect((await listDisagreements(audited.fleet)).map(({ id }) => id).sort()).toEqual(
      [differs.id, other.id].sort(),
    );
    const { fleet } = audited;
    const env = { FLEET_REDIS_URL: redis.url, FLEET_PREFIX: fleet.prefix };
    const json = await fleetCommand(['disagreements', '--run', 'night', '--json'], { env });
    expect(JSON.parse(json.stdout)).toEqual(found);
    const text = await fleetCommand(['disagreements', '--run', 'night'], { env });
    expect(text.stdout).toContain(
      `${differs.id} (${found[0]?.endedAt}, run night): analysis clean, agent leaky`,
    );
    expect(text.stdout).toContain(`  agent: data leakage at ${FIT}`);

    const totals = async (id: string) => {
      const key = fleet.queue('solution-check').toKey(id);
      const ended = endedJob(
        'solution-check',
        'completed',
        await fleet.client.hmget(key, ...ENDED_JOB_FIELDS),
      );
      return ended && Object.fromEntries(totalsOf(ended));
    };
    expect(await totals(differs.id)).toMatchObject({
      'audits|solution-check': 1,
      'disagreements|solution-check|clean|leaky': 1,
    });
    expect(await totals(agrees.id)).toMatchObject({ 'audits|solution-check': 1 });
    expect(Object.keys((await totals(agrees.id)) ?? {})).not.toContain(
      'disagreements|solution-check|clean|leaky',
    );
  });
});
