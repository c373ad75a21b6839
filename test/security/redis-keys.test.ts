import { afterEach, describe, expect, it } from 'vitest';
import { listDeadLetters } from '../../src/producers/dead-letters.js';
import { latestRuns, viewRun } from '../../src/producers/run-view.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';

const redis = redisOfFile();
let test: TestFleet;
let fleets = 0;
afterEach(() => test.close());

const HOSTILE = [
  '*',
  '[a-z]*',
  ':',
  '::runs',
  'solution-check:active',
  '\r\nFLUSHALL\r\n',
  '__proto__',
  "'); redis.call('FLUSHALL') --",
  '../../x',
  '{x}',
  'run tenant:next',
];

async function start() {
  fleets += 1;
  test = await startTestFleet(redis, `keys-${fleets}`);
  return test.fleet;
}

describe('names of users never become keys of other data', () => {
  it.each(['\0', 'a\0b', '\ud800', 'x\udfff'])('%j is rejected as run, tenant and key', async (name) => {
    const fleet = await start();
    const payload = { solution: { content: 'x = 1\n' } };
    for (const submission of [
      addSolutionCheck(fleet, { ...payload, tags: { run: name } }),
      addSolutionCheck(fleet, payload, { tenant: name }),
      addSolutionCheck(fleet, payload, { key: name }),
    ]) {
      await expect(submission).rejects.toMatchObject({ code: 'invalid-payload' });
    }
    expect(await fleet.client.keys(`${fleet.prefix}*`)).toEqual([]);
  });

  it.each(HOSTILE)(
    '%j as run, tenant and key: every job is where it belongs, and nothing else changed',
    async (name) => {
      const fleet = await start();
      const victim = await addSolutionCheck(
        fleet,
        { solution: { content: 'x = 1\n' }, tags: { run: 'victim' } },
        { key: 'victim' },
      );
      const keysBefore = (await fleet.client.keys(`${fleet.prefix}*`)).length;
      const hostile = await addSolutionCheck(
        fleet,
        { solution: { content: 'y = 2\n' }, tags: { run: name, [name.slice(0, 64)]: name } },
        // Only jobs of some priority are remembered for their tenant.
        { key: name, tenant: name, priority: 1 },
      );
      expect((await viewRun(fleet, name)).jobs.map(({ id }) => id)).toEqual([hostile.id]);
      expect((await viewRun(fleet, 'victim')).jobs.map(({ id }) => id)).toEqual([victim.id]);
      expect((await latestRuns(fleet, 10)).sort()).toEqual([name, 'victim'].sort());
      expect(await listDeadLetters(fleet, { run: name, tenant: name })).toEqual([]);
      expect((await victim.view()).state).toBe('waiting');
      // Its job, its run, its tenant's tags; nothing was overwritten or removed.
      const keys = await fleet.client.keys(`${fleet.prefix}*`);
      expect(keys.length - keysBefore).toBe(3);
      expect(await fleet.client.keys('*')).toHaveLength((await fleet.client.keys('keys-*')).length);
    },
  );

  it('a payload cannot refer to a text in the store: a text field accepts only a text', async () => {
    const fleet = await start();
    await addSolutionCheck(fleet, { solution: { content: 'secret = 1\n'.repeat(10_000) } });
    const [digest] = await fleet.client.zrange(`${fleet.prefix}::payloads`, '0', '0');
    const stolen = { 'fleet:text': digest, bytes: 110_000 };
    for (const payload of [
      { solution: { content: stolen } },
      { solution: stolen },
      { solution: { content: 'x' }, tags: stolen },
    ]) {
      await expect(addSolutionCheck(fleet, payload as never)).rejects.toMatchObject({
        code: 'invalid-payload',
      });
    }
  });
});
