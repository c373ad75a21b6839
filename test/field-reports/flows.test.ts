import type { Job } from 'bullmq';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AgentRunner } from '../../src/agents/agent-runner.js';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { AgentError } from '../../src/errors.js';
import { MAX_CANDIDATES } from '../../src/gateway/operations/flow-schemas.js';
import type { FleetClient } from '../../src/producers/fleet-client.js';
import { type BatchOutcome, batchOutcomes } from '../../src/producers/flows/batch-outcomes.js';
import { addCandidateBatch } from '../../src/producers/flows/candidate-batch.js';
import { type Answer, startTestGateway } from '../gateway/gateway-fixture.js';
import { startPipelineWorker } from '../support/evaluation-worker.js';
import { startTestFleet } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';

const redis = redisOfFile();
let fleets = 0;

const EVALUATION = { queue: 'evaluate', name: 'score' };

async function startFleet(options: { readonly retentionDays?: number } = {}) {
  fleets += 1;
  const test = await startTestFleet(redis, `trees-${fleets}`, options);
  onTestFinished(() => test.close());
  return test;
}

function pipeline(fleet: FleetClient, queue: string, run: (job: Job) => Promise<unknown>) {
  const worker = startPipelineWorker(redis, fleet, queue, run);
  onTestFinished(() => worker.close());
  return worker;
}

/** The offline runner, except for scripts that say BAD, whose check fails permanently. */
function failing(): AgentRunner {
  const offline = createOfflineRunner();
  const ask = (request: Parameters<AgentRunner['ask']>[0], context?: Parameters<AgentRunner['ask']>[1]) => {
    if (!JSON.stringify(request.variables).includes('BAD')) return offline.ask(request, context);
    return Promise.reject(new AgentError('answer-refused', 'detect: the answer was refused.'));
  };
  return { name: offline.name, ask: ask as AgentRunner['ask'] };
}

const candidate = (index: number, bad = false) => ({
  solution: { content: `${bad ? 'BAD' : 'good'} = ${index}\n` },
});

describe('a tree of many children', () => {
  it('ends although some of them fail and are removed at once', async () => {
    // Ended jobs are stored for less than a second: a failed child is gone before its parent runs.
    const { fleet, worker } = await startFleet({ retentionDays: 0.000_001 });
    const CHILDREN = 40;
    const outcomes = new Promise<BatchOutcome[]>((resolve) => {
      pipeline(fleet, 'select', async (job) => {
        const found = await batchOutcomes(fleet, job);
        resolve(found);
        return found.length;
      });
    });
    pipeline(fleet, 'evaluate', async () => 1);
    const candidates = Array.from({ length: CHILDREN }, (_, index) => candidate(index, index % 20 === 0));
    await addCandidateBatch(fleet, {
      candidates,
      evaluation: { ...EVALUATION, opts: { removeOnFail: true } },
      afterAll: { queue: 'select', name: 'best' },
    });
    await worker(failing());
    const found = await outcomes;
    expect(found).toHaveLength(CHILDREN);
    expect(found.filter(({ state }) => state === 'failed')).toHaveLength(CHILDREN / 20);
  });
});

describe('many trees at once', () => {
  it('of one run: a started flow ends before more are started', async () => {
    const TREES = 18;
    const CHILDREN = 5;
    const { fleet, worker } = await startFleet();
    const tags = { run: 'night' };
    const started = new Map<number, number>();
    let ended = 0;
    let mostOpen = 0;
    pipeline(fleet, 'evaluate', async (job) => {
      const { tree } = job.data as { tree: number };
      started.set(tree, (started.get(tree) ?? 0) + 1);
      mostOpen = Math.max(mostOpen, started.size - ended);
    });
    const all = new Promise<void>((resolve) => {
      pipeline(fleet, 'select', async () => {
        ended += 1;
        if (ended === TREES) resolve();
      });
    });
    for (let tree = 0; tree < TREES; tree += 1) {
      await addCandidateBatch(fleet, {
        candidates: Array.from({ length: CHILDREN }, (_, index) => candidate(tree * CHILDREN + index)),
        evaluation: { ...EVALUATION, data: { tree } },
        afterAll: { queue: 'select', name: 'best' },
        tags,
      });
    }
    await worker(failing(), { concurrency: 2 });
    await all;
    // Two slots, and what lies between the queues; never all of them.
    expect(mostOpen).toBeLessThanOrEqual(TREES / 3);
  });
});

describe('one tree of a thousand children over HTTP', () => {
  it('is accepted, or rejected with the limit, while the gateway goes on answering', async () => {
    fleets += 1;
    const prefix = `trees-${fleets}`;
    const gateway = await startTestGateway(redis, prefix);
    const CHILDREN = 1_000;
    onTestFinished(() => gateway.close());
    const batch = (children: number) => ({
      candidates: Array.from({ length: children }, (_, index) => candidate(index)),
      evaluation: EVALUATION,
      afterAll: { queue: 'select', name: 'best' },
    });
    const rejected = await gateway.send('POST', '/v1/flows/candidate-batch', batch(MAX_CANDIDATES + 1));
    expect(rejected.status).toBe(422);
    expect(rejected.text).toContain(String(MAX_CANDIDATES));
    const health: number[] = [];
    let answered = false;
    const whole = { ...batch(CHILDREN), key: 'whole' };
    // A slow Redis on a busy machine is reported as unreachable: the same submission again is the same work.
    const submit = async (): Promise<Answer> => {
      const answer = await gateway.send('POST', '/v1/flows/candidate-batch', whole);
      return answer.json.code === 'redis-unreachable' ? submit() : answer;
    };
    const taken = submit().finally(() => {
      answered = true;
    });
    while (!answered) {
      health.push((await gateway.send('GET', '/healthz')).status);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const { status, json } = await taken;
    expect([status, json.evaluations?.length]).toEqual([202, CHILDREN]);
    expect(health).toContain(200);
  });
});
