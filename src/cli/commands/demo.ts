import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { JobError, messageOf } from '../../errors.js';
import { acquireThrowawayRedis, type ThrowawayRedis } from '../../fleet/embedded-redis.js';
import { FleetClient } from '../../producers/fleet-client.js';
import { showGuardedEvaluation, showLeakageChecks, showRefinementStep } from '../demo-steps.js';
import { interruptible } from '../interruption.js';
import { colorsFor } from '../terminal/colors.js';

const PREFIX = 'demo';

export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('Show what the fleet does on shipped examples, with a Redis and a worker of its own.')
    .action(demo);
}

/** Runs on a Redis of its own, so that it neither sees nor leaves anything of the user's project. */
function demo(): Promise<void> {
  return interruptible(async (interrupted) => {
    const redis = await acquireThrowawayRedis();
    try {
      interrupted.throwIfAborted();
      await withWorkerProcess(redis, interrupted, (signal) => show(redis.url, signal));
    } finally {
      await redis.release();
    }
  });
}

/**
 * Does something while a worker process runs, and stops that one at the end. Its signal is aborted by the command's own,
 * and when the Redis or the worker dies, since nobody would ever do the jobs then.
 */
async function withWorkerProcess(
  { url, lost }: ThrowawayRedis,
  interrupted: AbortSignal,
  action: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const main = fileURLToPath(new URL('../main.js', import.meta.url));
  const worker = spawn(process.execPath, [main, 'worker'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      FLEET_REDIS_URL: url,
      FLEET_PREFIX: PREFIX,
      FLEET_LOG_LEVEL: 'error',
      FLEET_DRAIN_SECONDS: '0',
      // The Redis ends with this process, also where it is killed; the worker must not wait long for another one.
      FLEET_UNHEALTHY_MS: '30000',
    },
  });
  const over = new AbortController();
  for (const end of [interrupted, lost]) end.addEventListener('abort', () => over.abort(end.reason));
  const ended = once(worker, 'exit').then(
    ([code, signal]) => `ended (${code ?? signal})`,
    (thrown: unknown) => `could not be started: ${messageOf(thrown)}`,
  );
  void ended.then((how) => {
    over.abort(new JobError('killed-its-worker', `the worker of the demo ${how} before its jobs were done`));
  });
  try {
    await action(over.signal);
  } finally {
    // One whose Redis is gone has nothing to end in order.
    worker.kill(lost.aborted ? 'SIGKILL' : 'SIGTERM');
    await ended;
  }
}

async function show(redisUrl: string, signal: AbortSignal): Promise<void> {
  const colors = colorsFor(process.stdout);
  const fleet = await FleetClient.open({ redisUrl, prefix: PREFIX, waitForSlow: true });
  try {
    await showLeakageChecks(fleet, colors, signal);
    await showRefinementStep(fleet, colors, signal);
    await showGuardedEvaluation(fleet, redisUrl, colors, signal);
  } finally {
    await fleet.close();
  }
}
