import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { readReport } from '../../src/cli/report/read-report.js';
import { RunReportSchema } from '../../src/cli/report/run-report.js';
import { colorsFor } from '../../src/cli/terminal/colors.js';
import { renderReport } from '../../src/cli/terminal/render-report.js';
import { ENDED_JOB_FIELDS, endedJob, totalsOf } from '../../src/gateway/metrics/ended-job.js';
import { FleetHttpClient } from '../../src/http-client/index.js';
import { checkAndFixLeakage } from '../../src/processors/leakage-check/check-and-fix-leakage.js';
import { listDisagreements } from '../../src/producers/disagreements.js';
import { addGuardedEvaluation } from '../../src/producers/flows/guarded-evaluation.js';
import { addKnownSolutions } from '../../src/producers/known-solutions.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { spendBase } from '../../src/queues/redis-keys.js';
import type { SolutionCheckPayload } from '../../src/queues/solution-check.js';
import { startTestGateway } from '../gateway/gateway-fixture.js';
import { leaks, runnerFor } from '../support/agent-answers.js';
import { startPipelineWorker } from '../support/evaluation-worker.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { emptyFolder, fleetCommand } from '../support/fleet-command.js';
import { expectHarmless, HOSTILE_TEXT } from '../support/hostile-text.js';
import { type MessagesApi, startMessagesApi, textReply } from '../support/messages-api.js';
import { PROVIDERS } from '../support/providers.js';
import { withPythonClient } from '../support/python-client.js';
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
const LEAKY = CLEAN.replace(
  'a, b, c, d = train_test_split(data,',
  'X = StandardScaler().fit_transform(data)\na, b, c, d = train_test_split(X,',
).replace('import Ridge', 'import Ridge\nfrom sklearn.preprocessing import StandardScaler');

