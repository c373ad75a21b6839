import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import type { WorkerOptions } from '../../src/fleet/worker.js';
import { FleetHttpClient } from '../../src/http-client/index.js';
import type { AskOptions } from '../../src/index.js';
import { defineAgent, defineKind, z } from '../../src/index.js';
import { addJob } from '../../src/producers/add-job.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { retryJob } from '../../src/producers/retry-job.js';
import { readCallRecords } from '../../src/queues/call-record.js';
import type { ResultOf } from '../../src/queues/registry.js';
import { pythonOfFile, runPython } from '../clients/python-program.js';
import { startTestGateway, type TestGateway } from '../gateway/gateway-fixture.js';
import { runnerFor } from '../support/agent-answers.js';
import { startPipelineWorker } from '../support/evaluation-worker.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { emptyFolder, fleetCommand, startFleetCommand } from '../support/fleet-command.js';
import {
  jsonReply,
  type MessagesApi,
  type Script,
  startMessagesApi,
  textReply,
} from '../support/messages-api.js';
import { testProgram } from '../support/programs.js';
import { redisOfFile } from '../support/redis.js';
import { review, wordCount } from './word-kinds.js';

const redis = redisOfFile();
const MODULE = testProgram('test/kinds/word-kinds');
const withPython = await pythonOfFile();
let fleets = 0;

async function startFleet(reply: Script = []): Promise<TestFleet & { readonly api: MessagesApi }> {
  fleets += 1;
  const api = await startMessagesApi({ reply });
  const test = await startTestFleet(redis, `own-${fleets}`, { kinds: [wordCount, review] });
  onTestFinished(async () => {
    await test.close();
    await api.close();
  });
  return { ...test, api };
}

const OWN: Partial<WorkerOptions> = { kinds: ['summarize', wordCount, review] };

describe('a kind of one’s own', () => {
  it('is validated, processed and typed like a built-in one', async () => {
    const { fleet, worker } = await startFleet();
    await worker(createOfflineRunner(), OWN);
    const job = await addJob(fleet, wordCount, { text: 'one of three', tags: { run: 'r' } });
    const { words } = await job.result();
    expectTypeOf(words).toEqualTypeOf<number>();
    expectTypeOf<ResultOf<'summarize'>['summary']>().toEqualTypeOf<string>();
    expect(words).toBe(3);
    expect(await job.view()).toMatchObject({ kind: 'word-count', state: 'completed', tags: { run: 'r' } });
    const byName = await addJob(fleet, 'word-count', { text: 'one of three', least: 3 });
    expect(await byName.result()).toEqual({ words: 2 });
  });

  it.each([
    [{ text: '' }, 'text'],
    [{ text: 'a', other: 1 }, 'other'],
    [{ text: 'a', tags: { a: 1 } }, 'tags.a'],
  ])('refuses %j', async (payload, field) => {
    const { fleet } = await startFleet();
    await expect(addJob(fleet, 'word-count', payload)).rejects.toMatchObject({
      code: 'invalid-payload',
      field,
    });
  });

  it.each([
    ['broken', 'breaks its contract'],
    ['thrown', 'the author of the kind threw this'],
  ])('whose processor is %s uses its attempts, and says so', async (text, message) => {
    const { fleet, worker, logLines } = await startFleet();
    await worker(createOfflineRunner(), OWN);
    const view = await (await addJob(fleet, wordCount, { text })).wait();
    expect(view.error).toMatchObject({ code: 'processor-failed', message: expect.stringContaining(message) });
    expect(logLines.filter(({ msg }) => msg === 'job started')).toHaveLength(2);
  });

  it('whose processor refuses the payload fails at once, whichever copy of the package its module loaded', async () => {
    const { fleet, worker } = await startFleet();
    await worker(createOfflineRunner(), { kindsFrom: [MODULE] });
    const view = await (await addJob(fleet, wordCount, { text: 'refused' })).wait();
    expect(view).toMatchObject({
      error: { code: 'invalid-payload', message: 'no such text' },
      attempts: 1,
    });
  });

  it('is left to other workers by one that does not have it', async () => {
    const { fleet, worker } = await startFleet();
    await worker(createOfflineRunner());
    const job = await addJob(fleet, wordCount, { text: 'a' });
    expect(
      await (await addJob(fleet, 'summarize', { ablationCode: 'x', rawOutput: '' })).wait(),
    ).toMatchObject({
      state: 'completed',
    });
    expect(await job.state()).toBe('waiting');
    await worker(createOfflineRunner(), { kinds: [wordCount] });
    expect(await job.result()).toEqual({ words: 1 });
  });

  it('is not known to a client that was opened without it', async () => {
    const { fleet } = await startTestFleet(redis, 'without').then((test) => {
      onTestFinished(() => test.close());
      return test;
    });
    await expect(addJob(fleet, wordCount, { text: 'a' })).rejects.toMatchObject({
      code: 'unknown-kind',
      message: expect.stringContaining('there are: solution-check, summarize, extract, contamination'),
    });
  });
});

