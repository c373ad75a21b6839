import { beforeEach, describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import type { TestFleet } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';
import { gatewayOfTest, type TestGateway } from './gateway-fixture.js';

const SOLUTION = `def longest_run(values):
    best = run = 0
    previous = None
    for value in values:
        run = run + 1 if value == previous else 1
        best = max(best, run)
        previous = value
    return best
`;

const redis = redisOfFile();
let test: TestFleet;
let gateway: TestGateway;

beforeEach(async () => {
  ({ test, gateway } = await gatewayOfTest(redis, 'known'));
});

describe('/v1/known/{testCaseId}', () => {
  it('keeps several solutions of a test case, each once, and forgets one or all', async () => {
    const path = '/v1/known/case%2F1';
    expect((await gateway.send('GET', path)).json).toEqual({ solutions: [] });
    const put = async (solution: string) => (await gateway.send('PUT', path, { solution })).json.added;
    expect([await put(SOLUTION), await put(SOLUTION), await put('print(2)\n')]).toEqual([true, false, true]);
    const { json } = await gateway.send('GET', path);
    expect(json.solutions.map(({ solution }: { solution: string }) => solution).sort()).toEqual([
      SOLUTION,
      'print(2)\n',
    ]);
    const [first] = json.solutions;
    expect((await gateway.send('DELETE', `${path}?hash=${first.hash}`)).json).toEqual({ removed: 1 });
    expect((await gateway.send('DELETE', path)).json).toEqual({ removed: 1 });
    expect((await gateway.send('DELETE', path)).json).toEqual({ removed: 0 });
  });

  it('SPEC-SIL-009: a copy of a solution that was made known is found by the next check', async () => {
    await test.worker(createOfflineRunner());
    const payload = { output: SOLUTION, testCase: { id: 'runs', name: 'runs', difficulty: 'easy' } };
    const before = await gateway.send('POST', '/v1/jobs/contamination?wait', { payload });
    expect(before.json).toMatchObject({ state: 'completed', result: { contaminated: false } });
    await gateway.send('PUT', '/v1/known/runs', { solution: SOLUTION });
    const after = await gateway.send('POST', '/v1/jobs/contamination?wait', { payload });
    expect(after.json).toMatchObject({ state: 'completed', result: { contaminated: true } });
  });

  it.each([
    [{}, 'solution'],
    [{ solution: '' }, 'solution'],
    [{ solution: 'x', addedToTraining: 'yesterday' }, 'addedToTraining'],
    [{ solution: 'x', more: 1 }, 'more'],
  ])('refuses %j', async (body, field) => {
    const { status, json } = await gateway.send('PUT', '/v1/known/x', body);
    expect([status, json.field]).toEqual([422, field]);
  });
});
