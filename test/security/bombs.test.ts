import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { visible } from '../../src/cli/terminal/visible.js';
import { comparable } from '../../src/payloads/text-reference.js';
import { addGuardedEvaluation } from '../../src/producers/flows/guarded-evaluation.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { failedChildOf } from '../../src/queues/child-failure.js';
import { decodeFailure } from '../../src/queues/failure.js';
import { parseJobKey } from '../../src/queues/job-key.js';
import { parsePayload } from '../../src/queues/validate.js';
import { locateBlock } from '../../src/solution/index.js';
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

/** The least processor time of several runs, in microseconds: what other work on the machine adds is left out. */
function costOf(run: () => unknown): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 5; round += 1) {
    const start = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(start);
    least = Math.min(least, user + system);
  }
  return least;
}

function attempt(run: () => unknown): void {
  try {
    run();
  } catch {
    // A refusal is an answer as well; what is measured is how long it takes.
  }
}

/** Texts that make a careless expression try every way of splitting them. */
const HARD_TEXTS: readonly [string, (size: number) => string][] = [
  ['spaces', (size) => ' '.repeat(size)],
  ['line ends', (size) => '\r\n'.repeat(size / 2)],
  ['brackets', (size) => '['.repeat(size)],
  ['colons', (size) => ':'.repeat(size)],
  ['almost a failure', (size) => `[${'a-'.repeat(size / 2)}`],
  ['almost a child', (size) => `child ${'a:'.repeat(size / 2)}`],
  ['controls', (size) => '\u001b['.repeat(size / 2)],
];

const READERS: readonly [string, (text: string) => unknown][] = [
  ['visible', visible],
  ['decodeFailure', decodeFailure],
  ['failedChildOf', failedChildOf],
  ['parseJobKey', parseJobKey],
  ['locateBlock', (text) => locateBlock(`x\n${text}\ny`, `${text.slice(0, -1)}z`)],
  ['comparable', comparable],
];

describe('regex bombs', () => {
  it.each(READERS.flatMap(([name, read]) => HARD_TEXTS.map(([kind, make]) => ({ name, kind, read, make }))))(
    '$name of $kind: four times the text is no more than a dozen times the work',
    ({ read, make }) => {
      const small = costOf(() => attempt(() => read(make(20_000))));
      const large = costOf(() => attempt(() => read(make(80_000))));
      // Below a millisecond the clock and the collector are most of what is measured.
      expect(large / Math.max(small, 1_000)).toBeLessThan(12);
    },
  );
});

describe('depth bombs and prototypes', () => {
  const deep = (depth: number) => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);

  it('a payload of any depth is refused with its field', () => {
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

  it("an evaluation's own data may be deep: they are kept, and compared when a key is used again", async () => {
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
