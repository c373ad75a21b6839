import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { addGuardedEvaluation } from '../../src/producers/flows/guarded-evaluation.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { runnerFor } from '../support/agent-answers.js';
import { startPipelineWorker } from '../support/evaluation-worker.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { fleetCommand } from '../support/fleet-command.js';
import { errorReply, type MessagesApi, startMessagesApi } from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';

const redis = redisOfFile();
let test: TestFleet;
let api: MessagesApi;
const prefix = 'dead-cli';
beforeAll(async () => {
  test = await startTestFleet(redis, prefix);
  api = await startMessagesApi({ reply: () => errorReply(400, 'no \u001b[31mred\u001b[0m') });
  await test.worker(runnerFor(api));
});
afterAll(async () => {
  await test.close();
  await api.close();
});

const command = (...args: string[]) =>
  fleetCommand(args, { env: { FLEET_REDIS_URL: redis.url, FLEET_PREFIX: prefix } });
const dead = (...args: string[]) => command('dead', ...args);

async function failedJob(): Promise<string> {
  const fleet = await FleetClient.open({ redisUrl: redis.url, prefix, waitForSlow: true });
  try {
    const job = await addSolutionCheck(fleet, { solution: { content: 'x = 1\n' }, tags: { run: 'r' } });
    await job.wait();
    return job.id;
  } finally {
    await fleet.close();
  }
}

describe('fleet dead', () => {
  it('lists and shows, with control characters written out', async () => {
    const id = await failedJob();
    const list = await dead('list', '--run', 'r');
    expect(list.stdout).toContain(id);
    expect(list.stdout).toContain('\\x1b[31mred');
    expect(list.stdout).not.toContain('\u001b[31mred');
    const shown = await dead('show', id);
    expect(JSON.parse(shown.stdout)).toMatchObject({
      job: { id, state: 'failed' },
      payload: { solution: { content: 'x = 1\n' } },
    });
  });

  it('drop needs to be told which ones', async () => {
    const id = await failedJob();
    const refused = await dead('drop');
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
    expect(refused.stderr).toContain('say which dead letters to drop');
    expect(await dead('drop', id)).toMatchObject({ exitCode: 0, stdout: 'dropped: 1\n' });
    expect(await dead('drop', id)).toMatchObject({ exitCode: 2, stdout: 'dropped: 0\n' });
  });

  it('retry runs them again, and says how many', async () => {
    const id = await failedJob();
    const again = await dead('retry', id, '--json');
    expect(JSON.parse(again.stdout)).toEqual({ done: [id], refused: [] });
  });

  it('REQ-SF-022: an evaluation that failed is listed with its key and run, shown, run again and dropped, as by fleet list, get and retry', async () => {
    const settings = { solution: { content: 'x = 2\n' }, tags: { run: 'night-12' } };
    const evaluation = { queue: 'evaluate', name: 'score', data: { fold: 3 } };
    const handles = await addGuardedEvaluation(
      test.fleet,
      { ...settings, evaluation },
      { key: 'night-12/7' },
    );
    const { id } = handles.evaluation;
    // A worker of the queue meets the failure of the check.
    const pipeline = startPipelineWorker(redis, test.fleet, 'evaluate', async () => null);
    onTestFinished(() => pipeline.close());
    await handles.evaluation.wait();
    const list = await dead('list', '--kind', 'evaluate', '--run', 'night-12');
    expect(list.stdout).toContain(`failed ${id}`);
    expect(list.stdout).toContain('key night-12/7 · run night-12');
    expect(JSON.parse((await dead('show', id)).stdout)).toMatchObject({ job: { id }, payload: { fold: 3 } });
    const listed = await command('list', '--run', 'night-12', '--json');
    const about = { key: 'night-12/7', tags: { run: 'night-12' } };
    expect(JSON.parse(listed.stdout)).toMatchObject([
      { kind: 'solution-check', ...about },
      { id, kind: 'evaluate', ...about },
    ]);
    expect((await command('get', id)).stdout).toContain('key night-12/7 · run night-12');
    expect((await command('list', '--kind', 'evaluat')).stderr).toContain('did you mean "evaluate"?');
    expect((await dead('retry', id, '--json')).stdout).toContain(id);
    await handles.evaluation.wait();
    expect((await command('retry', id)).exitCode).toBe(0);
    await handles.evaluation.wait();
    expect((await dead('drop', '--kind', 'evaluate')).stdout).toBe('dropped: 1\n');
  });

  it('an age that is none is refused', async () => {
    const refused = await dead('list', '--older-than', 'soon');
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain('as in 30m, 12h or 7d');
  });
});
