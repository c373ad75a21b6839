import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { acquireEmbeddedRedis } from '../../fleet/embedded-redis.js';
import { FleetConnection } from '../../producers/fleet-connection.js';
import { showGuardedEvaluation } from '../demo/guarded-evaluation.js';
import { showLeakageChecks } from '../demo/leakage-checks.js';
import { showRefinementStep } from '../demo/refinement.js';
import { coloursFor } from '../terminal/colours.js';

const PREFIX = 'demo';

export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('Show what the fleet does on shipped examples, with a Redis and a worker of its own.')
    .action(demo);
}

/** Runs in a folder of its own, so that it neither sees nor leaves anything in the user's project. */
async function demo(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'fleet-demo-'));
  try {
    const redis = await acquireEmbeddedRedis(folder);
    try {
      const worker = startWorkerProcess(redis.url);
      try {
        await show(redis.url);
      } finally {
        worker.kill('SIGTERM');
        await once(worker, 'exit');
      }
    } finally {
      await redis.release();
    }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

function startWorkerProcess(redisUrl: string) {
  const main = fileURLToPath(new URL('../main.js', import.meta.url));
  return spawn(process.execPath, [main, 'worker'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, FLEET_REDIS_URL: redisUrl, FLEET_PREFIX: PREFIX, FLEET_LOG_LEVEL: 'error' },
  });
}

async function show(redisUrl: string): Promise<void> {
  const colours = coloursFor(process.stdout);
  const fleet = await FleetConnection.open({ redisUrl, prefix: PREFIX });
  try {
    await showLeakageChecks(fleet, colours);
    await showRefinementStep(fleet, colours);
    await showGuardedEvaluation(fleet, redisUrl, colours);
  } finally {
    await fleet.close();
  }
}
