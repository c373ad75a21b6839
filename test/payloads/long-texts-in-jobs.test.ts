import { describe, expect, it } from 'vitest';
import { referencesIn } from '../../src/payloads/text-reference.js';
import { addJobs } from '../../src/producers/add-jobs.js';
import { checkedSolution } from '../../src/producers/flows/checked-solution.js';
import { addGuardedEvaluation } from '../../src/producers/flows/guarded-evaluation.js';
import { addRefinementStep } from '../../src/producers/flows/refinement-step.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { addSummarize } from '../../src/producers/summarize.js';
import { runnerFor } from '../support/agent-answers.js';
import { startPipelineWorker } from '../support/evaluation-worker.js';
import { fleetOfTest, type TestFleet } from '../support/fleet.js';
import { jsonReply, type MessagesApi, type Script, textReply } from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';

const LONG_SCRIPT = `${'# a long comment of a long script\n'.repeat(3_000)}x = 1\n`;
const LONG_OUTPUT = 'fold 1: 0.81\n'.repeat(10_000);

const redis = redisOfFile();
let test: TestFleet;
let api: MessagesApi;

async function startFleet(reply?: Script) {
  ({ test, api } = await fleetOfTest(redis, 'long', reply));
  return test;
}

async function storedFields(queue: string, id: string) {
  const [data, result] = await test.fleet.client.hmget(
    `${test.fleet.prefix}:${queue}:${id}`,
    'data',
    'returnvalue',
  );
  return { data: JSON.parse(data ?? 'null'), result: JSON.parse(result ?? 'null') };
}

describe('long texts in jobs', () => {
  it('travel as references; agent and every view see the complete text', async () => {
    const { fleet, worker } = await startFleet();
    await worker(runnerFor(api));
    const handle = await addSolutionCheck(fleet, { solution: { content: LONG_SCRIPT } });
    const result = await handle.result();
    expect(result.solution.content).toBe(LONG_SCRIPT);
    expect(api.requests[0]?.text).toContain(LONG_SCRIPT.slice(0, 100_000));
    const stored = await storedFields('solution-check', handle.id);
    expect(referencesIn(stored.data)).toHaveLength(1);
    expect(referencesIn(stored.result)).toEqual(referencesIn(stored.data));
    expect(JSON.stringify(stored).length).toBeLessThan(3_000);
  });

  it('are compared by their content if a key is used again', async () => {
    const { fleet } = await startFleet();
    const payload = { ablationCode: 'print(1)', rawOutput: LONG_OUTPUT };
    const first = await addSummarize(fleet, payload, { key: 'k' });
    const again = await addSummarize(fleet, payload, { key: 'k' });
    expect([again.id, again.outcome]).toEqual([first.id, 'existing']);
    const changed = { ...payload, rawOutput: LONG_OUTPUT.replace('0.81', '0.82') };
    await expect(addSummarize(fleet, changed, { key: 'k' })).rejects.toMatchObject({ code: 'key-conflict' });
  });

  it('go through batches too', async () => {
    const { fleet } = await startFleet();
    const payload = { ablationCode: 'print(1)', rawOutput: LONG_OUTPUT };
    const outcomes = await addJobs(
      fleet,
      [1, 2, 3].map(() => ({ kind: 'summarize' as const, payload })),
    );
    const ids = outcomes.map((outcome) => ('handle' in outcome ? outcome.handle.id : ''));
    const stored = await Promise.all(ids.map((id) => storedFields('summarize', id)));
    expect(new Set(stored.flatMap(({ data }) => referencesIn(data))).size).toBe(1);
  });

  it("a long summary reaches the parent's agent whole", async () => {
    const summary = 'The ensemble matters most. '.repeat(4_000).trim();
    const { fleet, worker } = await startFleet((request) =>
      request.text.includes(LONG_OUTPUT.slice(0, 1_000))
        ? textReply(summary)
        : jsonReply({ plans: [{ code_block: 'x = 1', plan: 'tune it' }] }),
    );
    await worker(runnerFor(api));
    const step = await addRefinementStep(fleet, {
      ablationCode: 'print(1)',
      // Without scores there is nothing to extract.
      rawOutput: `${LONG_OUTPUT}\nbaseline: 0.80\nno scaling: 0.70\n`,
      solution: { content: 'x = 1\n' },
      previousBlocks: [],
    });
    await step.extract.wait();
    const child = await storedFields('summarize', step.summarize.id);
    expect(referencesIn(child.result)).toHaveLength(1);
    expect(api.requests.some(({ text }) => text.includes(summary))).toBe(true);
    expect((await step.summarize.result()).summary).toBe(summary);
  });

  it("a check's result contains all texts for the pipeline's evaluation, which reads it directly", async () => {
    const { fleet, worker } = await startFleet();
    await worker(runnerFor(api));
    const evaluating = startPipelineWorker(redis, fleet, 'evaluate', async (job) => {
      return (await checkedSolution(job)).solution.content.length;
    });
    try {
      const { evaluation } = await addGuardedEvaluation(fleet, {
        solution: { content: LONG_SCRIPT },
        evaluation: { queue: 'evaluate', name: 'score' },
      });
      expect(await evaluation.returned()).toBe(LONG_SCRIPT.length);
    } finally {
      await evaluating.close();
    }
  });
});