let certain: TestFleet;
let audited: TestFleet;
let api: MessagesApi;
beforeAll(async () => {
  api = await startMessagesApi({
    reply: ({ text }) =>
      text.includes('unusable')
        ? textReply(HOSTILE_TEXT)
        : text.includes('denied')
          ? leaks()
          : leaks(/\w+\.fit\(a, c\)/.exec(text)?.[0] ?? ''),
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

describe.each(PROVIDERS)('static-first with $provider', ({ provider, runner }) => {
  const check = async (content: string, auditFraction: number) => {
    const before = api.requests.length;
    const agent = { ...runner({ apiKey: 'k', baseURL: api.url }), opinion: 'static-first' as const };
    const result = await checkAndFixLeakage({ content }, { ...agent, auditFraction });
    expect(result.usage.calls).toBe(api.requests.length - before);
    return { ...result, runner: result.agent.runner };
  };

  it('asks the model only where the analysis is not certain, and for comparison', async () => {
    expect(await check(clean('net'), 0)).toMatchObject({
      ...{ status: 'clean', checkedBy: ['analysis'], runner: 'offline' },
      staticFirst: { decidedBy: 'analysis' },
    });
    expect(await check(UNCERTAIN.replaceAll(/\bmodel\b/g, 'denied'), 0)).toMatchObject({
      ...{ status: 'clean', checkedBy: ['agent', 'analysis'], runner: provider },
      staticFirst: { decidedBy: 'agent', sent: 'whole' },
    });
    expect(await check(clean('denied'), 1)).toMatchObject({
      ...{ status: 'clean', runner: provider },
      staticFirst: { decidedBy: 'agent', audit: { agrees: true } },
    });
  });
});

it('the agent is asked for each comparison, also where answers of other jobs may be used', async () => {
  const check = () =>
    addSolutionCheck(audited.fleet, { solution: { content: clean('denied_again') } }, { reuse: 'fleet' });
  const first = await (await check()).result();
  const before = api.requests.length;
  const second = await (await check()).result();
  expect(second.usage).toEqual(first.usage);
  expect(second.usage).toMatchObject({ reusedCalls: 0 });
  expect(api.requests).toHaveLength(before + second.usage.calls);
});

describe('what the agent says otherwise of the sample', () => {
  it('is listed by run, by the command, the function and the clients, and counted', async () => {
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
    const gateway = await startTestGateway(redis, fleet.prefix);
    onTestFinished(() => gateway.close());
    expect(await new FleetHttpClient({ url: gateway.url }).disagreements({ run: 'night' })).toEqual(found);
    const program = `from solution_fleet import FleetClient\nprint(FleetClient("${gateway.url}").disagreements(run="night")[0]["leaks"][0]["line"])`;
    const python = await execa('python3', ['-c', program], { env: withPythonClient() });
    expect(python.stdout).toBe(FIT);

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

describe('the report of a run', () => {
  const RUN = '<script>night</script>\u001b[31m & 7';
  const KEY = '"><img src=x onerror=alert(1)>\u001b]0;title\u0007\u202ecandidate';
  const testCase = { id: 'digits <b>', name: 'digits', difficulty: 'easy' as const };

  it('lists failed candidates, those left leaky, then the rest, in text, JSON and HTML', async () => {
    const { fleet } = audited;
    const copied = clean('copied').replaceAll('a, c', 'a , c');
    await addKnownSolutions(fleet, [{ testCaseId: testCase.id, solution: copied }]);
    const check = (content: string, key: string, fields: Partial<SolutionCheckPayload> = {}) =>
      addSolutionCheck(fleet, { solution: { content }, tags: { run: RUN }, ...fields }, { key });
    const jobs = await Promise.all([
      check(clean('denied'), 'clean'),
      check(clean('doubtful'), KEY),
      check(copied, 'copied', { contamination: { testCase } }),
      check(UNCERTAIN.replaceAll('model', 'unusable'), 'failing'),
    ]);
    await Promise.allSettled(jobs.map((job) => job.result()));
    await fleet.client.hset(`${spendBase(fleet.prefix)}:run:${RUN}`, {
      spent: 2e9,
      batchCalls: 3,
      ...{ reusedCalls: 4, reusedSpent: 1e9 },
      ...{ input: 100, cacheRead: 300, cacheWrite: 100 },
    });

    const env = { FLEET_REDIS_URL: redis.url, FLEET_PREFIX: fleet.prefix };
    const cwd = emptyFolder();
    const { stdout } = await fleetCommand(['report', '--run', RUN, '--json', '--html', 'r.html'], {
      env,
      cwd,
    });
    const report = RunReportSchema.parse(JSON.parse(stdout));
    expect(report.totals).toMatchObject({
      jobs: 5,
      candidates: 4,
      statuses: { failed: 1, 'left-leaky': 2, clean: 1, corrected: 0 },
      copies: 1,
      spentUsd: 2,
      calls: report.candidates.reduce((sum, { calls }) => sum + calls, 0),
      batchCalls: 3,
      ...{ reusedCalls: 4, reusedUsd: 1 },
      cacheReadFraction: 0.6,
    });
    expect(report.candidates.map(({ key, status }) => [key, status])).toEqual([
      ['failing', 'failed'],
      ['copied', 'left-leaky'],
      [KEY, 'left-leaky'],
      ['clean', 'clean'],
    ]);
    expect(report.candidates).toMatchObject([
      { failure: { code: 'answer-invalid', jobId: jobs[3]?.id }, leaks: [] },
      { contamination: { status: 'contaminated', testCaseId: testCase.id }, leaks: [{}] },
      { leakage: 'uncorrected', leaks: [{ outcome: 'uncorrected' }] },
      { leakage: 'clean', leaks: [] },
    ]);
    expect(report.failures).toMatchObject([{ code: 'answer-invalid', count: 1 }]);
    const { firstSubmittedAt = '', lastEndedAt = '', milliseconds } = report.totals;
    expect(Date.parse(lastEndedAt) - Date.parse(firstSubmittedAt)).toBe(milliseconds);

    const text = (await fleetCommand(['report', '--run', RUN], { env })).stdout;
    expect(text).toContain('candidates: 4, clean: 1, corrected: 0, left leaky: 2, failed: 1, copies: 1');
    expect(text).toContain('cost: $2.0000 for');
    expect(text).toContain('4 more answered by other jobs, where the answers had cost $1.0000');
    const costs = (await fleetCommand(['costs', '--run', RUN], { env })).stdout;
    expect(costs).toContain('reused: 4 calls answered by other jobs, where the answers had cost $1.0000');
    expect(text).toContain('60 % of their input read from the prompt cache');
    expect(text.indexOf('failed: answer-invalid')).toBeLessThan(text.indexOf('left leaky  '));
    expectHarmless(text);
    const narrow = renderReport(report, colorsFor({}, {}), 60);
    expect(narrow.split('\n').filter((line) => line.startsWith('│'))).not.toHaveLength(0);
    expect(Math.max(...narrow.split('\n').map((line) => line.length))).toBeLessThanOrEqual(60);

    const page = readFileSync(join(cwd, 'r.html'), 'utf8');
    for (const character of ['\u001b', '\u0007', '\u202e']) expect(page).not.toContain(character);
    expect(page).not.toMatch(/<script|<img|<b>|<link|href=/);
    expect(page).toContain('&lt;script&gt;night&lt;/script&gt;');
    expect(page).toContain('copy of a known solution of digits &lt;b&gt;');
    expect(page.indexOf('failed: answer-invalid')).toBeLessThan(page.indexOf('left leaky</span>'));
  });

  it('has the check of a guarded evaluation in its row; a run that nobody knows is empty', async () => {
    const { fleet } = certain;
    const pipeline = startPipelineWorker(redis, fleet, 'grade', async () => 'graded');
    onTestFinished(() => pipeline.close());
    const { evaluation } = await addGuardedEvaluation(fleet, {
      solution: { content: LEAKY },
      evaluation: { queue: 'grade', name: 'grade', data: {} },
      tags: { run: 'morning' },
    });
    await evaluation.wait();
    const { candidates, totals } = await readReport(fleet, 'morning');
    expect(candidates).toMatchObject([
      {
        id: evaluation.id,
        kind: 'grade',
        status: 'corrected',
        calls: 0,
        leaks: [{ severity: 'low', outcome: 'corrected' }],
      },
    ]);
    expect(totals).toMatchObject({ jobs: 2, spentUsd: 0 });
    const nothing = await readReport(fleet, 'nobody');
    expect(nothing).toMatchObject({ candidates: [], others: [], totals: { jobs: 0, candidates: 0 } });
    expect(renderReport(nothing, colorsFor({}, {}))).toContain('no stored job names this run');
  });

  it('costs --what-if estimates from the ledgers what batches and static-first would have saved', async () => {
    const { fleet } = certain;
    const check = await addSolutionCheck(fleet, {
      solution: { content: clean('priced') },
      tags: { run: 'what-if' },
    });
    await check.result();
    const key = fleet.queue('solution-check').toKey(check.id);
    const tokens = {
      inputTokens: 1,
      outputTokens: 1,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      cacheWrite1hTokens: 0,
    };
    // A conversation of two calls, a call of a batch, and one without a known price.
    const calls = [
      { turn: 1, costUsd: 1 },
      { turn: 2, costUsd: 1 },
      { turn: 1, costUsd: 0.5, line: 'x' },
      { turn: 1, costUsd: null },
    ];
    const ledger = calls.flatMap(({ turn, costUsd, line }, at) => {
      const sent = { step: 'detect', turn, digest: 'd', model: 'm', sends: 1, likelyUsd: costUsd };
      const field = `fleet:ledger:${at + 1}`;
      return [
        [field, JSON.stringify(sent)],
        [`${field}:end`, JSON.stringify({ state: 'answered', at: 1, costUsd, tokens })],
        ...(line === undefined ? [] : [[`${field}:line`, line]]),
      ];
    });
    await fleet.client.hset(key, Object.fromEntries([['fleet:ledger', String(calls.length)], ...ledger]));
    const env = { FLEET_REDIS_URL: redis.url, FLEET_PREFIX: fleet.prefix };
    const whatIf = (levers: string, ...flags: string[]) =>
      fleetCommand(['costs', '--run', 'what-if', '--what-if', levers, ...flags], { env });
    const estimate = async (levers: string) => JSON.parse((await whatIf(levers, '--json')).stdout);

    // The run has static-first already: its calls were needed.
    expect(await estimate('batch,static-first')).toMatchObject({
      ...{ actualUsd: 2.5, estimatedUsd: 2, calls: 3, leftOut: 1 },
      ...{ staticFirst: { calls: 0, savedUsd: 0 }, batch: { calls: 1, savedUsd: 0.5 } },
    });
    const { staticFirst: _, ...result } = JSON.parse((await fleet.client.hget(key, 'returnvalue')) ?? '');
    await fleet.client.hset(key, { returnvalue: JSON.stringify(result) });
    expect(await estimate('static-first')).toMatchObject({
      ...{ estimatedUsd: expect.closeTo(0.05), staticFirst: { calls: 3, savedUsd: expect.closeTo(2.45) } },
    });
    // Batches make cheaper only what is still sent: the sample's part of the first call.
    expect(await estimate('static-first,batch')).toMatchObject({
      estimatedUsd: expect.closeTo(0.04),
      batch: { savedUsd: expect.closeTo(0.01) },
    });
    const text = (await whatIf('batch')).stdout;
    expect(text).toContain('what-if: with batch about $2.0000 instead of $2.5000 for the 3 calls');
    expect(text).toContain('left out: 1 call without a known price');
    await fleet.client.hset(key, { returnvalue: JSON.stringify({ ...result, coverage: 'partial' }) });
    expect(await estimate('static-first')).toMatchObject({ estimatedUsd: 2.5 });
    expect((await whatIf('cheaper')).exitCode).not.toBe(0);
    const withoutRun = await fleetCommand(['costs', '--what-if', 'batch'], { env });
    expect(withoutRun.stderr).toContain('--what-if needs --run');
  });
});
