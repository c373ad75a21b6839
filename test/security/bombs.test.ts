import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { comparable } from '../../src/payloads/text-reference.js';
import { addGuardedEvaluation } from '../../src/producers/flows/guarded-evaluation.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { parsePayload } from '../../src/queues/validate.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';

const redis = redisOfFile();
let test: TestFleet;
beforeAll(async () => {
  test = await startTestFleet(redis, 'bombs');
});
afterAll(async () => {
  await test.close();
});

describe('depth bombs and prototypes', () => {
  const deep = (depth: number) => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);

  it('a payload of any depth is rejected with its field', () => {
    for (const payload of [
      deep(5_000),
      { solution: deep(5_000) },
      { solution: { content: 'x' }, tags: deep(5_000) },
    ]) {
      expect(() => parsePayload('solution-check', payload)).toThrow(
        expect.objectContaining({ code: 'invalid-payload' }),
      );
    }
  });

  it("an evaluation's data may be deep: they are stored, and compared when a key is used again", async () => {
    const request = {
      solution: { content: 'x = 1\n' },
      evaluation: { queue: 'evaluate', name: 'score', data: deep(1_000) },
    };
    const first = await addGuardedEvaluation(test.fleet, request, { key: 'deep' });
    const again = await addGuardedEvaluation(test.fleet, request, { key: 'deep' });
    expect(again.evaluation.id).toBe(first.evaluation.id);
  });

  it('a prototype in data is a field like any other', async () => {
    const data = JSON.parse(
      '{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}',
    );
    expect(Object.keys(comparable(data) as object)).toEqual(['__proto__', 'constructor']);
    const job = await addSolutionCheck(test.fleet, {
      solution: { content: 'x = 1\n' },
      tags: JSON.parse('{"__proto__": "tag"}'),
    });
    expect((await job.view()).state).toBe('waiting');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});
