import type { Job } from 'bullmq';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { costsOfRun } from '../../src/calls/budget/read-costs.js';
import { cancelJob } from '../../src/producers/cancel-job.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { checkedSolution } from '../../src/producers/flows/checked-solution.js';
import { addRefinementLoop } from '../../src/producers/refinement-loop.js';
import { retryJob } from '../../src/producers/retry-job.js';
import { viewRun } from '../../src/producers/run-view.js';
import type { RefinementLoopPayload } from '../../src/queues/refinement-loop.js';
import { NewBlockRequestSchema } from '../../src/queues/refinement-requests.js';
import { KIND_NAMES } from '../../src/queues/registry.js';
import { correction, leaks, runnerFor } from '../support/agent-answers.js';
import { startPipelineWorker } from '../support/evaluation-worker.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { type RunningCommand, startFleetCommand } from '../support/fleet-command.js';
import { checkInvariants } from '../support/invariants.js';
import { lapseLocks } from '../support/lapse-locks.js';
import {
  errorReply,
  jsonReply,
  type MessagesApi,
  type RecordedRequest,
  type Reply,
  startMessagesApi,
  textReply,
} from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';
import { workerHere } from '../support/worker-here.js';

const redis = redisOfFile();
const SCRIPT = 'x = load()\nmodel = Ridge()\nprint(score(model, x))\n';
const BLOCK = 'model = Ridge()';
const PAYLOAD: RefinementLoopPayload = {
  solution: { content: SCRIPT },
  score: 0.5,
  direction: 'higher',
  ablationCode: 'print(1)',
  rawOutput: 'Baseline: 0.50\nNo Ridge: 0.30\n',
  previousBlocks: ['x = old()'],
  rounds: 4,
  newBlock: { queue: 'coder', data: { task: 'digits' } },
  evaluation: { queue: 'evaluate', data: { fold: 3 } },
};

/** A new block for each round, or what the coder's worker does instead. */
type Coder = (round: number, job: Job) => unknown;
/** The score of a script, or what its evaluation does instead. */
type Evaluator = (script: string, job: Job) => unknown;

const SUMMARY = () => textReply('Ridge matters most: 0.50 to 0.30.');

let test: TestFleet;
let fleet: FleetClient;
let api: MessagesApi;
const closers: (() => Promise<void>)[] = [];

let summarizes: () => Reply;
let onCheck: (request: RecordedRequest) => Reply | Promise<Reply>;
let coder: Coder;
let evaluator: Evaluator;
/** What the pipeline's workers got in this test, in this order. */
let requests: Record<string, unknown>[];
let scripts: string[];
/** Requests to the Messages API before this test. */
let earlier: number;
let payload: RefinementLoopPayload;
let tests = 0;

/** The pipeline's workers on a fleet; returns how to stop them. */
function startPipeline(on: FleetClient): (() => Promise<void>)[] {
  const workers = [
    startPipelineWorker(redis, on, 'coder', async (job) => {
      requests.push(job.data);
      return coder(NewBlockRequestSchema.parse(job.data).round, job);
    }),
    startPipelineWorker(redis, on, 'evaluate', async (job) => {
      const { solution } = await checkedSolution(job);
      scripts.push(solution.content);
      return evaluator(solution.content, job);
    }),
  ];
  return workers.map(({ close }) => close);
}

beforeAll(async () => {
  test = await startTestFleet(redis, 'loop');
  ({ fleet } = test);
  api = await startMessagesApi({
    reply: (request) => {
      if (request.text.includes('<ablation-code-')) return summarizes();
      if (!request.text.includes('<ablation-summary-')) return onCheck(request);
      return jsonReply({ plans: [{ code_block: BLOCK, plan: 'Try another model.' }] });
    },
  });
  // With one slot for each kind, a loop that kept its slot while it waits would stop the others.
  await test.worker(runnerFor(api), { concurrency: 1 });
  closers.push(...startPipeline(fleet));
});
afterAll(async () => {
  await Promise.all(closers.map((close) => close()));
  await test.close();
  await api.close();
});
beforeEach(() => {
  tests += 1;
  summarizes = SUMMARY;
  onCheck = () => leaks();
  coder = blockOf;
  evaluator = () => 0.6;
  requests = [];
  scripts = [];
  earlier = api.requests.length;
  payload = { ...PAYLOAD, tags: { run: `digits-${tests}`, step: '1' } };
});

const paidCalls = () => api.requests.length - earlier;
const resultOf = async (fields: Partial<RefinementLoopPayload> = {}) =>
  (await addRefinementLoop(fleet, { ...payload, ...fields })).result();
const viewOfRun = () => viewRun(fleet, `digits-${tests}`);

