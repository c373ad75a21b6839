import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import type { WorkerOptions } from '../../src/fleet/worker.js';
import { addJob } from '../../src/producers/add-job.js';
import { readCallRecords } from '../../src/queues/call-record.js';
import type { ResultOf } from '../../src/queues/registry.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { startFleetCommand } from '../support/fleet-command.js';
import {
  jsonReply,
  type MessagesApi,
  type Script,
  startMessagesApi,
  textReply,
} from '../support/messages-api.js';
import { testProgram } from '../support/programs.js';
import { redisOfFile } from '../support/redis.js';
import { review, wordCount } from './word-kinds.js';

const redis = redisOfFile();
const MODULE = testProgram('test/kinds/word-kinds');
let fleets = 0;

async function startFleet(reply: Script = []): Promise<TestFleet & { readonly api: MessagesApi }> {
  fleets += 1;
  const api = await startMessagesApi({ reply });
  const test = await startTestFleet(redis, `own-${fleets}`, { kinds: [wordCount, review] });
  onTestFinished(async () => {
    await test.close();
    await api.close();
  });
  return { ...test, api };
}

const OWN: Partial<WorkerOptions> = { kinds: ['summarize', wordCount, review] };

describe('a kind of one’s own', () => {
  it('is validated, processed and typed like a built-in one', async () => {
    const { fleet, worker } = await startFleet();
    await worker(createOfflineRunner(), OWN);
    const job = await addJob(fleet, wordCount, { text: 'one of three', tags: { run: 'r' } });
    const { words } = await job.result();
    expectTypeOf(words).toEqualTypeOf<number>();
    expectTypeOf<ResultOf<'summarize'>['summary']>().toEqualTypeOf<string>();
    expect(words).toBe(3);
    expect(await job.view()).toMatchObject({ kind: 'word-count', state: 'completed', tags: { run: 'r' } });
    const byName = await addJob(fleet, 'word-count', { text: 'one of three', least: 3 });
    expect(await byName.result()).toEqual({ words: 2 });
  });

  it.each([
    [{ text: '' }, 'text'],
    [{ text: 'a', other: 1 }, 'other'],
    [{ text: 'a', tags: { a: 1 } }, 'tags.a'],
  ])('refuses %j', async (payload, field) => {
    const { fleet } = await startFleet();
    await expect(addJob(fleet, 'word-count', payload)).rejects.toMatchObject({
      code: 'invalid-payload',
      field,
    });
  });

  it.each([
    ['broken', 'breaks its contract'],
    ['thrown', 'the author of the kind threw this'],
  ])('whose processor is %s uses its attempts, and says so', async (text, message) => {
    const { fleet, worker, logLines } = await startFleet();
    await worker(createOfflineRunner(), OWN);
    const view = await (await addJob(fleet, wordCount, { text })).wait();
    expect(view.error).toMatchObject({ code: 'processor-failed', message: expect.stringContaining(message) });
    expect(logLines.filter(({ msg }) => msg === 'job started')).toHaveLength(2);
  });

  it('is left to other workers by one that does not have it', async () => {
    const { fleet, worker } = await startFleet();
    await worker(createOfflineRunner());
    const job = await addJob(fleet, wordCount, { text: 'a' });
    expect(
      await (await addJob(fleet, 'summarize', { ablationCode: 'x', rawOutput: '' })).wait(),
    ).toMatchObject({
      state: 'completed',
    });
    expect(await job.state()).toBe('waiting');
    await worker(createOfflineRunner(), { kinds: [wordCount] });
    expect(await job.result()).toEqual({ words: 1 });
  });

  it('is not known to a client that was opened without it', async () => {
    const { fleet } = await startTestFleet(redis, 'without').then((test) => {
      onTestFinished(() => test.close());
      return test;
    });
    await expect(addJob(fleet, wordCount, { text: 'a' })).rejects.toMatchObject({
      code: 'unknown-kind',
      message: expect.stringContaining('there are: solution-check, summarize, extract, contamination'),
    });
  });
});

describe('a kind of one’s own with agents and children', () => {
  it('replays its answered calls after its worker was killed, in the isolated process of the next worker', async () => {
    const { fleet, api } = await startFleet([
      textReply('science'),
      { kind: 'hang' },
      jsonReply({ grade: 7 }),
      textReply('a matters'),
    ]);
    const env = {
      ...{ FLEET_REDIS_URL: redis.url, FLEET_PREFIX: fleet.prefix, FLEET_LOCK_MS: '1000' },
      ...{ ANTHROPIC_API_KEY: 'test-key', ANTHROPIC_BASE_URL: api.url },
    };
    const killed = startFleetCommand(['worker', '--kinds-from', MODULE], { env });
    const job = await addJob(fleet, review, { text: 'atoms and void', tags: { run: 'night' } });
    await api.arrived(2);
    await killed.end('SIGKILL');

    const next = startFleetCommand(['worker', '--kinds-from', MODULE], { env });
    onTestFinished(async () => void (await next.end('SIGTERM')));
    const result = await job.result();
    expectTypeOf(result.grade).toEqualTypeOf<number>();
    expect(result).toEqual({ topic: 'science', grade: 7, words: 3, summary: 'a matters' });
    const { logs } = await fleet.queue(review.name).getJobLogs(job.id);
    expect(logs.join('\n')).toContain('runs in the isolated process');
    // The first call was paid once, although two attempts asked it.
    expect(api.requests.filter(({ text }) => text.includes('in one word'))).toHaveLength(3);
    const records = await readCallRecords(fleet.client, fleet.jobKey(review.name, job.id));
    expect(records).toMatchObject([
      { step: 'critic', state: 'answered' },
      { step: 'critic-2', state: 'in-doubt' },
      { step: 'critic-2', state: 'answered' },
    ]);
  });
});
