import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { RequestError } from '../../src/errors.js';
import { type Claim, Evaluations } from '../../src/gateway/evaluations/evaluations.js';
import { PipelineQueues } from '../../src/gateway/evaluations/pipeline-queues.js';
import { type WaitingClaim, WaitingClaims } from '../../src/gateway/evaluations/waiting-claims.js';
import { addGuardedEvaluation } from '../../src/producers/flows/guarded-evaluation.js';
import { waitForJob } from '../../src/producers/wait-for-job.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';
import { WAIT_LIMIT_MS } from '../support/wait-limit-ms.js';

const redis = redisOfFile();
let test: TestFleet;
let evaluations: Evaluations;
let claims: WaitingClaims;

beforeAll(async () => {
  test = await startTestFleet(redis, 'waiting');
  await test.worker(createOfflineRunner());
  const logger = pino({ level: 'silent' });
  evaluations = new Evaluations(test.fleet, new PipelineQueues(test.fleet), redis.url, logger);
  claims = new WaitingClaims(test.fleet, evaluations);
});
afterAll(async () => {
  await evaluations.close();
  await test.close();
});

const allowed = async () => undefined;
const tryRoomForAnswer = () => ({ keep: () => undefined, release: () => undefined });
function wait(
  queue: string,
  more: Partial<Pick<WaitingClaim, 'signal' | 'stillAllowed' | 'tryRoomForAnswer'>> = {},
) {
  const signal = new AbortController().signal;
  const common = { leaseMs: WAIT_LIMIT_MS, owner: 'somebody', timeoutMs: WAIT_LIMIT_MS };
  return claims.wait({ queue, ...common, signal, stillAllowed: allowed, tryRoomForAnswer, ...more });
}

/** Submits an evaluation, and gives its id once its check is completed. */
async function submit(queue: string): Promise<string> {
  const request = { solution: { content: 'x = 1\n' }, evaluation: { queue, name: 'score' } };
  const { evaluation, check } = await addGuardedEvaluation(test.fleet, request);
  await waitForJob(test.fleet, check.id);
  return evaluation.id;
}

/** The id of an evaluation that was claimed, which is then ended. */
async function idOf(claim: Claim | undefined): Promise<string | undefined> {
  if (claim !== undefined) await evaluations.complete(claim, null);
  return claim?.id;
}

describe('claims that wait', () => {
  it('fail where a job of their queue is damaged, and the claims of other queues go on', async () => {
    const { client } = test.fleet;
    const id = `damaged-${'a'.repeat(40)}`;
    await test.fleet.queue('damaged').add('x', {}, { jobId: id });
    await client.hset(test.fleet.jobKey('damaged', id), 'data', '{');
    const sound = wait('sound');
    await expect(wait('damaged')).rejects.toThrow(SyntaxError);
    const evaluation = await submit('sound');
    expect(await idOf(await sound)).toBe(evaluation);
    await client.hset(test.fleet.jobKey('damaged', id), 'data', '{}');
    await test.fleet.queue('damaged').obliterate({ force: true });
  });

  it('whose client leaves as it gets an evaluation pass it on, at once, to the next that is still allowed', async () => {
    const leaving = new AbortController();
    const left = wait('busy', {
      signal: leaving.signal,
      // While the evaluation is being claimed.
      stillAllowed: async () => setImmediate(() => leaving.abort()),
    });
    const refusal = new RequestError('unauthenticated', 'the token was revoked');
    const revoked = wait('busy', { stillAllowed: () => Promise.reject(refusal) });
    revoked.catch(() => undefined);
    const last = wait('busy');
    const evaluation = await submit('busy');
    expect(await left).toBeUndefined();
    await expect(revoked).rejects.toBe(refusal);
    expect(await idOf(await last)).toBe(evaluation);
  });

  it('have no evaluation while their token has no room for the answer, and keep nobody else from it', async () => {
    const leaving = new AbortController();
    const full = wait('full', { signal: leaving.signal, tryRoomForAnswer: () => undefined });
    const other = wait('full');
    const evaluation = await submit('full');
    expect(await idOf(await other)).toBe(evaluation);
    leaving.abort();
    expect(await full).toBeUndefined();
  });
});