const models = ['Lasso()', 'Forest()', 'Boost()', 'Net()'];
const blockOf = (round: number) => ({ codeBlock: `model = ${models[round - 1]}`, plan: `Plan ${round}.` });
/** Scores by the model in a script. */
const scores =
  (byModel: Record<string, unknown>): Evaluator =>
  (script) => {
    const [, model = ''] = /model = (\w+)/.exec(script) ?? [];
    const score = byModel[model];
    if (score instanceof Error) throw score;
    return score;
  };

describe('a refinement loop', () => {
  it('chooses a block, then asks for new blocks, checks and evaluates, and returns the best script', async () => {
    evaluator = scores({ Lasso: 0.6, Forest: { score: 0.4 }, Boost: 0.7, Net: { score: 0.7 } });
    const handle = await addRefinementLoop(fleet, payload);
    const result = await handle.result();
    expect(result).toMatchObject({
      outcome: 'improved',
      solution: { content: SCRIPT.replace(BLOCK, 'model = Boost()') },
      score: 0.7,
      stopped: 'all-rounds',
      summary: 'Ridge matters most: 0.50 to 0.30.',
      codeBlock: BLOCK,
      plan: 'Try another model.',
      previousBlocks: ['x = old()', BLOCK, 'model = Boost()'],
      childUsage: { calls: 6 },
    });
    expect(result.rounds.map(({ score, gain, check }) => [score, gain, check])).toEqual([
      [0.6, true, 'clean'],
      [0.4, false, 'clean'],
      [0.7, true, 'clean'],
      [0.7, false, 'clean'],
    ]);
    // MLE-STAR: each round replaces the block in the given script, and the plans go with their scores.
    expect(scripts).toEqual(models.map((model) => SCRIPT.replace(BLOCK, `model = ${model}`)));
    expect(requests[2]).toMatchObject({
      task: 'digits',
      round: 3,
      rounds: 4,
      solution: { content: SCRIPT },
      codeBlock: BLOCK,
      plan: 'Try another model.',
      score: 0.5,
      direction: 'higher',
      tried: [
        { plan: 'Plan 1.', score: 0.6, gain: true },
        { plan: 'Plan 2.', score: 0.4, gain: false },
      ],
    });
    expect(paidCalls()).toBe(6);
    expect((await costsOfRun(fleet.client, fleet.prefix, `digits-${tests}`)).calls).toBe(6);
    const run = await viewOfRun();
    // The loop, summarize, extract, and for each round a new block, an evaluation and its check.
    expect([run.total, run.jobs.length, run.usage.calls]).toEqual([15, 1, 6]);
    const ids = run.jobs[0]?.children.map(({ id }) => id);
    const named = result.rounds.flatMap(({ jobs }) => [jobs.newBlock, jobs.evaluation]);
    expect(ids?.sort()).toEqual([result.jobs.summarize, result.jobs.extract, ...named].sort());
    expect((await handle.view()).attempts).toBe(1);
  });

  it('takes lower scores for better ones if they are, and stops after rounds without gain', async () => {
    evaluator = scores({ Lasso: 0.4, Forest: 0.45, Boost: 0.4, Net: 0.1 });
    const handle = await addRefinementLoop(fleet, { ...payload, direction: 'lower' });
    expect(await handle.result()).toMatchObject({ outcome: 'improved', score: 0.4, stopped: 'no-gain' });
    expect(scripts).toHaveLength(3);
  });

  it.each<[string, Coder, Evaluator, object, string | RegExp]>([
    [
      'the evaluation fails',
      blockOf,
      scores({ Lasso: new Error('ended with 1') }),
      { check: 'clean' },
      'ended with 1',
    ],
    [
      'the score is no number',
      blockOf,
      scores({ Lasso: { score: Number.NaN } }),
      { check: 'clean' },
      'the worker of queue "evaluate" returned {"score":null} instead of {"score": a number}',
    ],
    ['there is no score', blockOf, scores({}), {}, /^the worker of queue "evaluate" returned null instead/],
    [
      'the coder fails',
      (round) => {
        if (round === 1) throw new Error('no idea');
        return blockOf(round);
      },
      scores({}),
      { plan: 'Try another model.' },
      'there is no new block: no idea',
    ],
    [
      'the coder returns no block',
      (round) => (round === 1 ? { block: 'x' } : blockOf(round)),
      scores({}),
      {},
      'the worker of queue "coder" returned {"block":"x"} instead of {"codeBlock": the new text, or null}',
    ],
    [
      'the coder changes nothing',
      (round) => (round === 1 ? { codeBlock: BLOCK } : blockOf(round)),
      scores({}),
      { codeBlock: BLOCK },
      'the block is unchanged, so it was not evaluated again',
    ],
  ])('goes on with the next round if %s', async (_what, ofRow, evaluated, expected, reason) => {
    coder = ofRow;
    evaluator = (script, job) => (script.includes('Forest') ? 0.9 : evaluated(script, job));
    const result = await resultOf({ rounds: 2 });
    expect(result).toMatchObject({ outcome: 'improved', score: 0.9, stopped: 'all-rounds' });
    const [first, second] = result.rounds;
    expect(first).toMatchObject({ gain: false, ...expected });
    expect(first).not.toHaveProperty('score');
    expect(first?.reason).toMatch(reason);
    expect(second).toMatchObject({ score: 0.9, gain: true });
    expect(requests[1]).toMatchObject({
      tried: [{ score: null, gain: false, reason: first?.reason }],
    });
  });

  it('REQ-SF-022: evaluates what the check left, and no script with a leak that stays', async () => {
    onCheck = ({ text, body }) => {
      const isDetection = body.output_config !== undefined;
      if (text.includes('Lasso'))
        return isDetection ? leaks('model = Lasso()') : correction('model = Lasso()');
      if (text.includes('Forest()'))
        return isDetection ? leaks('model = Forest()') : correction('model = Forest(1)');
      return leaks();
    };
    evaluator = () => 0.8;
    const result = await resultOf({ rounds: 2 });
    expect(result.rounds).toMatchObject([
      { gain: false, check: 'uncorrected', reason: expect.stringContaining('it is uncorrected') },
      {
        gain: true,
        check: 'corrected',
        score: 0.8,
        findings: [{ codeBlock: 'model = Forest()', correctedBlock: 'model = Forest(1)' }],
      },
    ]);
    const corrected = SCRIPT.replace(BLOCK, 'model = Forest(1)');
    expect(scripts).toEqual([corrected]);
    expect(result.solution.content).toBe(corrected);
    expect(result.previousBlocks.at(-1)).toBe('model = Forest(1)');
  });

  it('stops if the coder has nothing more to try, and then returns the given script', async () => {
    coder = (round) => (round === 1 ? blockOf(1) : { codeBlock: null });
    evaluator = () => 0.5;
    const result = await resultOf();
    expect(result).toMatchObject({
      outcome: 'unchanged',
      solution: { content: SCRIPT },
      score: 0.5,
      stopped: 'no-new-block',
    });
    expect([result.rounds.length, requests.length]).toEqual([1, 2]);
    expect(result.previousBlocks).toEqual(['x = old()', BLOCK]);
  });

  it('REQ-P2O-018: is skipped after the summary if the ablation printed no score', async () => {
    evaluator = () => 0.5;
    const result = await resultOf({ rawOutput: 'KeyError: x\n' });
    expect(result).toMatchObject({
      outcome: 'skipped',
      score: 0.5,
      stopped: 'no-block',
      childUsage: { calls: 1 },
    });
    expect(result.reason).toContain('printed no score');
    expect([paidCalls(), requests.length]).toEqual([1, 0]);
  });

  it('takes its evaluation and its check along if it is cancelled in the middle of a round', async () => {
    let answer: (reply: Reply) => void = () => undefined;
    onCheck = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    evaluator = () => 0.6;
    const handle = await addRefinementLoop(fleet, payload);
    await api.arrived(earlier + 3);
    await cancelJob(fleet, handle.id);
    const run = await viewOfRun();
    await expect.poll(async () => (await viewOfRun()).states.cancelled).toBe(3);
    expect(run.total).toBe(6);
    expect((await handle.view()).state).toBe('cancelled');
    answer(leaks());
    expect(scripts).toEqual([]);
    expect(paidCalls()).toBe(3);
  });

  it('fails with the reason if no block can be chosen, and pays again only for what failed', async () => {
    summarizes = () => errorReply(400, 'no such model');
    const handle = await addRefinementLoop(fleet, { ...payload, rounds: 1 });
    const { error } = await handle.wait();
    expect(error).toMatchObject({ code: 'child-failed', message: expect.stringContaining('no such model') });
    summarizes = SUMMARY;
    await retryJob(fleet, handle.id);
    await expect.poll(() => handle.state()).toBe('completed');
    expect([paidCalls(), scripts.length]).toEqual([4, 1]);
  });

  it.each<[string, 'coder' | 'evaluate', boolean, object]>([
    ['coder', 'coder', true, { score: 0.9, gain: true }],
    ['evaluation', 'evaluate', true, { score: 0.9, gain: true }],
    ['coder, which fails in another way', 'coder', false, { reason: 'there is no new block: and again' }],
  ])('goes on with the outcome of a failed %s of an earlier round that a person retries', async (...row) => {
    const [, queue, succeeds, expected] = row;
    let isRetried = false;
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const failFirst = (of: typeof queue) => {
      if (of !== queue) return;
      if (!isRetried) throw new Error('no idea');
      if (!succeeds) throw new Error('and again');
    };
    coder = async (round) => {
      if (round === 1) failFirst('coder');
      else if (!isRetried) await released;
      return blockOf(round);
    };
    evaluator = (script) => {
      if (script.includes('Lasso')) failFirst('evaluate');
      return script.includes('Lasso') ? 0.9 : 0.6;
    };
    const handle = await addRefinementLoop(fleet, { ...payload, rounds: 2 });
    await expect.poll(() => requests.length).toBe(2);
    isRetried = true;
    const ofRun = ({ data }: Job) => data.tags.run === `digits-${tests}`;
    const failed = (await fleet.queue(queue).getFailed()).find(ofRun);
    await retryJob(fleet, failed?.id ?? '', queue);
    release();
    const { rounds } = await handle.result();
    expect(rounds).toMatchObject([expected, { score: 0.6, gain: !succeeds }]);
    // Round 2 was made again, because it was told of the first failure.
    expect(requests.at(-1)).toMatchObject({ round: 2, tried: [succeeds ? { score: 0.9 } : expected] });
  });

  it.each<[string, Partial<RefinementLoopPayload>, string]>([
    ['two queues of one name', { newBlock: { queue: 'evaluate' } }, 'newBlock.queue'],
    ['the queue of a kind', { newBlock: { queue: 'summarize' } }, 'newBlock.queue'],
    ['a name that is none', { evaluation: { queue: 'a:b' } }, 'evaluation.queue'],
    ['data with a field of the loop', { newBlock: { queue: 'coder', data: { plan: 'x' } } }, 'newBlock.data'],
    [
      'a guard of its own',
      { evaluation: { queue: 'evaluate', data: { solutionFleet: {} } } },
      'evaluation.data',
    ],
    ['a required comparison without a test case', { require: { contamination: 'clean' } }, 'contamination'],
    ['two rules for leaks', { onUncorrected: 'refuse', require: { leakage: ['clean'] } }, 'onUncorrected'],
    ['more rounds than children', { rounds: 41 }, 'rounds'],
    ['a score that is none', { score: Number.NaN }, 'score'],
  ])('is refused %s', async (_what, fields, field) => {
    const added = addRefinementLoop(fleet, { ...PAYLOAD, ...fields });
    await expect(added).rejects.toMatchObject({ code: 'invalid-payload', field });
  });
});

