import { setTimeout as passes } from 'node:timers/promises';
import { addJobs } from '../../../src/producers/add-jobs.js';
import { addSolutionCheck } from '../../../src/producers/solution-check.js';
import { leaks } from '../../../test/support/agent-answers.js';
import { hold, type SoakCase, type SoakEnvironment, script, seconds, until } from '../soak-case.js';

/** A crashed worker is noticed when its lock has expired and stalled jobs are checked; the rest is for a busy machine. */
const TAKEN_OVER_MS = 30_000;

/** A job whose first call hangs, in a worker that is about to end; later calls are answered. */
async function hangingJob(environment: SoakEnvironment) {
  const processes = await environment.processes((_, index) => (index === 0 ? { kind: 'hang' } : leaks()));
  const doomed = await processes.worker();
  const handle = await addSolutionCheck(processes.fleet, script('hanging'));
  await processes.api.arrived(1);
  return { ...processes, doomed, handle };
}

export const STOPPING_CASES: readonly SoakCase[] = [
  {
    name: 'long-drain',
    about: 'SIGTERM during a call of 90 s with 120 s to drain: the call is made once, the job ends there',
    limitSeconds: 180,
    run: async (environment) => {
      const { fleet, api, worker } = await environment.processes(() => ({ ...leaks(), delayMs: 90_000 }), {
        FLEET_DRAIN_SECONDS: '120',
      });
      const stopping = await worker();
      const handle = await addSolutionCheck(fleet, script('long'));
      await api.arrived(1);
      await worker();
      const code = await stopping.end('SIGTERM');
      const view = await handle.wait();
      hold(code === 0, `the worker ended with ${code}`);
      hold(view.state === 'completed', `the job is ${view.state}`);
      hold(api.requests.length === 1, `${api.requests.length} requests were made`);
    },
  },
  {
    name: 'killed-after-stop',
    about:
      'SIGTERM, and SIGKILL 5 s later: the next worker has the job within the lock duration, and no crash is counted',
    limitSeconds: 120,
    run: async (environment) => {
      const { fleet, api, worker, doomed, handle } = await hangingJob(environment);
      doomed.child.kill('SIGTERM');
      await passes(5_000);
      await doomed.end('SIGKILL');
      const killed = performance.now();
      await worker();
      await api.arrived(2);
      const after = performance.now() - killed;
      const view = await handle.wait();
      const crashes = await fleet.client.hexists(
        fleet.queue('solution-check').toKey(handle.id),
        'fleet:crashes',
      );
      hold(after < TAKEN_OVER_MS, `it was taken over after ${seconds(after)}`);
      hold(view.state === 'completed', `the job is ${view.state}`);
      hold(crashes === 0, 'the kill counts as a crash');
    },
  },
  {
    name: 'killed-worker',
    about:
      'SIGKILL 10 s into a call: another worker has the job within the lock duration, not after the longest run',
    limitSeconds: 120,
    run: async (environment) => {
      const { api, worker, doomed, handle } = await hangingJob(environment);
      await worker();
      await passes(10_000);
      await doomed.end('SIGKILL');
      const killed = performance.now();
      await api.arrived(2);
      const after = performance.now() - killed;
      hold(after < TAKEN_OVER_MS, `it was taken over after ${seconds(after)}`);
      const { state } = await handle.wait();
      hold(state === 'completed', `the job is ${state}`);
    },
  },
  {
    name: 'stopped-200-times',
    about:
      '500 jobs while their worker is stopped 200 times: none is ever active without an owner, each is asked once',
    limitSeconds: 1_500,
    run: async (environment) => {
      const JOBS = 500;
      const { fleet, api, worker } = await environment.processes(() => ({ ...leaks(), delayMs: 30 }), {
        FLEET_CONCURRENCY: '2',
      });
      const queue = fleet.queue('solution-check');
      await addJobs(
        fleet,
        Array.from({ length: JOBS }, (_, index) => ({
          kind: 'solution-check' as const,
          payload: script(`job ${index}`),
        })),
      );
      for (let stop = 0; stop < 200; stop += 1) {
        const stopped = await worker();
        await passes((stop * 37) % 101);
        await stopped.end('SIGTERM');
        const active = await queue.getJobCountByTypes('active');
        hold(active === 0, `${active} jobs are active after stop ${stop + 1}`);
      }
      await worker();
      await until(async () => (await queue.getCompletedCount()) === JOBS);
      hold(api.requests.length === JOBS, `${api.requests.length} requests for ${JOBS} jobs`);
    },
  },
];
