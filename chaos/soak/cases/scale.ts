import { fileURLToPath } from 'node:url';
import type { AgentRunner, RunContext } from '../../../src/agents/agent-runner.js';
import { createOfflineRunner } from '../../../src/agents/offline-runner.js';
import { addJobs } from '../../../src/producers/add-jobs.js';
import { FleetClient } from '../../../src/producers/fleet-client.js';
import { batchOutcomes } from '../../../src/producers/flows/batch-outcomes.js';
import { addCandidateBatch } from '../../../src/producers/flows/candidate-batch.js';
import { addSolutionCheck } from '../../../src/producers/solution-check.js';
import { readRedisMemory } from '../../../src/queues/redis-memory.js';
import { heapOfWorker } from '../../../test/calls/heap-of-a-worker.js';
import { leaks } from '../../../test/support/agent-answers.js';
import { startPipelineWorker } from '../../../test/support/evaluation-worker.js';
import { startTestFleet } from '../../../test/support/fleet.js';
import { errorReply, startMessagesApi } from '../../../test/support/messages-api.js';
import { hold, type SoakCase, script, seconds, until } from '../soak-case.js';

const COUNTING_WORKER = [
  '--import',
  'tsx',
  fileURLToPath(new URL('../../../test/calls/counting-worker.ts', import.meta.url)),
];

const checks = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    kind: 'solution-check' as const,
    payload: script(`job ${index}`),
  }));

