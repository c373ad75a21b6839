import { readFileSync } from 'node:fs';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { CLIENT_TYPES, clientTypes } from '../../scripts/openapi/client-types.js';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import type { OpenApiDocument } from '../../src/gateway/openapi/document.js';
import { FleetHttpClient, type HttpJobEvent } from '../../src/http-client/index.js';
import { packagePath } from '../../src/package-root.js';
import { DocumentedAnswers } from '../gateway/documented-answers.js';
import { startTestGateway, type TestGateway } from '../gateway/gateway-fixture.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';

const SOLUTION = { content: 'x = 1\n' };
const NEVER = 'solution-check-00000000-0000-0000-0000-000000000000';

const redis = redisOfFile();
let test: TestFleet;
let gateway: TestGateway;
let documented: DocumentedAnswers;

beforeAll(async () => {
  test = await startTestFleet(redis, 'every-operation');
  gateway = await startTestGateway(redis, 'every-operation');
  await test.worker(createOfflineRunner());
  documented = new DocumentedAnswers(
    (await new FleetHttpClient({ url: gateway.url }).openApi()) as OpenApiDocument,
  );
});
afterAll(async () => {
  await gateway.close();
  await test.close();
});

/** Every request of the clients of this process, with a copy of its answer. */
function recordRequests(): readonly { readonly request: Request; readonly answer: Response }[] {
  const requests: { request: Request; answer: Response }[] = [];
  const real = globalThis.fetch;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const answer = await real(input, init);
    if (input instanceof Request) requests.push({ request: input, answer: answer.clone() });
    return answer;
  });
  return requests;
}