/** A worker and a gateway with the kinds of the module. */
async function startGateway(): Promise<TestFleet & { readonly gateway: TestGateway }> {
  const test = await startFleet();
  await test.worker(createOfflineRunner(), OWN);
  const gateway = await startTestGateway(redis, test.fleet.prefix, {}, { kinds: test.fleet.kinds });
  onTestFinished(() => gateway.close());
  return { ...test, gateway };
}

describe('a gateway with kinds of one’s own', () => {
  it('has their routes, validates, lists and documents them', async () => {
    const { gateway } = await startGateway();
    const done = await gateway.send('POST', '/v1/jobs/word-count?wait=30s', { payload: { text: 'a b' } });
    expect(done.json).toMatchObject({ kind: 'word-count', state: 'completed', result: { words: 2 } });
    const refused = await gateway.send('POST', '/v1/jobs/word-count', { payload: { text: '' } });
    expect(refused.json).toMatchObject({ status: 422, code: 'invalid-payload', field: 'payload.text' });
    const batch = await gateway.send('POST', '/v1/jobs:batch', {
      jobs: [
        { kind: 'word-count', payload: { text: 'a' } },
        { kind: 'word-count', payload: { words: 1 } },
      ],
    });
    expect(batch.json.jobs).toMatchObject([{ kind: 'word-count' }, { error: { code: 'invalid-payload' } }]);
    const { json } = await gateway.send('GET', '/v1/jobs?kind=word-count');
    expect(json.jobs).toHaveLength(2);
    const claim = await gateway.send('POST', '/v1/evaluations/claim', { queue: 'word-count' });
    expect(claim.json).toMatchObject({ status: 422, field: 'queue' });
    const document = (await gateway.send('GET', '/v1/openapi.json')).json;
    const { post } = document.paths['/v1/jobs/word-count'];
    expect(post).toMatchObject({ operationId: 'submit-word-count', description: 'Counts words.' });
    expect(JSON.stringify(post.requestBody)).toContain('"least"');
    expect(JSON.stringify(document.components.schemas.BatchJob)).toContain('word-count-review');
    expect(JSON.stringify(document.components.schemas['Job-word-count'])).toContain('"words"');
  });

  it('shows them on the board and the overview, and counts them', async () => {
    const { gateway, fleet } = await startGateway();
    const job = await addJob(fleet, wordCount, { text: 'a' });
    await job.result();
    const board = (await gateway.send('GET', '/board/api/queues?activeQueue=word-count&status=completed'))
      .json;
    const queue = board.queues.find(({ name }: { name: string }) => name === 'word-count');
    expect(queue.jobs).toMatchObject([{ id: job.id, returnValue: { words: 1 } }]);
    const metrics = async () => (await gateway.send('GET', '/metrics')).text.split('\n');
    const total = 'fleet_jobs_total{kind="word-count",outcome="completed",reason="none"} 1';
    await expect.poll(metrics).toContain(total);
    expect(await metrics()).toContain('fleet_job_duration_seconds_count{kind="word-count"} 1');
    expect(await metrics()).toContain('fleet_workers{kind="word-count"} 1');
    expect((await gateway.send('GET', '/')).text).toContain('word-count-review');
  });

  it('serves its TypeScript client', async () => {
    const { gateway } = await startGateway();
    const http = new FleetHttpClient({ url: gateway.url });
    const { id } = await http.add(wordCount, { text: 'a b c' });
    expect((await http.result(wordCount, id)).words).toBe(3);
    expect(await http.result('word-count', id)).toEqual({ words: 3 });
    const batch = await http.addBatch([{ kind: wordCount, payload: { text: 'a' } }]);
    expect(batch).toMatchObject([{ kind: 'word-count', state: 'waiting' }]);
  });

  it.skipIf(!withPython)('serves its Python client', async () => {
    const { gateway } = await startGateway();
    const said = await runPython(
      gateway.url,
      'say(**fleet.submit("word-count", {"text": "a b", "tags": {"run": "p"}}, key="k").result(timeout_s=30))',
    );
    expect(said).toEqual({ words: 2 });
  });

  it('without such a kind says so, and which there are', async () => {
    const { fleet } = await startFleet();
    const gateway = await startTestGateway(redis, fleet.prefix);
    onTestFinished(() => gateway.close());
    const { json } = await gateway.send('POST', '/v1/jobs/word-count', { payload: { text: 'a' } });
    expect(json).toMatchObject({
      ...{ status: 404, code: 'unknown-kind' },
      detail: expect.stringMatching(
        /"word-count" is not a kind of job here; there are: solution-check, .*contamination/,
      ),
    });
  });
});

