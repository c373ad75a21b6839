import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { addJobs } from '../../../src/producers/add-jobs.js';
import { addSolutionCheck } from '../../../src/producers/solution-check.js';
import { leaks } from '../../../test/support/agent-answers.js';
import { rateLimitReply } from '../../../test/support/messages-api.js';
import { hold, type SoakCase, type SoakEnvironment, script, seconds, until } from '../soak-case.js';

const BLOCKING_WORKER = fileURLToPath(new URL('../blocking-worker.ts', import.meta.url));

function startBlockingWorker(environment: SoakEnvironment, apiUrl: string, blockMs: number) {
  const child: ChildProcess = spawn(
    process.execPath,
    ['--import', 'tsx', BLOCKING_WORKER, environment.redis.url, environment.name, apiUrl, String(blockMs)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  environment.onClose(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  });
  return { printed: (text: string) => until(() => output.includes(text)) };
}

/** A case whose job has one call that takes long. */
function longCall(callSeconds: number): SoakCase {
  return {
    name: `call-of-${callSeconds}-s`,
    about: `a call that takes ${callSeconds} s, with another worker looking for jobs: one request`,
    limitSeconds: callSeconds + 90,
    run: async (environment) => {
      const { fleet, api, worker } = await environment.processes(() => ({
        ...leaks(),
        delayMs: callSeconds * 1_000,
      }));
      await worker();
      await worker();
      const handle = await addSolutionCheck(fleet, script('long'));
      const view = await handle.wait();
      hold(view.state === 'completed', `the job is ${view.state}`);
      hold(api.requests.length === 1, `${api.requests.length} requests were made`);
    },
  };
}

export const CALL_CASES: readonly SoakCase[] = [
  {
    name: 'blocked-event-loop',
    about: 'an event loop that is blocked for 35 s: one call, by the other worker, and the log says why',
    limitSeconds: 150,
    run: async (environment) => {
      const { fleet, api } = await environment.processes(() => leaks());
      const handle = await addSolutionCheck(fleet, script('blocked'));
      const blocked = startBlockingWorker(environment, api.url, 35_000);
      await blocked.printed('asked');
      const other = startBlockingWorker(environment, api.url, 0);
      await other.printed('ready');
      const view = await handle.wait();
      hold(view.state === 'completed', `the job is ${view.state}`);
      await blocked.printed('event loop lag: up to');
      await blocked.printed('nothing more is written by this worker');
      hold(api.requests.length === 1, `${api.requests.length} requests were made`);
    },
  },
  {
    name: 'retry-after-171',
    about:
      'a 429 that asks for 171 s: two workers of ten jobs are quiet until then, one probe, then a slow start',
    limitSeconds: 420,
    run: async (environment) => {
      const JOBS = 60;
      const arrivals: number[] = [];
      let openedAt = 0;
      const { fleet, worker } = await environment.processes(
        () => {
          arrivals.push(performance.now());
          if (openedAt !== 0 && performance.now() - openedAt > 170_000) return { ...leaks(), delayMs: 500 };
          openedAt ||= performance.now();
          return rateLimitReply('171');
        },
        { FLEET_CONCURRENCY: '10' },
      );
      await Promise.all([worker(), worker()]);
      await addJobs(
        fleet,
        Array.from({ length: JOBS }, (_, index) => ({
          kind: 'solution-check' as const,
          payload: script(`job ${index}`),
        })),
      );
      const queue = fleet.queue('solution-check');
      await until(async () => (await queue.getCompletedCount()) === JOBS, 1_000);
      const since = arrivals.map((at) => at - openedAt);
      // Calls that were sent before the first answer are allowed.
      const early = since.filter((ms) => ms > 5_000 && ms < 170_000);
      hold(early.length === 0, `${early.length} requests before the time was over`);
      const inFirst = since.filter((ms) => ms >= 170_000).map((ms) => ms - 171_000);
      const [probe = 0, second = 0] = inFirst;
      hold(second - probe > 100, `the second request came ${seconds(second - probe)} after the probe`);
      const failed = await queue.getFailedCount();
      hold(failed === 0, `${failed} jobs failed`);
    },
  },
  longCall(200),
  longCall(400),
  longCall(900),
];