export const SCALE_CASES: readonly SoakCase[] = [
  {
    name: 'fleet-killed-with-5000',
    about:
      'a fleet is killed with nearly 5,000 running jobs: a new job of somebody else starts within 10 s of the restart',
    limitSeconds: 900,
    run: async (environment) => {
      const WORKERS = 10;
      const RUNNING = 5_000;
      let restarted = false;
      const { fleet, api, worker } = await environment.processes(
        () => (restarted ? { ...leaks(), delayMs: 2_000 } : { kind: 'hang' }),
        // On a small machine thousands of jobs take long to start, and their locks must last until all have.
        // All calls hang at once, also those that would wait for the prompt cache.
        { FLEET_LOCK_MS: '60000', FLEET_CACHE_WAIT_MS: '0' },
      );
      const doomed = await Promise.all(
        Array.from({ length: WORKERS }, () => worker({ FLEET_CONCURRENCY: String(RUNNING / WORKERS) })),
      );
      await addJobs(fleet, checks(RUNNING));
      // All except those whose first connection was refused under load, and that try again later.
      await api.arrived(RUNNING * 0.9);
      await Promise.all(doomed.map((killed) => killed.end('SIGKILL')));
      restarted = true;
      const queue = fleet.queue('solution-check');
      await Promise.all([worker(), worker()]);
      await until(async () => (await queue.getJobCountByTypes('active')) < RUNNING / 2);
      const fresh = await addSolutionCheck(fleet, script('new', 'morning'));
      const added = performance.now();
      await until(async () => (await fresh.view()).startedAt !== undefined, 50);
      const after = performance.now() - added;
      hold(after < 10_000, `it started after ${seconds(after)}`);
      const { state } = await fresh.wait({ timeout: 60_000 });
      hold(state === 'completed', `the new job is ${state}`);
    },
  },
  {
    name: 'fifty-workers',
    about: '50 workers of ten jobs each and 5,000 jobs: none waits while a worker is idle for 5 s',
    limitSeconds: 600,
    run: async (environment) => {
      const JOBS = 5_000;
      const test = await startTestFleet(environment.redis, environment.name);
      environment.onClose(() => test.close());
      const offline = createOfflineRunner();
      const lastTaken = new Array<number>(50).fill(0);
      for (const index of lastTaken.keys()) {
        const ask = (request: Parameters<AgentRunner['ask']>[0], context?: RunContext) => {
          lastTaken[index] = performance.now();
          return offline.ask(request, context);
        };
        await test.worker(
          { name: offline.name, ask: ask as AgentRunner['ask'] },
          { concurrency: 10, kinds: ['solution-check'] },
        );
      }
      await addJobs(
        test.fleet,
        checks(JOBS).map((job, index) => ({
          ...job,
          options: {
            ...(index % 3 === 0 ? { priority: 1 + (index % 50) } : {}),
            ...(index % 5 === 0 ? { delayMs: 2_000 } : {}),
          },
        })),
      );
      const begun = performance.now();
      const queue = test.fleet.queue('solution-check');
      for (;;) {
        const counts = await queue.getJobCounts('wait', 'prioritized', 'completed');
        if (counts.completed === JOBS) break;
        const waiting = (counts.wait ?? 0) + (counts.prioritized ?? 0);
        const idle = lastTaken.filter((at) => performance.now() - Math.max(at, begun) > 5_000).length;
        hold(waiting === 0 || idle === 0, `${idle} workers are idle while ${waiting} jobs wait`);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    },
  },
  {
    name: 'errors-of-50-kb',
    about: '1,000 jobs that fail three times with an error of 50 kB: less than 10 kB of Redis for each',
    limitSeconds: 300,
    run: async (environment) => {
      const JOBS = 1_000;
      const { fleet, worker } = await environment.processes(() => errorReply(500, 'x'.repeat(50_000)), {
        FLEET_CALL_RETRIES: '0',
        FLEET_CONCURRENCY: '50',
      });
      const before = (await readRedisMemory(fleet.client)).used;
      await addJobs(fleet, checks(JOBS));
      await worker();
      const queue = fleet.queue('solution-check');
      await until(async () => (await queue.getFailedCount()) === JOBS, 500);
      const each = ((await readRedisMemory(fleet.client)).used - before) / JOBS;
      hold(each < 10_000, `each takes ${Math.round(each)} bytes`);
    },
  },
  {
    name: 'thousand-children',
    about:
      '1,000 candidates of which 5 % fail and are removed at once: the job after them sees what became of each',
    limitSeconds: 300,
    run: async (environment) => {
      const CHILDREN = 1_000;
      const { fleet, worker } = await environment.processes(({ text }) =>
        text.includes('BAD') ? errorReply(401) : leaks(),
      );
      let seen = 0;
      let failed = 0;
      const select = startPipelineWorker(environment.redis, fleet, 'select', async (job) => {
        const outcomes = await batchOutcomes(fleet, job);
        seen = outcomes.length;
        failed = outcomes.filter(({ state }) => state === 'failed').length;
      });
      const evaluate = startPipelineWorker(environment.redis, fleet, 'evaluate', async () => 1);
      environment.onClose(() => Promise.all([select.close(), evaluate.close()]));
      await addCandidateBatch(fleet, {
        candidates: Array.from({ length: CHILDREN }, (_, index) => ({
          solution: { content: `${index % 20 === 0 ? 'BAD' : 'good'} = ${index}\n` },
        })),
        evaluation: { queue: 'evaluate', name: 'score', opts: { removeOnFail: true } },
        afterAll: { queue: 'select', name: 'best' },
      });
      await worker();
      await until(() => seen > 0, 500);
      hold(seen === CHILDREN, `${seen} outcomes were seen`);
      hold(failed === CHILDREN / 20, `${failed} of them failed`);
    },
  },
  {
    name: 'flat-heap',
    about: '5,000 jobs in one worker: its heap is as after 1,000, and no listener warning came',
    limitSeconds: 600,
    run: async (environment) => {
      const api = await startMessagesApi({ reply: () => leaks() });
      environment.onClose(() => api.close());
      const fleet = await FleetClient.open({ redisUrl: environment.redis.url, prefix: environment.name });
      environment.onClose(() => fleet.close());
      const { bytes, warnings } = await heapOfWorker(
        COUNTING_WORKER,
        fleet,
        environment.redis.url,
        api.url,
        [1_000, 5_000],
      );
      const [early = 0, late = 0] = bytes;
      const grown = (late - early) / 2 ** 20;
      hold(grown < 5, `it grew by ${grown.toFixed(1)} MB`);
      hold(warnings.length === 0, warnings.join('; '));
    },
  },
];