describe('the command line', () => {
  it('submits, lists and shows jobs of kinds of one’s own', async () => {
    const { fleet, worker } = await startFleet();
    await worker(createOfflineRunner(), OWN);
    const env = { FLEET_REDIS_URL: redis.url, FLEET_PREFIX: fleet.prefix };
    const submit = ['submit', 'word-count', '--data', '-', '--wait', '--json', '--kinds-from', MODULE];
    const submitted = await fleetCommand(submit, { env, input: '{"text": "a b"}' });
    const { id, state, result } = JSON.parse(submitted.stdout);
    expect([state, result]).toEqual(['completed', { words: 2 }]);
    const known = { ...env, FLEET_KINDS_FROM: MODULE };
    const listed = await fleetCommand(['list', '--kind', 'word-count', '--json'], { env: known });
    expect(JSON.parse(listed.stdout)).toMatchObject([{ id }]);
    const shown = await fleetCommand(['get', id, '--json'], { env: known });
    expect(JSON.parse(shown.stdout)).toMatchObject({ kind: 'word-count', result: { words: 2 } });
    for (const [command, note] of [
      [['list'], 'not listed: 1 job of kinds that are not loaded here (word-count); name their modules'],
      [['list', '--kind', 'summarize'], 'no jobs'],
      [['dead', 'list'], 'no dead letters'],
      [['get', id], '"word-count" is not a kind of job here'],
      [['get', 'word-other-1'], 'there is no job word-other-1'],
      [['dead', 'show', id], '"word-count" is not a kind of job here'],
    ] as const) {
      const { stderr } = await fleetCommand([...command], { env });
      expect(stderr).toContain(note);
      expect(stderr.includes('not loaded here')).toBe(note.includes('not loaded here'));
    }
    const unknown = await fleetCommand(submit.slice(0, -2), { env, input: '{"text": "a b"}' });
    expect(unknown.stderr).toContain('"word-count" is not a kind of job here');
    expect(unknown.stderr).toContain('set FLEET_KINDS_FROM to its module');
    expect(unknown.exitCode).toBe(2);
  });
});

