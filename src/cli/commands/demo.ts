import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { loadConfig } from '../../config/load-config.js';
import { acquireEmbeddedRedis } from '../../fleet/embedded-redis.js';
import { packagePath } from '../../package-root.js';
import { FleetConnection } from '../../producers/fleet-connection.js';
import { addSolutionCheck } from '../../producers/solution-check.js';
import { coloursFor } from '../terminal/colours.js';
import { renderCheck } from '../terminal/render-check.js';

export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('Check the shipped example scripts, with a Redis and a worker of its own.')
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
        await checkExamples(redis.url);
      } finally {
        worker.kill('SIGTERM');
        await once(worker, 'exit');
      }
    } finally {
      await redis.release();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function startWorkerProcess(redisUrl: string) {
  const main = fileURLToPath(new URL('../main.js', import.meta.url));
  return spawn(process.execPath, [main, 'worker'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, FLEET_REDIS_URL: redisUrl, FLEET_PREFIX: 'demo', FLEET_LOG_LEVEL: 'warn' },
  });
}

async function checkExamples(redisUrl: string): Promise<void> {
  const colours = coloursFor(process.stdout);
  const config = loadConfig();
  const folder = packagePath('examples', 'scripts');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.py')).sort();
  const fleet = await FleetConnection.open({ redisUrl, prefix: 'demo', retentionDays: config.retentionDays });
  try {
    process.stdout.write(`${colours.bold('solution-check')} of ${names.length} example scripts\n`);
    const checks = await Promise.all(
      names.map(async (name) => {
        const content = await readFile(join(folder, name), 'utf8');
        return { name, content, handle: await addSolutionCheck(fleet, { solution: { content } }) };
      }),
    );
    for (const { name, content, handle } of checks) {
      const result = await handle.result();
      process.stdout.write(`\n${renderCheck(name, content, result, colours)}\n`);
    }
  } finally {
    await fleet.close();
  }
}