describe('a worker that is killed in the middle of a round', () => {
  it('is followed by one that goes on with the round and pays for no answer again', async () => {
    const prefix = 'loop-killed';
    const killed = await FleetClient.open({ redisUrl: redis.url, prefix, waitForSlow: true });
    closers.push(() => killed.close(), ...startPipeline(killed));
    const env = {
      FLEET_REDIS_URL: redis.url,
      FLEET_PREFIX: prefix,
      // No worker loses its lock on a busy machine: a call would be sent once more for that.
      FLEET_LOCK_MS: '20000',
      FLEET_CALL_RETRIES: '0',
      ANTHROPIC_API_KEY: 'test-key',
      ANTHROPIC_BASE_URL: api.url,
    };
    let doomed: RunningCommand | undefined;
    onCheck = ({ text, body }) => {
      if (!text.includes('Forest()')) return leaks();
      if (body.output_config !== undefined) return leaks('model = Forest()');
      return doomed === undefined ? correction('model = Forest(1)') : { kind: 'hang' };
    };
    evaluator = scores({ Lasso: 0.6, Forest: 0.7 });

    doomed = startFleetCommand(['worker'], { env });
    closers.push(async () => void (await doomed?.end('SIGKILL')));
    const handle = await addRefinementLoop(killed, { ...payload, rounds: 2 });
    // Summary, block, check of round 1, and in round 2 a detection and a correction that has no answer.
    await api.arrived(earlier + 5);
    await doomed.end('SIGKILL');
    doomed = undefined;
    await lapseLocks(killed.client, prefix);
    const successor = await workerHere(redis, prefix, api, { kinds: KIND_NAMES });
    try {
      const result = await handle.result();
      expect(result).toMatchObject({
        outcome: 'improved',
        score: 0.7,
        rounds: [{ score: 0.6 }, { score: 0.7 }],
      });
      // Only the call that had no answer was sent again.
      expect(paidCalls()).toBe(6);
      expect([requests.length, scripts.length]).toEqual([2, 2]);
    } finally {
      await successor.stop(0);
      await checkInvariants(killed.client, prefix);
    }
  });
});
