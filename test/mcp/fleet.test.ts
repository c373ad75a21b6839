import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { agentAnswers } from '../../src/cli/mcp/agent-answers.js';
import { loadConfig } from '../../src/config/load-config.js';
import { TokenStore } from '../../src/gateway/auth/token-store.js';
import { packagePath } from '../../src/package-root.js';
import { addJob } from '../../src/producers/add-job.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { startTestGateway, type TestGateway } from '../gateway/gateway-fixture.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';
import { type Agent, agentOfGateway, startAgent } from './agents.js';

const redis = redisOfFile();
const PREFIX = 'mcp';
const example = (...path: string[]) => readFileSync(packagePath('examples', ...path), 'utf8');
const LEAKY = example('scripts', 'leaky_scaler.py');
const ABLATION = {
  ablation: example('refinement', 'ablation.py'),
  output: example('refinement', 'output.txt'),
};
const CORRECTED = { status: 'corrected', total: 1, leaks: [{ kind: 'scaling', outcome: 'corrected' }] };

let fleet: FleetClient;
let test: TestFleet;
let answers: ReturnType<typeof agentAnswers>;
let gateway: TestGateway;
let tokens: TokenStore;

beforeAll(async () => {
  test = await startTestFleet(redis, PREFIX);
  ({ fleet } = test);
  tokens = new TokenStore(fleet.client, PREFIX);
  await test.worker(createOfflineRunner());
  answers = agentAnswers(loadConfig());
  gateway = await startTestGateway(redis, PREFIX, {}, { answerAgent: answers.answer });
});
afterAll(async () => {
  await gateway.close();
  await answers.close();
  await test.close();
});

const tokenOf = async (...args: Parameters<TokenStore['add']>) => (await tokens.add(...args)).token;

/** Every tool of an agent whose fleet does jobs. */
async function expectJobs(agent: Agent): Promise<void> {
  const { structured } = await agent.call('correct_leakage', { script: LEAKY, agents: true });
  expect(structured).toMatchObject(CORRECTED);
  const summarized = await agent.call('summarize_ablation', ABLATION);
  const { summary } = summarized.structured;
  expect(summary).toEqual(expect.stringContaining('The most impactful component'));
  const script = example('refinement', 'solution.py');
  const picked = await agent.call('extract_block', { script, summary });
  expect(picked.structured).toMatchObject({ outcome: 'selected', block: expect.any(String) });
  const compared = await agent.call('check_contamination', { answer: LEAKY, testCase: 'unknown' });
  expect(compared.structured).toMatchObject({ contaminated: false, note: expect.any(String) });
  const { id } = await addJob(fleet, 'solution-check', { solution: { content: LEAKY } });
  const ended = await agent.call('job_status', { id, waitSeconds: 45, wholeScript: true });
  expect(ended.structured).toMatchObject({
    ...{ id, kind: 'solution-check', state: 'completed', status: 'corrected', costUsd: 0 },
    result: { ...CORRECTED, script: expect.stringContaining('fit_transform(X_train)') },
  });
  const missing = await agent.call('job_status', { id: `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}` });
  expect(missing.error).toMatch(/^there is no job .*\(job-not-found\)$/);
}

describe('fleet mcp with a fleet', () => {
  it('has jobs done by its Redis, and its own checks here', async () => {
    const agent = await startAgent([], { FLEET_REDIS_URL: redis.url, FLEET_PREFIX: PREFIX });
    try {
      const { tools } = await agent.client.listTools();
      const readOnly = tools.filter(({ annotations }) => annotations?.readOnlyHint === true);
      expect(readOnly.map(({ name }) => name)).toEqual(['check_leakage', 'job_status']);
      await expectJobs(agent);
      const before = await fleet.queue('solution-check').getCompletedCount();
      const { structured } = await agent.call('correct_leakage', { script: LEAKY });
      expect(structured).toMatchObject(CORRECTED);
      expect(await fleet.queue('solution-check').getCompletedCount()).toBe(before);
    } finally {
      await agent.client.close();
    }
  });

  it('has jobs done by its gateway, with its token', async () => {
    const FLEET_TOKEN = await tokenOf('process', 'submit');
    const agent = await startAgent(['--url', gateway.url], { FLEET_TOKEN });
    try {
      await expectJobs(agent);
    } finally {
      await agent.client.close();
    }
  });

  it('says why a fleet cannot be reached, and goes on with what needs none', async () => {
    const agent = await startAgent(['--url', 'http://127.0.0.1:1'], {});
    try {
      const checked = await agent.call('check_leakage', { script: LEAKY });
      expect(checked.structured).toMatchObject({ status: 'leaky' });
      const { error } = await agent.call('summarize_ablation', ABLATION);
      expect(error).toMatch(/\(gateway-unreachable\)$/);
    } finally {
      await agent.client.close();
    }
  });
});

