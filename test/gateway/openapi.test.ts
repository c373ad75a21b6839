import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import type { OpenApiDocument } from '../../src/gateway/openapi/document.js';
import { packagePath } from '../../src/package-root.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';
import { DocumentedAnswers } from './documented-answers.js';
import { startTestGateway, type TestGateway } from './gateway-fixture.js';
import { valuesOf } from './json-schema-values.js';

const redis = redisOfFile();
let test: TestFleet;
let gateway: TestGateway;
let document: OpenApiDocument;
let documented: DocumentedAnswers;
const exercised = new Set<string>();

beforeAll(async () => {
  test = await startTestFleet(redis, 'openapi');
  gateway = await startTestGateway(redis, 'openapi');
  await test.worker(createOfflineRunner());
  document = (await gateway.send('GET', '/v1/openapi.json')).json;
  documented = new DocumentedAnswers(document);
});
afterAll(async () => {
  await gateway.close();
  await test.close();
});

/** Sends a request to a documented route and checks the answer against the document. */
async function call(
  method: string,
  path: string,
  fill: Record<string, string> = {},
  body?: unknown,
  query = '',
) {
  const address = Object.entries(fill).reduce(
    (text, [name, value]) => text.replace(`{${name}}`, encodeURIComponent(value)),
    path,
  );
  const answer = await gateway.send(method.toUpperCase(), address + query, body);
  documented.check(path, method, answer);
  exercised.add(`${method} ${path}`);
  return answer;
}

describe('the viewer of /docs', () => {
  it.each(['gzip', 'identity'])('is sent whole to a client that accepts %s', async (encoding) => {
    for (const [name, file] of [
      ['swagger-ui.js', 'swagger-ui-bundle.js'],
      ['swagger-ui.css', 'swagger-ui.css'],
    ]) {
      const original = readFileSync(packagePath('node_modules', 'swagger-ui-dist', `${file}`), 'utf8');
      const accepted = { 'accept-encoding': encoding };
      const { status, headers, text } = await gateway.send('GET', `/assets/${name}`, undefined, accepted);
      expect([status, headers.get('content-encoding'), text === original]).toEqual([
        200,
        encoding === 'gzip' ? 'gzip' : null,
        true,
      ]);
    }
  });
});

