import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createAnthropicRunner } from '../../src/agents/anthropic-runner.js';
import { rememberAddress } from '../../src/config/redact.js';
import type { FleetError } from '../../src/errors.js';
import { checkAndFixLeakage } from '../../src/processors/leakage-check/check-and-fix-leakage.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { connectProducer } from '../../src/queues/connection.js';
import { correction, leaks } from '../support/agent-answers.js';
import { fleetCommand, type RunningCommand, startFleetCommand } from '../support/fleet-command.js';
import {
  errorAfter,
  errorReply,
  htmlReply,
  jsonReply,
  type MessagesApi,
  pausedReply,
  type Reply,
  startMessagesApi,
  textReply,
  toolUseReply,
} from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';

const API_KEY = 'sk-ant-very$ecret+(key)/0123456789';
const PASSWORD = 'redis-very-secret-password';

const redis = redisOfFile();
let url: string;
let api: MessagesApi;
let worker: RunningCommand;
let reply: (index: number) => Reply = () => errorReply(401, 'invalid x-api-key');
beforeAll(async () => {
  const client = await connectProducer(redis.url, { waitForSlow: true });
  await client.config('SET', 'requirepass', PASSWORD);
  client.disconnect();
  url = `unix://:${PASSWORD}@${redis.socketPath}`;
  api = await startMessagesApi({ reply: (_request, index) => reply(index) });
  worker = startFleetCommand(['worker'], { env: environment() });
  await worker.printed('worker ready');
});
afterAll(async () => {
  await worker.end('SIGTERM');
  await api.close();
  // What it logged while it ended is checked for secrets too.
  expect(worker.lines.length).toBeGreaterThan(3);
  expect(containsSecret(worker.lines.join('\n'))).toBe(false);
});
afterEach(() => {
  reply = () => errorReply(401, 'invalid x-api-key');
});

/** Of a command that logs no more than usual. */
const quiet = () => ({
  FLEET_REDIS_URL: url,
  FLEET_PREFIX: 'secrets',
  ANTHROPIC_API_KEY: API_KEY,
  ANTHROPIC_BASE_URL: api.url,
});
const environment = () => ({ ...quiet(), FLEET_LOG_LEVEL: 'trace' });

function containsSecret(text: string): boolean {
  const forms = [API_KEY, PASSWORD].flatMap((secret) => [
    ...[secret, secret.slice(0, 14), secret.slice(-14), encodeURIComponent(secret)],
    ...[Buffer.from(secret).toString('base64').slice(4, -4), Buffer.from(secret).toString('hex')],
  ]);
  return forms.some((form) => text.includes(form));
}

describe('secrets', () => {
  it('are in no log line, error, job or key, though everything is logged and the provider rejects the key', async () => {
    const fleet = await FleetClient.open({ redisUrl: url, prefix: 'secrets' });
    try {
      const job = await addSolutionCheck(fleet, { solution: { content: 'x = 1\n' } });
      expect(await job.wait()).toMatchObject({ state: 'failed', error: { code: 'unauthorized' } });
      expect(containsSecret(JSON.stringify(await job.view()))).toBe(false);
      const fields = await fleet.client.hgetall(`${fleet.prefix}:solution-check:${job.id}`);
      expect(containsSecret(JSON.stringify(fields))).toBe(false);
      const shown = await fleetCommand(['dead', 'show', job.id], { env: environment() });
      expect(shown.exitCode).toBe(0);
      expect(containsSecret(shown.stdout + shown.stderr)).toBe(false);
    } finally {
      await fleet.close();
    }
    expect(worker.lines.length).toBeGreaterThan(3);
    expect(containsSecret(worker.lines.join('\n'))).toBe(false);
  });

  it('are not shown by the configuration, nor by errors about a Redis that rejects them', async () => {
    const config = await fleetCommand(['config'], { env: quiet() });
    expect(containsSecret(config.stdout + config.stderr)).toBe(false);
    const wrong = `unix://:${PASSWORD}x@${redis.socketPath}`;
    const rejected = await fleetCommand(['list'], { env: { ...environment(), FLEET_REDIS_URL: wrong } });
    expect(rejected.exitCode).toBe(2);
    expect(containsSecret(rejected.stdout + rejected.stderr)).toBe(false);
    const malformed = `redis://:${PASSWORD}@@:x`;
    const unreadable = await fleetCommand(['list'], {
      env: { ...quiet(), FLEET_REDIS_URL: malformed },
    });
    expect(unreadable.exitCode).toBe(2);
    expect(containsSecret(unreadable.stdout + unreadable.stderr)).toBe(false);
  });
});