describe('fleet serve for agents', () => {
  it('does what fleet mcp does, and takes no names of files', async () => {
    const agent = await agentOfGateway(gateway.url, await tokenOf('agent', 'submit'));
    const { tools } = await agent.client.listTools();
    const fields = tools.flatMap(({ inputSchema }) => Object.keys(inputSchema.properties ?? {}));
    expect(fields).toContain('script');
    expect(fields.filter((name) => name.endsWith('File') || name === 'known')).toEqual([]);
    const { structured } = await agent.call('check_leakage', { script: LEAKY });
    expect(structured).toMatchObject({ status: 'leaky', total: 1 });
    await expectJobs(agent);
    await agent.client.close();
  });

  it('lets a token do what its role allows', async () => {
    const reader = await agentOfGateway(gateway.url, await tokenOf('reader', 'read'));
    const refused = 'this needs a token with the role submit; this one has read (forbidden)';
    for (const [name, args] of [
      ['check_leakage', { script: LEAKY }],
      ['correct_leakage', { script: LEAKY, agents: true }],
      ['summarize_ablation', ABLATION],
      ['extract_block', { script: LEAKY, summary: 'x' }],
      ['check_contamination', { answer: 'x', testCase: 'a' }],
    ] as const) {
      expect([name, (await reader.call(name, args)).error]).toEqual([name, refused]);
    }
    const { id } = await addJob(fleet, 'solution-check', { solution: { content: 'x = 1\n' } });
    const { structured } = await reader.call('job_status', { id, waitSeconds: 45 });
    expect(structured).toMatchObject({ state: 'completed', status: 'clean' });
    await reader.client.close();
  });

  it('shows a token of a tenant the jobs of that tenant alone, and submits for it', async () => {
    const [acme, other] = await Promise.all(
      ['acme', 'other'].map(async (tenant) =>
        agentOfGateway(gateway.url, await tokenOf(tenant, 'submit', tenant)),
      ),
    );
    await acme?.call('correct_leakage', { script: LEAKY, agents: true });
    const [job] = await fleet.queue('solution-check').getCompleted(0, 0);
    expect(job?.opts).toMatchObject({ fleet: { tenant: 'acme' } });
    const id = job?.id ?? '';
    expect((await acme?.call('job_status', { id }))?.structured).toMatchObject({ state: 'completed' });
    expect((await other?.call('job_status', { id }))?.error).toBe(`there is no job ${id} (job-not-found)`);
    await acme?.client.close();
    await other?.client.close();
  });

  it('takes no message whose token was revoked while its body was sent', async () => {
    await tokenOf('kept', 'read');
    const { token, record } = await tokens.add('slow', 'submit');
    const listed = async () =>
      (await gateway.send('GET', '/v1/jobs', undefined, { authorization: `Bearer ${token}` })).status;
    // A gateway that was open learns of its first token in time.
    await expect.poll(listed).toBe(200);
    const name = 'summarize_ablation';
    const params = { name, arguments: ABLATION };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    const request = httpRequest(new URL('/mcp', gateway.url), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'content-length': Buffer.byteLength(body),
        expect: '100-continue',
      },
    });
    const answered = once(request, 'response');
    request.flushHeaders();
    await once(request, 'continue');
    // Redis is asked for the token of the first request before that of the second one.
    expect(await listed()).toBe(200);
    await tokens.revoke(record.id);
    request.end(body);
    const [response] = (await answered) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(401);
  });

  it('refuses what is no message of an agent with a token', async () => {
    const token = await tokenOf('plain', 'submit');
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const headers = { authorization: `Bearer ${token}`, accept: 'application/json, text/event-stream' };
    const send = async (...args: Parameters<TestGateway['send']>) => {
      const { status, json } = await gateway.send(...args);
      return [status, json.code ?? json.error?.code];
    };
    await expect(agentOfGateway(gateway.url)).rejects.toThrow('unauthenticated');
    await expect(agentOfGateway(gateway.url, 'fleet_wrong')).rejects.toThrow('unauthenticated');
    expect(await send('POST', '/mcp', message, { ...headers, authorization: '' })).toEqual([
      401,
      'unauthenticated',
    ]);
    expect(await send('GET', '/mcp', undefined, headers)).toEqual([405, 'method-not-allowed']);
    expect(await send('DELETE', '/mcp', undefined, headers)).toEqual([405, 'method-not-allowed']);
    expect(await send('POST', '/mcp', '{', headers)).toEqual([400, 'malformed-request']);
    // Several messages would share the slot of one.
    expect(await send('POST', '/mcp', [message, { ...message, id: 2 }], headers)).toEqual([
      400,
      'malformed-request',
    ]);
    expect(await send('POST', '/mcp', { nothing: 1 }, headers)).toEqual([400, -32700]);
    expect(await send('POST', '/mcp', message, { ...headers, accept: 'text/html' })).toEqual([406, -32000]);
    const { status, headers: answered, json } = await gateway.send('POST', '/mcp', message, headers);
    expect([status, answered.get('cache-control'), json.result.tools.length]).toEqual([200, 'no-store', 6]);
    expect((await gateway.send('GET', '/metrics', undefined, headers)).text).toContain('route="/mcp"');
  });
});

it('a wait for a job ends with the gateway', async () => {
  const own = await startTestGateway(redis, 'closing', {}, { answerAgent: answers.answer });
  const waiting = await FleetClient.open({ redisUrl: redis.url, prefix: 'closing', waitForSlow: true });
  const agent = await agentOfGateway(own.url);
  const payload = { solution: { content: LEAKY } };
  const { id } = await addJob(waiting, 'solution-check', payload, { delayMs: 86_400_000 });
  const now = await agent.call('job_status', { id });
  expect(now.structured).toMatchObject({ id, state: 'delayed' });
  const later = agent.call('job_status', { id, waitSeconds: 45 }).catch((thrown: Error) => thrown.message);
  while (own.openRequests === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  await own.close();
  expect(await later).toEqual(expect.anything());
  expect(own.openRequests).toBe(0);
  await waiting.close();
});

it('a gateway without agents has no such route', async () => {
  const plain = await startTestGateway(redis, 'plain');
  try {
    expect((await plain.send('POST', '/mcp', {})).status).toBe(404);
  } finally {
    await plain.close();
  }
});