/** What a processor asks its agent: the payload says it. */
const asking = defineKind({
  name: 'asking',
  payload: z.object({ ask: z.json() }),
  result: z.object({ answer: z.json() }),
  defaults: { attempts: 2, backoffMs: 10 },
  process: async ({ ask }, work) => {
    const { variables, options, offline } = ask as Asked;
    const agent = defineAgent({
      promptFile: new URL('./critic.md', import.meta.url),
      outputSchema: z.strictObject({ grade: z.int(), reason: z.string().default('none') }),
      offline: () => offline as { grade: number; reason: string },
    });
    return { answer: (await work.ask(agent, variables, options)).output };
  },
});
interface Asked {
  readonly variables?: Record<string, string>;
  readonly options?: AskOptions;
  readonly offline?: unknown;
}

describe('the note that no worker has the kind', () => {
  it.each([
    ['word-count', '{"text": "a"}', `fleet worker --kinds-from ${MODULE})`],
    ['summarize', '{"ablationCode": "x", "rawOutput": ""}', 'fleet worker)'],
  ])('names the command for %s', async (kind, payload, command) => {
    const { fleet } = await startFleet();
    const data = join(emptyFolder(), 'payload.json');
    writeFileSync(data, payload);
    const env = { FLEET_REDIS_URL: redis.url, FLEET_PREFIX: fleet.prefix, FLEET_KINDS_FROM: MODULE };
    const waiting = startFleetCommand(['submit', kind, '--data', data, '--wait'], { env });
    await waiting.printed(`(start it with: ${command}`);
    await waiting.end('SIGINT');
  });
});

describe('work.ask without a model', () => {
  const variables = { text: 'a', count: '1' };
  const offline = { grade: 1 };
  const needsText = {
    code: 'prompt-variable',
    message: expect.stringContaining('needs the variable "text"'),
  };
  const mismatch = 'the offline answer of the agent "critic" does not match its outputSchema: ';
  it.each<[string, object, object]>([
    ['gives the answer as the schema reads it', { variables, offline }, { grade: 1, reason: 'none' }],
    ['refuses a missing variable', { variables: { count: '1' }, offline }, needsText],
    ['refuses to ask without variables', { offline }, needsText],
    [
      'refuses an unknown variable',
      { variables: { ...variables, txt: 'a' }, offline },
      {
        code: 'prompt-variable',
        message: expect.stringContaining('has no variable "txt" (it has: text, count)'),
      },
    ],
    [
      'refuses an unknown option',
      { variables, offline, options: { modle: 'a' } },
      {
        code: 'usage',
        message:
          'the options of work.ask for the agent "critic": modle: unknown field; did you mean "model"?',
      },
    ],
    [
      'refuses an offline answer of another type',
      { variables, offline: { grade: 'good' } },
      { code: 'offline-answer-invalid', message: expect.stringContaining(`${mismatch}grade: `) },
    ],
    [
      'refuses an offline answer with other fields',
      { variables, offline: { grade: 1, more: 2 } },
      { code: 'offline-answer-invalid', message: `${mismatch}more: unknown field` },
    ],
  ])('%s', async (_, ask, expected) => {
    fleets += 1;
    const { fleet, worker, close } = await startTestFleet(redis, `asking-${fleets}`, { kinds: [asking] });
    onTestFinished(() => close());
    await worker(createOfflineRunner(), { kinds: [asking] });
    const job = await addJob(fleet, asking, { ask: ask as { a: 1 } });
    const view = await job.wait();
    expect(view).toMatchObject(
      'code' in expected ? { error: expected, attempts: 1 } : { result: { answer: expected } },
    );
  });
});

