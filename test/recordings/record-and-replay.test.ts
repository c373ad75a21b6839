import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createOpenAiRunner } from '../../src/agents/openai-runner.js';
import { loadConfig } from '../../src/config/load-config.js';
import { rememberSecrets } from '../../src/config/redact.js';
import {
  addExtract,
  addJob,
  addSolutionCheck,
  addSummarize,
  defineAgent,
  defineKind,
  type JobHandle,
  z,
} from '../../src/index.js';
import { processedKinds } from '../../src/processors/registry.js';
import { recordJob } from '../../src/recordings/record-job.js';
import { parseRecording, type Recording } from '../../src/recordings/recording.js';
import { replay } from '../../src/recordings/replay.js';
import { expectReplay, testRecordings } from '../../src/testing/index.js';
import { correction, leaks } from '../support/agent-answers.js';
import { runHere } from '../support/command-in-process.js';
import { fleetWithRunner, startTestFleet } from '../support/fleet.js';
import {
  errorReply,
  jsonReply,
  overloadedReply,
  type Script,
  startMessagesApi,
  textReply,
  toolUseReply,
  truncatedReply,
} from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';

const redis = redisOfFile();
const folder = mkdtempSync(join(tmpdir(), 'fleet-recordings-'));
afterAll(() => rmSync(folder, { recursive: true }));

const SECRET = 'a-password-of-the-data-base';
/** Looks like a secret; no process knows it. */
const TOKEN = `sk-${'a1'.repeat(15)}`;
const LEAKY = `a = fit(all)\npassword = "${SECRET}"\nprint(a)\n`;
/** Static analysis is certain that it is clean. */
const CERTAIN = [
  'import pandas as pd',
  'from sklearn.linear_model import Ridge',
  'from sklearn.model_selection import train_test_split',
  'data = pd.read_csv("train.csv")',
  'y = data.pop("target")',
  'a, b, c, d = train_test_split(data, y, random_state=0)',
  'model = Ridge()',
  'model.fit(a, c)',
  'print("Final Validation Performance:", model.score(b, d))',
  '',
].join('\n');
rememberSecrets(SECRET);
const CONFIG = { ...loadConfig({}), agent: 'anthropic' as const, maxTokens: 1_000 };

/** Runs a job to its end, whatever that is, and records it. */
async function recorded(
  reply: Script,
  submit: (fleet: Parameters<typeof addSolutionCheck>[0]) => Promise<JobHandle>,
): Promise<{ recording: Recording; stored: unknown; prefix: string; id: string }> {
  const { fleet, runner, worker } = await fleetWithRunner(redis, 'recordings', reply);
  await worker(runner);
  const job = await submit(fleet);
  const stored = await job.result().catch((thrown: unknown) => thrown);
  return { recording: await recordJob(fleet, job.id, CONFIG), stored, prefix: fleet.prefix, id: job.id };
}

const check =
  (content = LEAKY) =>
  (fleet: Parameters<typeof addSolutionCheck>[0]) =>
    addSolutionCheck(fleet, { solution: { content } });

/** As a file has it. */
function asFile(recording: Recording): Recording {
  return parseRecording(JSON.stringify(recording), 'the recording');
}