describe('a provider that repeats what it was sent', () => {
  const base64 = Buffer.from(`user:${API_KEY}`).toString('base64');
  const said = `bad key ${API_KEY}, ${encodeURIComponent(API_KEY)}, ${base64} of ${PASSWORD}`;
  const cut = `${'long '.repeat(97)}${API_KEY}`;
  const html = { ...htmlReply(), headers: { 'content-type': `text/html; k=${API_KEY}` }, body: said };
  const named = { answers: [{ leakage_status: 'Yes Data Leakage', code_block: `x = "${API_KEY}"` }] };

  const replies: readonly (readonly [what: string, Reply | readonly Reply[]])[] = [
    ...[400, 401, 403, 404, 413, 429, 500, 529].map(
      (status) => [`${status}`, errorReply(status, said)] as const,
    ),
    ['an error just where it is shortened', errorReply(400, cut)],
    ['a body that is no JSON', { ...errorReply(400), body: said }],
    ['fields that the API does not have', { ...errorReply(400), body: JSON.stringify({ [API_KEY]: said }) }],
    ['an error in a stream', errorAfter(textReply('x'), 2, 'invalid_request_error', said)],
    ['a type of error', errorAfter(textReply('x'), 2, API_KEY, said)],
    ['a page of a proxy and its media type', { ...html, headers: { 'content-type': `x/${API_KEY}` } }],
    ['prose instead of an answer', textReply(said, { deltaSize: 7 })],
    ['an answer', jsonReply(named, { deltaSize: 5 })],
    ['an answer in two parts', [pausedReply(`{"x":"${API_KEY.slice(0, 12)}`), textReply(API_KEY.slice(12))]],
    ['the name of its model', jsonReply(named, { model: API_KEY })],
    ['a stop reason', textReply('x', { stopReason: API_KEY })],
    ['the name of a tool', toolUseReply(API_KEY, { [API_KEY]: API_KEY })],
  ];

  it.each(replies)(
    '%s: no answer and no error of the runner contains a secret',
    async (_what, replyOrList) => {
      const list = Array.isArray(replyOrList) ? (replyOrList as readonly Reply[]) : [replyOrList as Reply];
      const provider = await startMessagesApi({
        reply: (_request, index) => list[index % list.length] ?? errorReply(500),
      });
      rememberAddress(`redis://:${PASSWORD}@host`);
      const lines: string[] = [];
      const log = { info: (line: string) => lines.push(line), warn: (line: string) => lines.push(line) };
      const runner = createAnthropicRunner({
        baseURL: provider.url,
        apiKey: API_KEY,
        model: 'm',
        callRetries: 0,
      });
      const answered = await checkAndFixLeakage({ content: 'x = 1\n' }, runner, { log }).catch(
        (thrown: FleetError) => [thrown.message, thrown.rawAnswer, thrown.stack, thrown.cause],
      );
      await provider.close();
      expect(containsSecret(JSON.stringify([answered, lines]))).toBe(false);
    },
  );

  it.each([
    ['an error', () => errorReply(400, said)],
    ['an answer that cannot be used', () => textReply(said)],
    ['an answer', () => jsonReply(named)],
  ])('%s: no job, call record, log or command does either', async (_what, replyOrList) => {
    reply = replyOrList;
    const before = api.requests.length;
    const fleet = await FleetClient.open({ redisUrl: url, prefix: 'secrets' });
    try {
      const job = await addSolutionCheck(fleet, { solution: { content: 'x = 1\n' } });
      await job.wait();
      expect(api.requests.length).toBeGreaterThan(before);
      const keys = await fleet.client.keys(`${fleet.prefix}:*${job.id}*`);
      const stored = await Promise.all(
        keys.map(async (key) => [
          await fleet.client.type(key),
          Buffer.from((await fleet.client.dump(key)) ?? '').toString('latin1'),
        ]),
      );
      const fields = await fleet.client.hgetall(`${fleet.prefix}:solution-check:${job.id}`);
      const lines = await fleet.client.lrange(`${fleet.prefix}:solution-check:${job.id}:logs`, 0, -1);
      expect(containsSecret(JSON.stringify([await job.view(), fields, lines, stored]))).toBe(false);
      const shown = await fleetCommand(['get', job.id], { env: quiet() });
      expect(containsSecret(shown.stdout + shown.stderr)).toBe(false);
    } finally {
      await fleet.close();
    }
    expect(containsSecret(worker.lines.join('\n'))).toBe(false);
  });

  it('a script that contains the secret itself is returned unchanged', async () => {
    const content = `KEY = "${API_KEY}"\nx = 1\n`;
    const provider = await startMessagesApi({
      reply: [leaks(`KEY = "${API_KEY}"`), correction(`KEY = "${API_KEY}"\nx = 2`)],
    });
    const runner = createAnthropicRunner({ baseURL: provider.url, apiKey: API_KEY, model: 'm' });
    const result = await checkAndFixLeakage({ content }, runner);
    await provider.close();
    expect(result.solution.content).toBe(`KEY = "${API_KEY}"\nx = 2\nx = 1\n`);
  });
});