describe('a kind of one’s own with agents and children', () => {
  it('runs again once a child is retried without which it failed, if it went on without another one', async () => {
    const two = defineKind({
      name: 'two',
      payload: z.object({}),
      result: z.strictObject({ got: z.array(z.string()) }),
      process: async (_payload, { jobs }) => {
        const optional = await jobs.childIn('optional', {}, { name: 'optional', orElse: 'nothing' });
        return { got: [String(optional), String(await jobs.childIn('needed', {}, { name: 'needed' }))] };
      },
    });
    const { fleet, worker } = await startFleet();
    const client = FleetClient.on(fleet.client, { redisUrl: redis.url, prefix: fleet.prefix, kinds: [two] });
    let isBroken = true;
    const fail = () => Promise.reject(new Error('broken'));
    const pipeline = [
      startPipelineWorker(redis, fleet, 'optional', fail),
      startPipelineWorker(redis, fleet, 'needed', () => (isBroken ? fail() : Promise.resolve('all'))),
    ];
    onTestFinished(async () => {
      await Promise.all([client.close(), ...pipeline.map(({ close }) => close())]);
    });
    await worker(createOfflineRunner(), { kinds: [two] });
    const job = await addJob(client, two, {});
    expect(await job.wait()).toMatchObject({ state: 'failed', error: { code: 'child-failed' } });
    isBroken = false;
    await retryJob(client, pipeline[1]?.ran[0] ?? '', 'needed');
    expect(await job.wait()).toMatchObject({ state: 'completed', result: { got: ['nothing', 'all'] } });
  });

  it('replays its answered calls after its worker was killed, in the isolated process of the next worker', async () => {
    const { fleet, api } = await startFleet([
      textReply('science'),
      { kind: 'hang' },
      jsonReply({ grade: 7 }),
      textReply('a matters'),
    ]);
    const env = {
      ...{ FLEET_REDIS_URL: redis.url, FLEET_PREFIX: fleet.prefix, FLEET_LOCK_MS: '4000' },
      ...{ ANTHROPIC_API_KEY: 'test-key', ANTHROPIC_BASE_URL: api.url },
    };
    const killed = startFleetCommand(['worker', '--kinds-from', MODULE], { env });
    const job = await addJob(fleet, review, { text: 'atoms and void', tags: { run: 'night' } });
    await api.arrived(2);
    await killed.end('SIGKILL');

    const next = startFleetCommand(['worker', '--kinds-from', MODULE], { env });
    onTestFinished(async () => void (await next.end('SIGTERM')));
    const result = await job.result();
    expectTypeOf(result.grade).toEqualTypeOf<number>();
    expect(result).toEqual({ topic: 'science', grade: 7, words: 3, summary: 'a matters' });
    const { logs } = await fleet.queue(review.name).getJobLogs(job.id);
    expect(logs.join('\n')).toContain('runs in the isolated process');
    // The first call was paid once, although two attempts asked it.
    expect(api.requests.filter(({ text }) => text.includes('in one word'))).toHaveLength(3);
    const records = await readCallRecords(fleet.client, fleet.jobKey(review.name, job.id));
    expect(records).toMatchObject([
      { step: 'critic', state: 'answered' },
      { step: 'critic-2', state: 'in-doubt' },
      { step: 'critic-2', state: 'answered' },
    ]);
  });

  it('is started by a follow-up of a built-in kind, and sends no call beyond its budget', async () => {
    const { fleet, worker, api } = await startFleet(({ body }) =>
      body.output_config === undefined ? textReply('a matters') : jsonReply({ grade: 2 }),
    );
    await worker(runnerFor(api), OWN);
    const text = 'atoms and void';
    const then = [
      { kind: review.name, from: { text: 'result.summary' } },
      { kind: 'word-count', payload: { text } },
    ];
    const first = await addJob(fleet, 'summarize', { ablationCode: 'x', rawOutput: 'a: 1', then });
    const { followUps } = await first.wait();
    expect(followUps).toMatchObject([
      { kind: review.name, job: { state: 'completed', result: { grade: 2, topic: 'a matters' } } },
      { kind: 'word-count', job: { state: 'completed', result: { words: 3 } } },
    ]);
    const before = api.requests.length;
    const job = await addJob(fleet, review, { text }, { budgetUsd: 0.000001 });
    expect(await job.wait()).toMatchObject({ state: 'failed', error: { code: 'budget-exhausted' } });
    expect(api.requests).toHaveLength(before);
  });
});
