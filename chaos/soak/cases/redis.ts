import { setTimeout as passes } from 'node:timers/promises';
import { addSolutionCheck } from '../../../src/producers/solution-check.js';
import { leaks } from '../../../test/support/agent-answers.js';
import { TcpProxy } from '../../../test/support/tcp-proxy.js';
import { hold, type SoakCase, script, seconds } from '../soak-case.js';

/** Jobs continue within this time after Redis is back. */
const WELL_AGAIN_MS = 15_000;

export const REDIS_CASES: readonly SoakCase[] = [
  {
    name: 'redis-paused',
    about: 'Redis answers nobody for 40 s during a call of 60 s: the call is made once',
    limitSeconds: 180,
    run: async (environment) => {
      const { fleet, api, worker } = await environment.processes(() => ({ ...leaks(), delayMs: 60_000 }));
      await worker();
      await worker();
      const handle = await addSolutionCheck(fleet, script('paused'));
      await api.arrived(1);
      await fleet.client.call('CLIENT', 'PAUSE', '40000', 'ALL');
      await passes(45_000);
      const view = await handle.wait({ timeout: 100_000 });
      hold(view.state === 'completed', `the job is ${view.state}`);
      const relabeled = view.callsInDoubt?.length ?? 0;
      hold(
        api.requests.length === 1 + relabeled,
        `${api.requests.length} requests, of which the job shows ${relabeled} as repeated`,
      );
      hold(api.requests.length === 1, `${api.requests.length} requests were made`);
    },
  },
  {
    name: 'redis-frozen',
    about:
      'Redis is frozen for 30 s with jobs waiting, delayed and running: all end within 15 s of its return',
    limitSeconds: 180,
    run: async (environment) => {
      const { fleet, api, worker } = await environment.processes(
        ({ text }) => ({ ...leaks(), delayMs: text.includes('running') ? 15_000 : 0 }),
        { FLEET_CONCURRENCY: '1' },
      );
      await worker();
      const running = await addSolutionCheck(fleet, script('running'));
      await api.arrived(1);
      const waiting = await addSolutionCheck(fleet, script('waiting'));
      const delayed = await addSolutionCheck(fleet, script('delayed'), { delayMs: 20_000 });
      environment.redis.pause();
      await passes(30_000);
      environment.redis.resume();
      const back = performance.now();
      for (const job of [running, waiting, delayed]) {
        const { state } = await job.wait({ timeout: 60_000 });
        hold(state === 'completed', `a job is ${state}`);
      }
      const after = performance.now() - back;
      hold(after < WELL_AGAIN_MS, `they ended ${seconds(after)} after its return`);
      hold(api.requests.length === 3, `${api.requests.length} requests for 3 jobs`);
    },
  },
  {
    name: 'half-open-link',
    about:
      'a link that swallows all answers for 60 s, with delayed jobs alone: they start within 15 s of its return',
    limitSeconds: 180,
    run: async (environment) => {
      const proxy = await TcpProxy.start({ path: environment.redis.socketPath });
      environment.onClose(() => proxy.stop());
      const { fleet, api, worker } = await environment.processes(() => leaks(), {
        FLEET_REDIS_URL: proxy.url,
      });
      await worker();
      const handle = await addSolutionCheck(fleet, script('delayed'), { delayMs: 30_000 });
      proxy.mode = 'half-open';
      await passes(60_000);
      hold(api.requests.length === 0, 'the link did not swallow the answers');
      proxy.mode = 'open';
      const back = performance.now();
      await api.arrived(1);
      const after = performance.now() - back;
      hold(after < WELL_AGAIN_MS, `the job started ${seconds(after)} after the return of the link`);
      const { state } = await handle.wait({ timeout: 60_000 });
      hold(state === 'completed', `the job is ${state}`);
    },
  },
];