describe('a job that ended is recorded, and replayed to the byte without a provider', () => {
  it.each<[string, Script, Parameters<typeof recorded>[1], Record<string, unknown>]>([
    ['a correction', [leaks('a = fit(all)'), correction('a = fit(train)')], check(), { status: 'corrected' }],
    [
      'an answer asked for again, one cut off, and one that broke',
      [textReply('Sure!'), truncatedReply('{"ans'), overloadedReply(), leaks()],
      check(),
      { status: 'clean' },
    ],
    [
      'a summary',
      [textReply('The scaler matters most.')],
      (fleet) => addSummarize(fleet, { ablationCode: 'print(1)', rawOutput: 'Baseline: 0.8' }),
      {},
    ],
    [
      'a block and a plan',
      [jsonReply({ plans: [{ code_block: 'a = fit(all)', plan: 'Use another model.' }] })],
      (fleet) =>
        addExtract(fleet, {
          summary: 'The model matters.',
          solution: { content: LEAKY },
          previousBlocks: [],
        }),
      { codeBlock: 'a = fit(all)' },
    ],
    [
      'a model that answers under a name without a price',
      [
        { ...leaks('a = fit(all)'), model: 'served' },
        { ...correction('a = fit(train)'), model: 'served' },
      ],
      (fleet) => addSolutionCheck(fleet, { solution: { content: LEAKY }, model: 'claude-opus-5' }),
      { usage: { costUsd: null } },
    ],
    [
      'tools that the agent called',
      [toolUseReply('Read', { file_path: 'x' }), leaks()],
      check(),
      { status: 'clean' },
    ],
  ])('%s', async (_, reply, submit, result) => {
    const { recording, stored } = await recorded(reply, submit);
    expect(stored).toMatchObject(result);
    expect(recording.end).toMatchObject({ result });
    const replayed = await replay(asFile(recording));
    expect(replayed).toEqual({ same: true, end: recording.end, changedRequests: [] });
  });

  it.each<[string, Script, string]>([
    ['refused by the provider', () => errorReply(401, 'invalid x-api-key'), 'unauthorized'],
    ['without a usable answer', () => textReply('no JSON'), 'answer-invalid'],
  ])('a failure: %s', async (_, reply, code) => {
    const { recording } = await recorded(reply, check());
    expect(recording.end).toMatchObject({ failure: { code } });
    expect((await replay(asFile(recording))).same).toBe(true);
  });

  it('answers of an earlier attempt, which the last one got from the ledger', async () => {
    let requests = 0;
    const reply: Script = () => {
      requests += 1;
      if (requests === 1) return leaks('a = fit(all)');
      return requests < 4 ? overloadedReply() : correction('a = fit(train)');
    };
    const { recording, stored } = await recorded(reply, check());
    expect(stored).toMatchObject({ status: 'corrected', usage: { reusedCalls: 1 } });
    expect((await replay(asFile(recording))).same).toBe(true);
  });
});

it.each<[string, string, number, object]>([
  ['no call', CERTAIN, 0, { usage: { calls: 0 }, staticFirst: { decidedBy: 'analysis' } }],
  [
    'a call',
    `import own\n${CERTAIN}own.show(model)\n`,
    0,
    { staticFirst: { decidedBy: 'agent', why: expect.any(String) } },
  ],
  ['a comparison', CERTAIN, 1, { staticFirst: { audit: { agrees: true } } }],
])('checks with static-first are recorded: %s', async (_, content, auditFraction, result) => {
  const { fleet, runner, worker } = await fleetWithRunner(redis, 'recordings', () => leaks());
  const settings = { opinion: 'static-first', auditFraction } as const;
  await worker({ ...runner, ...settings });
  const job = await addSolutionCheck(fleet, { solution: { content } });
  expect(await job.result()).toMatchObject(result);
  const recording = await recordJob(fleet, job.id, { ...CONFIG, ...settings });
  expect(recording.calls).toHaveLength((await job.result()).usage.calls);
  expect((await replay(asFile(recording))).same).toBe(true);
});

it('answers of other jobs are part of a recording, beside those that the job paid for', async () => {
  const { fleet, runner, worker } = await fleetWithRunner(redis, 'recordings', [
    leaks('a = fit(all)'),
    correction('a = = 1'),
    correction('a = fit(train)'),
    correction('a = fit(train)'),
  ]);
  await worker(runner);
  await (await check()(fleet)).result();
  const job = await addSolutionCheck(fleet, { solution: { content: LEAKY } }, { reuse: 'fleet' });
  const stored = await job.result();
  // The answer that proved unusable is asked for again.
  expect(stored).toMatchObject({ status: 'corrected', usage: { calls: 1, reusedCalls: 1 } });
  const recording = await recordJob(fleet, job.id, CONFIG);
  expect(recording.calls.map(({ reused = false }) => reused)).toEqual([true, false]);
  expect(recording.end).toMatchObject({ result: { usage: stored.usage } });
  expect((await replay(asFile(recording))).same).toBe(true);
});

