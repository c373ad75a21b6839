import { resolve } from 'node:path';
import { chooseRunner, createRunner } from '../agents/select-runner.js';
import { configuredControl } from '../calls/configured-control.js';
import type { Config } from '../config/settings.js';
import { siblingModuleUrl } from '../fleet/compute-thread.js';
import type { Logger } from '../fleet/logger.js';
import { loadTelemetry } from '../fleet/telemetry.js';
import { FleetWorker } from '../fleet/worker.js';
import { isSupervised } from './start/where-jobs-run.js';
import { configuredLimits } from './text-limits.js';
import { configuredTrials } from './trial-settings.js';

export interface WorkerSettings {
  readonly kinds?: readonly string[];
  readonly concurrency?: number;
  /** Prefix of the queues to work on; default: the configured one. */
  readonly prefix?: string;
  /** Directories that agents may read in; default: the configured ones. */
  readonly workspaceRoots?: readonly string[];
}

/** Starts a worker in this process, with the agents that the configuration asks for. */
export async function startWorker(
  config: Config,
  redisUrl: string,
  logger: Logger,
  settings: WorkerSettings = {},
): Promise<FleetWorker> {
  const choice = chooseRunner(config.agent);
  logger.info(choice.reason);
  const telemetry = await loadTelemetry();
  const runner = await createRunner(config, choice);
  return FleetWorker.start({
    redisUrl,
    waitForSlow: isSupervised(config),
    prefix: settings.prefix ?? config.prefix,
    runner:
      telemetry === undefined ? runner : (await import('../fleet/traced-runner.js')).tracedRunner(runner),
    ...(telemetry === undefined ? {} : { telemetry }),
    logger,
    concurrency: settings.concurrency ?? config.concurrency,
    lockMs: config.lockMs,
    // Budget, limits and accounts are the whole fleet's, even if the queues are an invocation's own.
    calls: { ...configuredControl(config), prefix: config.prefix },
    offloadBytes: config.offloadBytes,
    textLimits: configuredLimits(config),
    retentionDays: config.retentionDays,
    jobTimeoutMs: config.jobTimeoutMs,
    analysis: { timeoutMs: config.analysisTimeoutMs, heapMb: config.analysisHeapMb },
    unhealthyMs: config.unhealthyMs,
    workspaces: {
      roots: (settings.workspaceRoots ?? config.workspaceRoots ?? []).map((root) => resolve(root)),
      allowSecrets: config.workspaceSecrets === 'allow',
    },
    trials: configuredTrials(config),
    isolatedProcess: siblingModuleUrl(import.meta.url, 'isolated-process'),
    ...(settings.kinds === undefined ? {} : { kinds: settings.kinds }),
    ...(config.kindsFrom === undefined ? {} : { kindsFrom: config.kindsFrom }),
  });
}
