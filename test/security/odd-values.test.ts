import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestGateway, type TestGateway } from '../gateway/gateway-fixture.js';
import { attempts } from '../support/attempts.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { forMany, KeepAliveClient } from '../support/keep-alive-client.js';
import { redisOfFile } from '../support/redis.js';

const redis = redisOfFile();
let test: TestFleet;
let gateway: TestGateway;
/** The same, with all submissions rejected. */
let full: TestGateway;
let client: KeepAliveClient;
let fullClient: KeepAliveClient;

beforeAll(async () => {
  const settings = { workspaceRoots: ['/tmp'] };
  test = await startTestFleet(redis, 'odd');
  const quiet = { logger: pino({ level: 'silent' }) };
  gateway = await startTestGateway(redis, 'odd', settings, quiet);
  full = await startTestGateway(redis, 'full', { ...settings, maxWaiting: 0 }, quiet);
  client = new KeepAliveClient(gateway.url);
  fullClient = new KeepAliveClient(full.url);
});
afterAll(async () => {
  client.close();
  fullClient.close();
  await gateway.close();
  await full.close();
  await test.close();
});

/** A day: no accepted job becomes due. */
const later = { delayMs: 86_400_000 };
const id = `evaluate-${'0'.repeat(40)}`;
const solution = { content: 'x = 1\n' };
const evaluation = { queue: 'evaluate', name: 'score', data: { fold: 1 }, opts: { attempts: 2 } };
const settings = { workspace: '/tmp/roots/w', model: 'claude-test', tags: { run: 'r' } };

/** A body that is taken, for each operation that has one. */
const BODIES: Readonly<Record<string, object>> = {
  'POST /v1/jobs/solution-check': {
    payload: { solution, ...settings },
    ...later,
    key: 'k1',
    tenant: 't',
    priority: 3,
    budgetUsd: 1,
    force: false,
  },
  'POST /v1/jobs/summarize': { payload: { ablationCode: 'a', rawOutput: 'b' }, ...later },
  'POST /v1/jobs/extract': { payload: { solution, summary: 's', previousBlocks: ['x'] }, ...later },
  'POST /v1/jobs/contamination': {
    payload: {
      output: 'o',
      testCase: { id: 'i', name: 'n', difficulty: 'easy', solveTime: 5, thoughtChain: ['t'] },
      config: { skipChecks: ['timing'], minimumTokens: 3 },
    },
    ...later,
  },
  'POST /v1/jobs:batch': { jobs: [{ kind: 'solution-check', payload: { solution }, ...later }] },
  'POST /v1/flows/refinement': {
    ablationCode: 'a',
    rawOutput: 'b',
    solution,
    previousBlocks: ['x'],
    key: 'k2',
  },
  'POST /v1/flows/guarded-evaluation': { solution, evaluation, onUncorrected: 'refuse', key: 'k3' },
  'POST /v1/flows/candidate-batch': {
    candidates: [{ solution, data: { a: 1 }, key: 'k4' }],
    evaluation,
    afterAll: { queue: 'after', name: 'n' },
    key: 'k5',
  },
  'POST /v1/dead-letters:retry': { ids: ['summarize-x'], kind: 'summarize', run: 'r', code: 'internal' },
  'POST /v1/dead-letters:drop': { ids: ['summarize-x'], tenant: 't', olderThanMs: 5 },
  'POST /v1/evaluations/claim': { queue: 'nobody', leaseMs: 1_000 },
  'POST /v1/evaluations/heartbeat': { queue: 'evaluate', id, lease: 'l', leaseMs: 1_000 },
  'POST /v1/evaluations/complete': { queue: 'evaluate', id, lease: 'l', result: { score: 1 } },
  'POST /v1/evaluations/fail': { queue: 'evaluate', id, lease: 'l', message: 'm', retryable: true },
  'PUT /v1/known/case': { solution: 's', language: 'python', addedToTraining: '2026-01-01T00:00:00Z' },
};

const ODD: readonly unknown[] = [
  null,
  [],
  {},
  '\ud800',
  '\0',
  '../../etc/passwd',
  '\u202egnp',
  'a'.repeat(5_000),
  -1,
  1e308,
  true,
  { 'fleet:text': 'a'.repeat(64), bytes: 1 },
  { constructor: null, toString: 1 },
];

/** Every value in every field takes a minute on a busy machine: `TEST_ATTEMPTS=10000` tries them all. */
const STRIDE = attempts(5) === 5 ? 5 : 1;
let positions = 0;

/** The values for one position: every fifth, others at the next position. */
function oddValues(): readonly unknown[] {
  positions += 1;
  return ODD.filter((_, at) => (at + positions) % STRIDE === 0);
}

/** The body with each of its parts in turn replaced by odd values, or taken away. */
function* mutations(value: unknown): Generator<unknown> {
  yield* oddValues();
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) {
      for (const odd of mutations(item)) yield value.map((other, index) => (index === at ? odd : other));
    }
    yield [...value, null, ...value];
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      for (const odd of mutations(item)) yield { ...value, [key]: odd };
      const { [key as keyof typeof value]: _, ...rest } = value;
      yield rest;
    }
    yield { ...value, '\ud800': 1 };
    yield { ...value, 'fleet:text': 'a'.repeat(64), bytes: 1 };
  }
}

