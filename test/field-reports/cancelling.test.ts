import { describe, expect, it, onTestFinished } from 'vitest';
import type { AgentRunner, RunContext } from '../../src/agents/agent-runner.js';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { addJobs } from '../../src/producers/add-jobs.js';
import { cancelJob } from '../../src/producers/cancel-job.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { waitForJob } from '../../src/producers/wait-for-job.js';
import { startTestGateway } from '../gateway/gateway-fixture.js';
import { startTestFleet } from '../support/fleet.js';
import { fleetCommand } from '../support/fleet-command.js';
import { redisOfFile } from '../support/redis.js';
import { startFleetProcesses } from './fleet-processes.js';

const redis = redisOfFile();
let prefixes = 0;
const script = (name: string) => ({ solution: { content: `name = '${name}'\n` } });

describe('a job that runs in another process', () => {
  it('is cancelled by the API or the command line: its call ends, and it is never tried again', async () => {
    prefixes += 1;
    const prefix = `cancelling-${prefixes}`;
    const { fleet, api, environment, worker, close } = await startFleetProcesses(redis, prefix, () => ({
      kind: 'hang',
    }));
    const gateway = await startTestGateway(redis, prefix);
    onTestFinished(async () => {
      await gateway.close();
      await close();
    });
    const ways = [
      async (id: string) => (await gateway.send('DELETE', `/v1/jobs/${id}`)).status === 200,
      async (id: string) => (await fleetCommand(['cancel', id], { env: environment })).exitCode === 0,
    ];
    await worker();
    for (const [calls, isCancelled] of ways.entries()) {
      const handle = await addSolutionCheck(fleet, script(`hanging ${calls}`));
      await api.arrived(calls + 1);
      expect(await isCancelled(handle.id)).toBe(true);
      await api.requests[calls]?.aborted;
      expect(await handle.wait()).toMatchObject({
        state: 'cancelled',
        error: { code: 'job-cancelled', retryable: false },
      });
    }
    const next = await addSolutionCheck(fleet, script('next'));
    await api.arrived(ways.length + 1);
    await next.cancel();
    expect(api.requests).toHaveLength(ways.length + 1);
  });
});

describe('one of more than a hundred running jobs', () => {
  it('is found by its id, however many there are, and the others go on', async () => {
    const RUNNING = 120;
    prefixes += 1;
    const test = await startTestFleet(redis, `cancelling-${prefixes}`);
    onTestFinished(() => test.close());
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const stopped: unknown[] = [];
    let calls = 0;
    const offline = createOfflineRunner();
    const ask = (request: Parameters<AgentRunner['ask']>[0], context: RunContext = {}) => {
      calls += 1;
      return new Promise((resolve, reject) => {
        context.signal?.addEventListener('abort', () => {
          stopped.push(context.signal?.reason);
          reject(context.signal?.reason);
        });
        opened.then(() => offline.ask(request, context)).then(resolve, reject);
      });
    };
    const runner = { name: offline.name, ask: ask as AgentRunner['ask'] };
    await test.worker(runner, { concurrency: RUNNING, kinds: ['solution-check'] });
    const outcomes = await addJobs(
      test.fleet,
      Array.from({ length: RUNNING }, (_, index) => ({
        kind: 'solution-check' as const,
        payload: script(`running ${index}`),
      })),
    );
    await expect.poll(() => calls).toBe(RUNNING);
    const ids = outcomes.map((outcome) => ('handle' in outcome ? outcome.handle.id : ''));
    // The oldest, the newest, and one in the middle.
    const chosen = [ids[0], ids[RUNNING / 2], ids.at(-1)].map(String);
    for (const id of chosen) await cancelJob(test.fleet, id);
    for (const id of chosen) expect((await waitForJob(test.fleet, id)).state).toBe('cancelled');
    expect(stopped).toHaveLength(chosen.length);
    open();
    await expect
      .poll(() => test.fleet.queue('solution-check').getCompletedCount())
      .toBe(RUNNING - chosen.length);
  });
});