/** A kind that asks two agents, one with a model of its own, at the same time, and has a digest of what they say. */
function kindWithSecrets() {
  const promptFile = join(folder, 'words.md');
  writeFileSync(
    promptFile,
    `---\nvariables: text\n---\nSay what the text is about. Key: ${TOKEN}\n<!-- the stable part ends here -->\n{{ text }}\n`,
  );
  const named = defineAgent({ promptFile, model: 'claude-haiku-4-5' });
  const unnamed = defineAgent({ promptFile });
  return defineKind({
    name: 'topics',
    payload: z.object({ text: z.string() }),
    result: z.strictObject({
      digest: z.string(),
      models: z.array(z.string()),
      costUsd: z.number().nullable(),
    }),
    process: async ({ text }, work) => {
      const asked = [named, unnamed].map((agent) => work.ask(agent, { text }, { step: 'same' }));
      const answers = await Promise.all(asked);
      const said = answers.map(({ output }) => output).join();
      const usage = answers.map(({ usage: { costUsd } }) => costUsd ?? 0);
      return {
        digest: createHash('sha256').update(said).digest('hex'),
        models: answers.map(({ model }) => model ?? ''),
        costUsd: Math.max(...usage),
      };
    },
  });
}

describe('a recording', () => {
  it('of a kind of one’s own has no secrets of prompts and answers, and the models of all agents', async () => {
    const kinds = [kindWithSecrets()];
    const api = await startMessagesApi({ reply: () => textReply(`weather, ${TOKEN}`, { model: '' }) });
    const { fleet, worker, close } = await startTestFleet(redis, 'recordings-own', { kinds });
    const prices = { 'our-model': { input: 10, output: 20 } };
    await worker(createOpenAiRunner({ apiKey: 'k', baseURL: api.url, model: 'our-model', prices }), {
      kinds,
    });
    const job = await addJob(fleet, 'topics', { text: 'It rains.' });
    expect(await job.result()).toMatchObject({ models: ['claude-haiku-4-5', 'our-model'] });
    const options = { kinds: processedKinds(kinds) };
    const config = { ...CONFIG, agent: 'openai' as const, model: 'our-model', modelPrices: prices };
    const recording = await recordJob(fleet, job.id, config, options);
    await close();
    await api.close();
    expect(JSON.stringify(recording)).not.toContain(TOKEN);
    expect(recording.requests).toHaveLength(2);
    expect(recording.requests[0]?.system).toContain('Key: [redacted]');
    expect(await replay(asFile(recording), options)).toMatchObject({ same: true, changedRequests: [] });
  });

  it('has no secrets, neither in the script nor in answers and prompts', async () => {
    const { recording } = await recorded([textReply(`Use ${SECRET} and sk-ant-api03-abcdefgh.`)], (fleet) =>
      addSummarize(fleet, { ablationCode: LEAKY, rawOutput: 'Baseline: 0.8' }),
    );
    const text = JSON.stringify(recording);
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain('sk-ant');
    expect(text).toContain('[redacted]');
    expect(recording.requests).toMatchObject([{ step: 'summarize', turn: 1, messages: [{ role: 'user' }] }]);
  });

  it('has the prices of its time: a model without one has none when a later version knows it', async () => {
    const check = (fleet: Parameters<typeof addSolutionCheck>[0]) =>
      addSolutionCheck(fleet, { solution: { content: LEAKY }, model: 'newer-model' });
    const { recording } = await recorded([leaks()], check);
    expect(recording.end).toMatchObject({ result: { usage: { costUsd: null } } });
    const known = JSON.stringify(recording).replaceAll('newer-model', 'claude-opus-5');
    expect((await replay(parseRecording(known, 'the recording'))).same).toBe(true);
  });

  it('shows what has changed: another answer, another prompt, a call that is missing', async () => {
    const { recording } = await recorded([leaks('a = fit(all)'), correction('a = fit(train)')], check());
    const [detect, correct] = recording.calls;
    if (detect === undefined || correct?.answer === undefined) throw new Error('two calls were made');
    const content = [{ type: 'text', text: '```python\na = fit(other)\n```' }];
    const other = { ...recording, calls: [detect, { ...correct, answer: { ...correct.answer, content } }] };
    const replayed = await replay(other);
    expect(replayed.same).toBe(false);
    expect(replayed.difference).toMatch(
      /^result\.solution\.content: .*fit\(train\).* was recorded, now .*fit\(other\)/,
    );
    expect(replayed.diff).toMatch(/^-.*fit\(train\)/m);

    const [first, ...rest] = recording.requests;
    const changed = { ...recording, requests: [{ ...first, system: 'Find leaks.' }, ...rest] } as Recording;
    expect((await replay(changed)).changedRequests).toEqual(['detect 1']);
    const path = join(folder, 'changed.json');
    writeFileSync(path, JSON.stringify(changed));
    await expectReplay(path);
    await expect(expectReplay(path, { sameRequests: true })).rejects.toThrow(
      'other requests than recorded: detect 1',
    );
    rmSync(path);

    await expect(replay({ ...recording, calls: [detect] })).rejects.toThrow(
      /no answer to call 1 of correct-1/,
    );
    await expect(replay({ ...recording, kind: 'unknown' })).rejects.toThrow(/kind unknown/);
    await expect(replay({ ...recording, payload: {} })).rejects.toThrow(
      /the payload of the recording does not fit this version: .*solution/,
    );
  });

  it('is refused where it would not hold: child jobs, a job that has not ended, a text that is none', async () => {
    const { fleet, runner, worker } = await fleetWithRunner(redis, 'recordings', [
      leaks('a = fit(all)'),
      correction('a = fit(train)'),
      leaks(),
    ]);
    const waiting = await check()(fleet);
    await expect(recordJob(fleet, waiting.id, CONFIG)).rejects.toThrow(/is waiting; only a job that/);
    await worker(runner);
    await waiting.result();
    expect(() => parseRecording('{', 'x.json')).toThrow('x.json: is no recording of a job: it is no JSON');
    expect(() => parseRecording('{"recording":2}', 'x.json')).toThrow(
      /x\.json: is no recording of a job: recording/,
    );
  });
});