interface Refusal {
  readonly body: unknown;
  readonly status: number;
  readonly text: string;
}

async function sendAll(
  to: KeepAliveClient,
  operation: string,
  bodies: readonly unknown[],
  isWrong: (status: number, contentType: string) => boolean,
): Promise<Refusal[]> {
  const [method = '', path = ''] = operation.split(' ');
  const wrong: Refusal[] = [];
  await forMany(bodies, async (body) => {
    const { status, text, contentType } = await to.send(method, path, body);
    if (isWrong(status, contentType)) wrong.push({ body, status, text });
  });
  return wrong;
}

describe('odd values at every position of every body', () => {
  it.each(Object.keys(BODIES))(
    '%s: accepted, or rejected with a problem document, never an error 5xx',
    async (operation) => {
      const bodies = [...mutations(BODIES[operation]), BODIES[operation]];
      const wrong = await sendAll(
        client,
        operation,
        bodies,
        (status, type) => status >= 500 || (status >= 400 && !type.startsWith('application/problem+json')),
      );
      expect(wrong).toEqual([]);
      expect((await gateway.send('GET', '/healthz')).status).toBe(200);
    },
  );

  it.each(Object.keys(BODIES).filter((operation) => /jobs|flows/.test(operation)))(
    '%s: nothing is left of what is rejected',
    async (operation) => {
      const redisClient = test.fleet.client;
      // Redis lists keys in any order, and in another one after its table has grown.
      const keysLeft = async () =>
        (await redisClient.keys('full:*')).filter((key) => !isGatewayRecord(key)).sort();
      const before = await keysLeft();
      // Most are rejected before anything could be stored; the unchanged body gets furthest.
      const some = [...mutations(BODIES[operation])].filter((_, at) => at % STRIDE === 0);
      const bodies = [...some, BODIES[operation]];
      const isBatch = operation.endsWith(':batch');
      const taken = await sendAll(fullClient, operation, bodies, (status) => status < 400 && !isBatch);
      expect(taken).toEqual([]);
      expect(await keysLeft()).toEqual(before);
    },
  );
});

/** What gateways keep for themselves, whatever comes. */
function isGatewayRecord(key: string): boolean {
  return /^full::(stat|count|collector|metrics)/.test(key);
}

describe('odd names in addresses and headers', () => {
  it.each([
    'GET /v1/jobs/%00',
    'GET /v1/jobs/%E0%A4%A',
    'GET /v1/jobs/..%2f..',
    `GET /v1/jobs/${'a'.repeat(5_000)}`,
    'GET /v1/jobs/solution-check-x:dependencies',
    `GET /v1/jobs/${id}:processed`,
    `GET /v1/jobs/__proto__-${'0'.repeat(40)}`,
    'GET /v1/jobs?limit=1e9',
    'GET /v1/jobs?limit=-1',
    'GET /v1/jobs?limit=1&limit=2',
    'GET /v1/jobs?run[a]=1',
    'GET /v1/jobs?state=constructor',
    'GET /v1/runs/%00',
    'GET /v1/runs/%ff',
    `GET /v1/runs/${'r'.repeat(600)}`,
    'GET /v1/known/%00',
    'GET /v1/dead-letters?olderThanMs=x',
    'GET /v1/dead-letters/meta',
    'DELETE /v1/jobs/meta',
    'POST /v1/jobs/toString',
    'GET /board/api/queues?activeQueue=%25&jobsPerPage=100000',
    'GET /board/api/queues?jobsPerPage[]=1&jobsPerPage[]=100000&page[a]=1',
    'GET /board/api/queues?activeQueue=extract&status=constructor',
    'GET /board/api/queues/extract/meta',
    'GET /board/api/queues/extract/events',
    'GET /board/api/queues/extract/%00/logs',
    'GET /board/api/queues/__proto__/x',
    'GET /board/api/job-schedulers?queueName=%25',
  ])('%s', async (request) => {
    const [method = '', path = ''] = request.split(' ');
    expect((await gateway.send(method, path)).status).toBeLessThan(500);
  });

  it.each([' ', '""', '"\\"', 'ÿ', 'a'.repeat(8_000), '\t'])('Idempotency-Key: %j', async (key) => {
    const body = { payload: { ablationCode: 'a', rawOutput: 'b' }, ...later };
    const { status } = await gateway.send('POST', '/v1/jobs/summarize', body, { 'idempotency-key': key });
    expect(status).toBeLessThan(500);
  });
});

describe('in a batch', () => {
  it('each entry is accepted or rejected separately', async () => {
    const taken = { kind: 'summarize', payload: { ablationCode: 'a', rawOutput: 'b' }, ...later };
    const longName = { solution, workspace: `/tmp/${'a'.repeat(300)}` };
    const odd = [
      { kind: 'solution-check', payload: longName, ...later },
      null,
      [],
      'x',
      true,
      {},
      { kind: null },
      { ...taken, payload: null },
      { ...taken, key: '\ud800' },
    ];
    const { status, json } = await gateway.send('POST', '/v1/jobs:batch', { jobs: [taken, ...odd, taken] });
    expect(status).toBe(200);
    const outcomes = json.jobs.map(
      (job: { outcome?: string; error?: { status: number } }) => job.outcome ?? job.error?.status,
    );
    expect(outcomes).toEqual(['created', ...odd.map(() => 422), 'created']);
  });
});