describe('the OpenAPI document', () => {
  it('is a valid OpenAPI 3.1 document', async () => {
    const result = await new Validator().validate(JSON.parse(JSON.stringify(document)));
    expect(result.errors ?? []).toEqual([]);
    expect(document.openapi).toBe('3.1.0');
  });

  it('has no reference that leads nowhere', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(
      ([, target]) => target ?? '',
    );
    const missing = references.filter((target) => {
      const [, ...path] = target.split('/');
      return (
        path.reduce<unknown>((value, part) => (value as Record<string, unknown>)?.[part], document) ===
        undefined
      );
    });
    expect(missing).toEqual([]);
    // A name such as __schema0 is one that nobody has chosen.
    expect(Object.keys(document.components.schemas).filter((name) => name.startsWith('_'))).toEqual([]);
  });

  it('has an example for every operation: its request and its answer, by their schemas', () => {
    interface Media {
      readonly schema?: object;
      readonly example?: unknown;
    }
    const wrong: string[] = [];
    let examples = 0;
    const check = (where: string, { schema = {}, example }: Media) => {
      examples += 1;
      const problem = example === undefined ? 'no example' : documented.problemOf(schema, example);
      if (problem !== undefined) wrong.push(`${where}: ${problem}`);
    };
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, { parameters = [], requestBody, responses }] of Object.entries(methods)) {
        const name = `${method} ${path}`;
        for (const parameter of parameters) {
          const { name: one, required, example } = parameter;
          if (required || example !== undefined) check(`${name} ${one}`, parameter);
        }
        const body = (requestBody?.content as Record<string, Media> | undefined)?.['application/json'];
        if (body !== undefined) check(`${name} body`, body);
        const answers = Object.entries(responses).flatMap(([status, response]) =>
          Object.values((response.content ?? {}) as Record<string, Media>).map((media) => ({
            status,
            media,
          })),
        );
        const shown = answers.filter(({ media }) => media.example !== undefined);
        for (const { status, media } of shown) check(`${name} ${status}`, media);
        if (answers.length > 0 && shown.length !== 1) wrong.push(`${name}: ${shown.length} answers`);
      }
    }
    for (const [name, response] of Object.entries(document.components.responses)) {
      const media = Object.values((response as { content: Record<string, Media> }).content);
      for (const each of media) check(name, each);
      expect([name, media.map(({ example }) => (example as { status: number }).status)]).toEqual([
        `Problem${/\d+/.exec(name)}`,
        [Number(/\d+/.exec(name))],
      ]);
    }
    expect(wrong).toEqual([]);
    expect(examples).toBeGreaterThan(2 * documented.operations().length - 10);
  });

  it('takes the request of every example', async () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, { parameters = [], requestBody }] of Object.entries(methods)) {
        const content = requestBody?.content as Record<string, { example?: unknown }> | undefined;
        const fill: Record<string, string> = {};
        const query = new URLSearchParams();
        for (const { name, in: where, example } of parameters) {
          if (example === undefined) continue;
          if (where === 'path') fill[name] = String(example);
          // A wait would only take time.
          else if (name !== 'wait') query.set(name, String(example));
        }
        const body = content?.['application/json']?.example;
        const { status, text } = await call(method, path, fill, body, query.size === 0 ? '' : `?${query}`);
        // What the examples name may not be there: that is another matter than a request that cannot be read.
        expect([200, 202, 204, 404, 409], `${method} ${path}: ${text}`).toContain(status);
      }
    }
  });

  it('every documented route answers as documented', async () => {
    exercised.clear();
    const solution = { content: 'x = 1\n' };
    const tags = { run: 'conformance' };
    const check = await call('post', '/v1/jobs/solution-check', {}, { payload: { solution, tags } }, '?wait');
    expect(check.status).toBe(200);
    await call('post', '/v1/jobs/solution-check', {}, { payload: { solution }, key: 'k' });
    await call(
      'post',
      '/v1/jobs/summarize',
      {},
      { payload: { ablationCode: 'x', rawOutput: 'a: 1' } },
      '?wait',
    );
    await call(
      'post',
      '/v1/jobs/extract',
      {},
      { payload: { solution, summary: 's', previousBlocks: [] } },
      '?wait',
    );
    const testCase = { id: 't', name: 't', difficulty: 'easy' };
    await call('post', '/v1/jobs/contamination', {}, { payload: { output: 'x', testCase } }, '?wait=1ms');
    const ofLoop = {
      ...{ solution, score: 0.5, direction: 'higher', ablationCode: 'x', rawOutput: '', previousBlocks: [] },
      ...{ rounds: 1, newBlock: { queue: 'coder' }, evaluation: { queue: 'evaluate' } },
    };
    const loop = await call('post', '/v1/jobs/refinement-loop', {}, { payload: ofLoop }, '?wait');
    expect(loop.json.result.outcome).toBe('skipped');
    const wrong = { kind: 'summarize', payload: {} };
    await call(
      'post',
      '/v1/jobs:batch',
      {},
      { jobs: [{ kind: 'solution-check', payload: { solution } }, wrong] },
    );
    await call('get', '/v1/jobs', {}, undefined, '?kind=solution-check&limit=5');
    const { id } = check.json;
    await call('get', '/v1/jobs/{id}', { id });
    await call('get', '/v1/jobs/{id}', { id: 'nothing' });
    await call('get', '/v1/jobs/{id}/events', { id });
    await call('post', '/v1/jobs/{id}/retry', { id });
    await call('delete', '/v1/jobs/{id}', { id });
    const later = await call(
      'post',
      '/v1/jobs/solution-check',
      {},
      { payload: { solution }, delayMs: 3_600_000 },
    );
    await call('delete', '/v1/jobs/{id}', { id: later.json.id });
    const step = { ablationCode: 'x', rawOutput: 'a: 1', solution, previousBlocks: [], tags };
    await call('post', '/v1/flows/refinement', {}, step);
    const evaluation = { queue: 'evaluate', name: 'score' };
    const guarded = await call('post', '/v1/flows/guarded-evaluation', {}, { solution, evaluation, tags });
    await call(
      'post',
      '/v1/flows/candidate-batch',
      {},
      { candidates: [{ solution }], evaluation, afterAll: { queue: 'after', name: 'a' } },
    );
    await call('get', '/v1/runs/{run}', { run: 'conformance' });
    await call('get', '/v1/disagreements', {}, undefined, '?run=conformance');
    await call('get', '/v1/jobs/{id}', { id: guarded.json.check.id }, undefined, '?wait');
    const claim = await call(
      'post',
      '/v1/evaluations/claim',
      {},
      { queue: 'evaluate', leaseMs: 5_000 },
      '?wait=10s',
    );
    expect(claim.status).toBe(200);
    const { queue, id: evaluationId, lease } = claim.json;
    await call('post', '/v1/evaluations/heartbeat', {}, { queue, id: evaluationId, lease });
    await call(
      'post',
      '/v1/evaluations/complete',
      {},
      { queue, id: evaluationId, lease, result: { score: 1 } },
    );
    await call('post', '/v1/evaluations/complete', {}, { queue, id: evaluationId, lease, result: 1 });
    const second = await call('post', '/v1/evaluations/claim', {}, { queue: 'evaluate' }, '?wait=10s');
    await call(
      'post',
      '/v1/evaluations/fail',
      {},
      { queue, id: second.json.id, lease: second.json.lease, message: 'no' },
    );
    await call('post', '/v1/evaluations/claim', {}, { queue: 'unheard-of' });
    await call('get', '/v1/dead-letters', {}, undefined, '?limit=5');
    await call('get', '/v1/dead-letters/{id}', { id });
    await call('post', '/v1/dead-letters:retry', {}, { kind: 'summarize' });
    await call('post', '/v1/dead-letters:drop', {}, {});
    const known = { testCaseId: 'case/1 ä' };
    await call('put', '/v1/known/{testCaseId}', known, { solution: 'print(1)\n', language: 'python' });
    await call('get', '/v1/known/{testCaseId}', known);
    await call('delete', '/v1/known/{testCaseId}', known);
    await call('get', '/healthz');
    await call('get', '/readyz');
    await call('get', '/metrics');
    await call('get', '/v1/openapi.json');
    expect([...exercised].sort()).toEqual(documented.operations().sort());
  });

  it('requests made from its schemas, right and wrong, get documented answers and no 5xx', async () => {
    const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        // A claim that waits, or a stream, would only slow this down.
        .filter(() => !path.endsWith('/events'))
        .map(([method, operation]) => ({ path, method, operation })),
    );
    const request = fc.constantFrom(...routes).chain(({ path, method, operation }) => {
      const content = operation.requestBody?.content as
        | { 'application/json': { schema: Record<string, unknown> } }
        | undefined;
      const schema = content?.['application/json'].schema;
      const body =
        schema === undefined
          ? fc.constant(undefined)
          : fc.oneof(
              { weight: 3, arbitrary: valuesOf(schema, document) },
              { weight: 1, arbitrary: fc.json({ maxDepth: 4 }).map((text) => JSON.parse(text)) },
            );
      const segment = fc
        .string({ unit: 'binary', minLength: 1, maxLength: 30 })
        .filter((text) => !/\p{Surrogate}/u.test(text) && text !== '.' && text !== '..');
      return fc.record({ path: fc.constant(path), method: fc.constant(method), body, segment });
    });
    await fc.assert(
      fc.asyncProperty(request, async ({ path, method, body, segment }) => {
        const address = path.replace(/\{\w+\}/, encodeURIComponent(segment));
        const answer = await gateway.send(
          method.toUpperCase(),
          address,
          body === undefined ? undefined : JSON.stringify(body),
        );
        if (answer.status === 405 || answer.text.includes('route-not-found')) return;
        documented.check(path, method, answer);
        expect(answer.status).toBeLessThan(500);
      }),
      { numRuns: 50 },
    );
  });
});
