import type { Command } from 'commander';
import { createLogger } from '../../fleet/logger.js';
import { startTraceExporter } from '../../fleet/trace-exporter.js';
import { openRedis } from '../command-redis.js';
import { flagLike } from '../flag-like.js';
import { HealthFile } from '../health-file.js';
import { type KindsFromOption, knownKinds, withKindsFrom } from '../known-kinds.js';
import { configWith } from '../start/config-with.js';
import { startWorker } from '../start-worker.js';

/** How long the process of a worker that has stopped, or that stays unhealthy, may take to end by itself, in milliseconds. */
const LAST_WORD_MS = 10_000;

interface WorkerCommandOptions extends KindsFromOption {
  readonly kinds?: string[];
  readonly concurrency?: number;
  readonly drain?: number;
}

export function addWorkerCommand(program: Command): void {
  withKindsFrom(program.command('worker'))
    .description('Process jobs until stopped (SIGTERM or SIGINT; a second one stops at once).')
    .option('--kinds <kinds>', 'kinds to process, separated by commas (default: all)', (text) =>
      text.split(',').map((kind) => kind.trim()),
    )
    .option(
      '--concurrency <n>',
      'jobs of each kind at once (default: FLEET_CONCURRENCY)',
      flagLike('concurrency'),
    )
    .option(
      '--drain <seconds>',
      'how long running jobs may continue when stopping (default: FLEET_DRAIN_SECONDS)',
      flagLike('drainSeconds'),
    )
    .action(work);
}

async function work(options: WorkerCommandOptions): Promise<void> {
  const config = configWith(options);
  const known = await knownKinds(config);
  for (const kind of options.kinds ?? []) known.get(kind);
  const logger = createLogger(config.logLevel);
  const redis = await openRedis(config);
  const traces = await startTraceExporter(logger);
  try {
    const worker = await startWorker(config, redis.url, logger, options);
    const healthFile = new HealthFile(config.healthFile, worker, logger);
    logger.info({ kinds: worker.kinds }, 'worker ready');
    const drainMs = (options.drain ?? config.drainSeconds) * 1_000;
    const stopped = stopSignal((signal, count) => {
      logger.info({ signal }, count === 1 ? 'stopping' : 'stopping at once');
      if (count > 1) worker.abortRunning();
    });
    const unhealthy = await Promise.race([stopped, worker.unhealthy]);
    if (unhealthy !== undefined) {
      logger.fatal(`the worker ends: ${unhealthy}`);
      process.exitCode = 1;
      endLater();
    }
    await worker.stop(unhealthy === undefined ? drainMs : 0);
    healthFile.remove();
    logger.info('worker stopped');
    endLater();
  } finally {
    await traces.shutdown();
    await redis.release();
  }
}

/** Whatever still waits, for a connection or for a job that does not end, must not keep the process. */
function endLater(): void {
  setTimeout(() => process.exit(), LAST_WORD_MS).unref();
}

/** Resolves at the first stop signal; later ones are only reported. */
function stopSignal(onSignal: (signal: string, count: number) => void): Promise<void> {
  let count = 0;
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        count += 1;
        onSignal(signal, count);
        resolve();
      });
    }
  });
}
