import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AgentConfig } from '../../src/agents/agent-config.js';
import { AgentType } from '../../src/agents/agent-type.js';
import { createAnthropicRunner } from '../../src/agents/anthropic-runner.js';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { PromptRegistry } from '../../src/agents/prompt-registry.js';
import { createLogger } from '../../src/fleet/logger.js';
import { checkRedis } from '../../src/fleet/redis-check.js';
import { FleetWorker, type WorkerOptions } from '../../src/fleet/worker.js';
import { checkAndFixLeakage } from '../../src/processors/leakage-check/check-and-fix-leakage.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { Trials } from '../../src/trial/trials.js';
import { redisOfFile } from '../support/redis.js';
import { TcpProxy } from '../support/tcp-proxy.js';

const folder = mkdtempSync(join(tmpdir(), 'worker-options-'));
const file = join(folder, 'a-file');
writeFileSync(file, 'print(1)\n');
writeFileSync(join(folder, 'throws.mjs'), 'throw new Error("no licence");\n');
writeFileSync(join(folder, 'no-kind.mjs'), 'export const score = 1;\n');

const options: WorkerOptions = {
  redisUrl: 'redis://127.0.0.1:1',
  prefix: 'options',
  runner: createOfflineRunner(),
  logger: createLogger('silent'),
  concurrency: 1,
  lockMs: 1_000,
};

/** As a program without types passes them. */
const start = (changes: object) => FleetWorker.start({ ...options, ...changes } as WorkerOptions);
const open = (changes: object) => FleetClient.open({ redisUrl: options.redisUrl, ...changes });

describe('FleetWorker.start', () => {
  it.each<[string, object, string, string | RegExp]>([
    [
      'an unknown name',
      { concurency: 2 },
      'invalid-payload',
      'concurency: is not an option here; did you mean "concurrency"?',
    ],
    [
      'an unknown name of the calls',
      { calls: { budgetUSDs: 1 } },
      'invalid-payload',
      'calls.budgetUSDs: is not an option here; did you mean "budgetUsd"?',
    ],
    ['one of the analysis', { analysis: { timeout: 1 } }, 'invalid-payload', 'analysis.timeout: is not'],
    ['one of the workspaces', { workspaces: { root: [] } }, 'invalid-payload', 'workspaces.root: is not'],
    ['one of the texts', { textLimits: { textByte: 1 } }, 'invalid-payload', 'textLimits.textByte: is not'],
    ['one of the trials', { trials: { memoryMB: 1, secs: 2 } }, 'invalid-payload', 'trials.memoryMB: is not'],
    ['no address', { redisUrl: undefined }, 'usage', 'redisUrl: is missing'],
    ['no runner', { runner: undefined }, 'usage', 'runner: is missing'],
    ['no slots', { concurrency: 0 }, 'usage', 'concurrency: '],
    ['a lock of no time', { lockMs: Number.NaN }, 'usage', 'lockMs: '],
    [
      'limits of a misspelled field',
      { calls: { limits: { m: { request: 1 } } } },
      'usage',
      /calls.limits: m: .*request/,
    ],
    [
      'a root that is missing',
      { workspaces: { roots: [join(folder, 'x')] } },
      'invalid-configuration',
      /workspaces.roots: ".*x" does not exist/,
    ],
    [
      'a root that is a file',
      { workspaces: { roots: [file] } },
      'invalid-configuration',
      /a-file" is not a directory/,
    ],
    [
      'a module that is missing',
      { kindsFrom: [join(folder, 'x.mjs')] },
      'invalid-kind',
      'Cannot find module',
    ],
    ['a module that throws', { kindsFrom: [join(folder, 'throws.mjs')] }, 'invalid-kind', 'no licence'],
    [
      'a module without kinds',
      { kindsFrom: [join(folder, 'no-kind.mjs')] },
      'invalid-kind',
      'exports no kind',
    ],
    ['a kind that there is none of', { kinds: ['sumarize'] }, 'unknown-kind', 'did you mean "summarize"?'],
    [
      'a prefix without a hash tag on a cluster',
      { redisUrl: 'redis+cluster://127.0.0.1:1' },
      'invalid-configuration',
      'FLEET_PREFIX',
    ],
  ])('refuses %s, before it connects', async (_what, changes, code, says) => {
    const message = typeof says === 'string' ? expect.stringContaining(says) : expect.stringMatching(says);
    await expect(start(changes)).rejects.toMatchObject({ code, message });
  });

  it('refuses prompts that cannot be used', async () => {
    process.env.FLEET_PROMPTS = join(folder, 'x');
    onTestFinished(() => {
      delete process.env.FLEET_PROMPTS;
    });
    await expect(start({})).rejects.toMatchObject({ code: 'prompt-not-found' });
  });

  it('gives up a Redis that accepts the connection and never answers', async () => {
    const silent = createServer((socket) => socket.on('error', () => socket.destroy()));
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    onTestFinished(() => void silent.close());
    const { port } = silent.address() as AddressInfo;
    const starting = start({ redisUrl: `redis://127.0.0.1:${port}`, redisTimeoutMs: 100 });
    await expect(starting).rejects.toMatchObject({
      code: 'redis-unreachable',
      message: expect.stringContaining('no answer within 100 ms'),
    });
  });
});

describe('FleetWorker.start and its Redis', () => {
  const redis = redisOfFile();

  it('gives up one that breaks its connections after it was checked', async () => {
    const proxy = await TcpProxy.start({ path: redis.socketPath });
    onTestFinished(() => proxy.stop());
    // The check has the first connection; a command on a later one comes when the worker is made.
    proxy.onRequest = () => {
      if (proxy.accepted < 3) return;
      proxy.mode = 'refusing';
      proxy.cut();
    };
    const starting = start({ redisUrl: proxy.url, redisTimeoutMs: 2_000 });
    await expect(starting).rejects.toMatchObject({
      code: 'redis-unreachable',
      message: expect.stringContaining('broke the connection while the worker started'),
    });
  });
});

describe('other functions that take options', () => {
  it.each<[string, () => unknown, string]>([
    [
      'createAnthropicRunner',
      () => createAnthropicRunner({ maxToken: 5 } as object),
      'maxToken: is not an option here; did you mean "maxTokens"?',
    ],
    [
      'AgentConfig',
      () => new AgentConfig({ agentType: AgentType.summarize, modle: 'm' } as never),
      'did you mean "model"?',
    ],
    ['PromptRegistry', () => new PromptRegistry({ override: '.' } as object), 'did you mean "overrides"?'],
    ['Trials', () => new Trials({ second: 1 } as object), 'did you mean "seconds"?'],
    [
      'checkRedis',
      () => checkRedis(options.redisUrl, { timeout: 1 } as object),
      'timeout: is not an option here',
    ],
    [
      'checkAndFixLeakage',
      () => checkAndFixLeakage({ content: 'x' }, options.runner, { workspce: '.' } as object),
      'did you mean "workspace"?',
    ],
  ])('%s refuses an unknown name', async (_name, call, says) => {
    await expect((async () => call())()).rejects.toMatchObject({
      code: 'invalid-payload',
      message: expect.stringContaining(says),
    });
  });
});

describe('FleetClient.open', () => {
  it.each([
    ['limits', { limits: { textByte: 1 } }, 'limits.textByte: is not an option here'],
    ['memory', { memory: { admitPercentage: 1 } }, 'memory.admitPercentage: is not an option here'],
  ])('refuses unknown names of its %s', async (_what, changes, says) => {
    await expect(open(changes)).rejects.toMatchObject({
      code: 'invalid-payload',
      message: expect.stringContaining(says),
    });
  });
});