/** The operation of the document that a request is for. */
function operationOf({ method, url }: Request): { path: string; method: string } {
  const { pathname } = new URL(url);
  const name = method.toLowerCase();
  const routes = documented.operations().filter((route) => route.startsWith(`${name} `));
  const paths = routes.map((route) => route.slice(name.length + 1));
  const matching = paths.filter((path) =>
    new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`).test(pathname),
  );
  // A name in the path is only meant where no route is written like that.
  const path = matching.find((one) => one === pathname) ?? matching[0];
  expect(path, `${method} ${pathname} is in no route of the document`).toBeDefined();
  return { path: path ?? '', method: name };
}

async function collect(events: AsyncIterable<HttpJobEvent>): Promise<HttpJobEvent[]> {
  const all: HttpJobEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

describe('the types of the HTTP client', () => {
  it('are what the OpenAPI document gives now', async () => {
    expect(readFileSync(CLIENT_TYPES, 'utf8') === (await clientTypes()), 'npm run docs').toBe(true);
  });

  it('and the client can be bundled for a browser', async () => {
    const { metafile } = await build({
      absWorkingDir: packagePath('.'),
      entryPoints: ['src/http-client/index.ts'],
      bundle: true,
      write: false,
      metafile: true,
      platform: 'browser',
      format: 'esm',
    });
    const packages = Object.keys(metafile.inputs).flatMap(
      (file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? [],
    );
    expect([...new Set(packages)].sort()).toEqual([
      'eventsource-parser',
      'fastest-levenshtein',
      'openapi-fetch',
      'zod',
    ]);
  });
});

describe('the HTTP client', () => {
  it('reaches every operation of the document, and each answer is as documented', async () => {
    const requests = recordRequests();
    const fleet = new FleetHttpClient({ url: gateway.url });
    const tags = { run: 'every-operation' };
    const testCase = { id: 't', name: 't', difficulty: 'easy' as const };
    const step = { ablationCode: 'x', rawOutput: 'a: 1', solution: SOLUTION, previousBlocks: [] };

    const check = await fleet.add('solution-check', { solution: SOLUTION, tags });
    expect((await fleet.result('solution-check', check.id)).status).toBe('clean');
    await fleet.add('summarize', { ablationCode: 'x', rawOutput: 'a: 1' });
    await fleet.add('extract', { solution: SOLUTION, summary: 's', previousBlocks: [] });
    await fleet.add('contamination', { output: 'x', testCase }, { delayMs: 3_600_000 });
    const loop = { ...step, score: 0.5, direction: 'higher', rounds: 1 } as const;
    const queues = { newBlock: { queue: 'coder' }, evaluation: { queue: 'evaluate' } };
    const looping = await fleet.add('refinement-loop', { ...loop, ...queues }, { delayMs: 3_600_000 });
    const [good, bad] = await fleet.addBatch([
      { kind: 'solution-check', payload: { solution: SOLUTION }, delayMs: 3_600_000 },
      { kind: 'summarize', payload: { ablationCode: '', rawOutput: '' } },
    ]);
    expect([good, bad]).toMatchObject([{ state: 'delayed' }, { error: { code: 'invalid-payload' } }]);

    expect(await fleet.job(check.id)).toMatchObject({ id: check.id, state: 'completed' });
    expect((await fleet.jobs({ run: 'every-operation', state: 'completed' })).map(({ id }) => id)).toEqual([
      check.id,
    ]);
    expect(await fleet.disagreements({ run: 'every-operation', limit: 1 })).toEqual([]);
    expect(await fleet.run('every-operation', { limit: 1 })).toMatchObject({ total: 1, truncated: false });
    const events = await collect(fleet.events(check.id));
    expect(events).toMatchObject([{ name: 'end', data: { id: check.id, state: 'completed' } }]);
    expect(await collect(fleet.events(check.id, { after: events[0]?.id ?? '' }))).toEqual([]);
    expect((await fleet.cancel(looping.id)).state).toBe('cancelled');
    await expect(fleet.retry(check.id)).rejects.toMatchObject({ code: 'job-not-retryable' });

    const refinement = await fleet.addRefinementStep(step, { delayMs: 3_600_000 });
    expect(refinement.extract.state).toBe('waiting-children');
    const evaluation = { queue: 'evaluate', name: 'score' };
    const guarded = await fleet.addGuardedEvaluation({ solution: SOLUTION, evaluation });
    await fleet.addCandidateBatch(
      { candidates: [{ solution: SOLUTION }], evaluation },
      { delayMs: 3_600_000 },
    );
    await fleet.wait(guarded.check.id);
    const claim = await fleet.claim('evaluate', { leaseMs: 5_000, waitMs: 60_000 });
    expect(claim).toMatchObject({ id: guarded.evaluation.id, solution: SOLUTION, status: 'clean' });
    await claim?.extend(10_000);
    await claim?.fail('no score', { retryable: false });
    await expect(claim?.complete(1)).rejects.toMatchObject({ code: 'lease-lost' });
    expect(await fleet.claim('unheard-of')).toBeUndefined();

    const [letter, ...others] = await fleet.deadLetters.list({ kind: 'evaluate', limit: 5 });
    expect([letter?.id, others]).toEqual([guarded.evaluation.id, []]);
    const ofLetter = { ids: [guarded.evaluation.id] };
    expect((await fleet.deadLetters.get(guarded.evaluation.id)).job.error?.message).toContain('no score');
    expect(await fleet.deadLetters.retry(ofLetter)).toEqual({ done: ofLetter.ids, refused: [] });
    expect(await fleet.deadLetters.drop(ofLetter)).toMatchObject({ done: [] });

    const name = 'case/1 ä?';
    expect(await fleet.known.add(name, { solution: 'print(1)\n', language: 'python' })).toBe(true);
    expect(await fleet.known.of(name)).toMatchObject([{ testCaseId: name, solution: 'print(1)\n' }]);
    expect(await fleet.known.remove(name, { hash: 'of-another' })).toBe(0);
    expect(await fleet.known.remove(name)).toBe(1);

    expect([await fleet.health(), await fleet.readiness()]).toMatchObject([
      { status: 'ok' },
      { status: 'ok' },
    ]);
    expect(await fleet.metrics()).toContain('# TYPE');
    expect((await fleet.openApi()).openapi).toBe('3.1.0');

    const seen = new Set<string>();
    for (const { request, answer } of requests) {
      const { path, method } = operationOf(request);
      seen.add(`${method} ${path}`);
      const { status, headers } = answer;
      documented.check(path, method, { status, headers, text: await answer.text() });
    }
    expect([...seen].sort()).toEqual(documented.operations().sort());
  });

  it('refuses option names that do not exist in every method that takes options', async () => {
    const fleet = new FleetHttpClient({ url: gateway.url });
    const wrong = { limits: 1 } as never;
    const evaluation = { queue: 'evaluate', name: 'score' };
    const calls: (() => unknown)[] = [
      () => new FleetHttpClient({ url: gateway.url, limits: 1 } as never),
      () => fleet.add('solution-check', { solution: SOLUTION }, wrong),
      () => fleet.addBatch([{ kind: 'solution-check', payload: { solution: SOLUTION }, limits: 1 } as never]),
      () =>
        fleet.addRefinementStep(
          { ablationCode: 'x', rawOutput: '', solution: SOLUTION, previousBlocks: [] },
          wrong,
        ),
      () => fleet.addGuardedEvaluation({ solution: SOLUTION, evaluation }, wrong),
      () => fleet.addGuardedEvaluation({ solution: SOLUTION, evaluation, limits: 1 } as never),
      () => fleet.addCandidateBatch({ candidates: [{ solution: SOLUTION }], evaluation }, wrong),
      () => fleet.addCandidateBatch({ candidates: [{ solution: SOLUTION, limits: 1 } as never], evaluation }),
      () => fleet.jobs(wrong),
      () => fleet.run('r', wrong),
      () => fleet.disagreements(wrong),
      () => fleet.wait(NEVER, wrong),
      () => fleet.result('solution-check', NEVER, wrong),
      () => collect(fleet.events(NEVER, wrong)),
      () => fleet.claim('evaluate', wrong),
      () => fleet.deadLetters.list(wrong),
      () => fleet.deadLetters.retry(wrong),
      () => fleet.deadLetters.drop(wrong),
      () => fleet.known.add('t', { solution: 'x', limits: 1 } as never),
      () => fleet.known.remove('t', wrong),
    ];
    for (const call of calls) {
      const thrown = await Promise.resolve()
        .then(call)
        .catch((error: unknown) => error);
      expect([String(call), thrown]).toMatchObject([
        expect.any(String),
        { code: 'invalid-payload', field: expect.stringMatching(/(^|\.)limits$/) },
      ]);
    }
  });
});

describe('a pipeline through the HTTP client alone', () => {
  it('submits candidates, evaluates what it claims, and gets the outcomes of the batch', async () => {
    const fleet = new FleetHttpClient({ url: gateway.url });
    const { evaluations, afterAll: after } = await fleet.addCandidateBatch({
      candidates: [1, 2, 3].map((seed) => ({ solution: { content: `seed = ${seed}\n` }, data: { seed } })),
      evaluation: { queue: 'scores', name: 'score' },
      afterAll: { queue: 'best', name: 'choose' },
    });
    for (const _ of evaluations) {
      const claim = await fleet.claim('scores', { waitMs: 60_000 });
      await claim?.extend();
      await expect(claim?.fail('no', { retry: false } as never)).rejects.toMatchObject({ field: 'retry' });
      if (claim?.data.seed === 2) await claim.fail('no memory', { retryable: false });
      else await claim?.complete({ score: claim.solution?.content.length, seed: claim.data.seed });
    }
    const choice = await fleet.claim('best', { waitMs: 60_000 });
    const outcomes = choice?.outcomes ?? [];
    expect(outcomes.map(({ state }) => state).sort()).toEqual(['evaluated', 'evaluated', 'failed']);
    expect(outcomes.find(({ state }) => state === 'failed')?.error?.message).toContain('no memory');
    await choice?.complete('the first');
    expect(await fleet.wait(after?.id ?? '')).toMatchObject({ state: 'completed', result: 'the first' });
    expect(await fleet.job(evaluations[0]?.evaluation.id ?? '')).toMatchObject({
      result: { score: 9, seed: 1 },
    });
  });
});