describe('on the command line, and in the tests of a pipeline', () => {
  it('fleet record prints a file that fleet replay runs, also with --json', async () => {
    const { prefix, id } = await recorded([leaks('a = fit(all)'), correction('a = fit(train)')], check());
    const env = {
      FLEET_REDIS_URL: redis.url,
      FLEET_PREFIX: prefix,
      FLEET_AGENT: 'anthropic',
      FLEET_MAX_TOKENS: '1000',
    };
    const { stdout, exitCode } = await runHere(['record', id], folder, env);
    expect(exitCode).toBe(0);
    writeFileSync(join(folder, 'corrected.json'), stdout);
    expect(await runHere(['replay', 'corrected.json'], folder)).toMatchObject({
      stdout: 'corrected.json: the same result\n',
      stderr: '',
      exitCode: 0,
    });
    const broken = stdout.replaceAll('"status": "corrected"', '"status": "clean"');
    writeFileSync(join(folder, 'broken.json'), broken);
    const other = await runHere(['replay', 'broken.json'], folder);
    expect(other.exitCode).toBe(1);
    expect(other.stdout).toMatch(
      /^broken\.json: another result: result\.status: "clean" was recorded, now "corrected"\n/,
    );
    rmSync(join(folder, 'broken.json'));

    const tried = JSON.parse(stdout) as Recording;
    const path = join(folder, 'tried.json');
    writeFileSync(path, JSON.stringify({ ...tried, payload: { ...tried.payload, trial: true } }));
    const sandbox = { FLEET_TRIAL_SANDBOX: 'off' };
    expect((await runHere(['replay', 'tried.json'], folder, sandbox)).stdout).toContain(
      'FLEET_TRIAL_SANDBOX=off',
    );
    rmSync(path);
    const json = await runHere(['replay', '--json', 'corrected.json'], folder);
    expect(JSON.parse(json.stdout)).toMatchObject({ same: true, changedRequests: [] });
    expect((await runHere(['replay', 'nothing.json'], folder)).stderr).toContain(
      'nothing.json: cannot be read',
    );
  });

  it('each file of a folder is a test', async () => {
    const declared: [string, () => Promise<void>][] = [];
    testRecordings((name, run) => declared.push([name, run]), folder);
    expect(declared.map(([name]) => name)).toEqual(['corrected.json has the recorded result']);
    for (const [, run] of declared) await run();
    const empty = mkdtempSync(join(folder, 'empty-'));
    expect(() => testRecordings(() => undefined, empty)).toThrow('there is no recording in it');
  });
});
