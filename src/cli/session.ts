import { resolve } from 'node:path';
import { chooseRunner, createRunner } from '../agents/select-runner.js';
import { configuredControl } from '../calls/configured-control.js';
import type { Config } from '../config/settings.js';
import { acquireEmbeddedRedis } from '../fleet/embedded-redis.js';
import { createLogger, type Logger } from '../fleet/logger.js';
import { FleetWorker } from '../fleet/worker.js';
import { FleetConnection } from '../producers/fleet-connection.js';
import type { KindName } from '../queues/registry.js';

export interface WorkerSettings {
  readonly kinds?: readonly KindName[];
  readonly concurrency?: number;
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
  return FleetWorker.start({
    redisUrl,
    prefix: config.prefix,
    runner: await createRunner(config, choice),
    logger,
    concurrency: settings.concurrency ?? config.concurrency,
    lockMs: config.lockMs,
    calls: configuredControl(config),
    offloadBytes: config.offloadBytes,
    ...(settings.kinds === undefined ? {} : { kinds: settings.kinds }),
  });
}

/** The Redis of a command: the configured one, or the project's embedded one until it is released. */
export async function openRedis(config: Config): Promise<{ url: string; release(): Promise<void> }> {
  if (config.redisUrl !== undefined) return { url: config.redisUrl, release: async () => undefined };
  return acquireEmbeddedRedis(resolve(config.dataDirectory));
}

export interface Session {
  readonly fleet: FleetConnection;
  close(): Promise<void>;
}

/**
 * What a command needs to talk to the fleet. Without a configured Redis, the embedded one is started, and with
 * `work` also a worker in this process; with one, workers are somebody else's.
 */
export async function openSession(config: Config, { work }: { readonly work: boolean }): Promise<Session> {
  const redis = await openRedis(config);
  const closers: (() => Promise<void>)[] = [() => redis.release()];
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    if (work && config.redisUrl === undefined) {
      // A command shows its jobs' failures itself; of its worker, only the choice of agents is worth a line.
      process.stderr.write(`${chooseRunner(config.agent).reason}\n`);
      const logger = createLogger(process.env.FLEET_LOG_LEVEL === undefined ? 'fatal' : config.logLevel);
      const worker = await startWorker(config, redis.url, logger);
      closers.push(() => worker.stop(config.drainSeconds * 1_000));
    }
    const fleet = await FleetConnection.open({
      redisUrl: redis.url,
      prefix: config.prefix,
      limits: { textBytes: config.textBytes, largeTextBytes: config.largeTextBytes },
      retentionDays: config.retentionDays,
      offloadBytes: config.offloadBytes,
    });
    closers.push(() => fleet.close());
    return { fleet, close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

/** Opens a session, does something with it, and closes it whatever happens. */
export async function withSession<T>(
  config: Config,
  options: { readonly work: boolean },
  action: (fleet: FleetConnection) => Promise<T>,
): Promise<T> {
  const session = await openSession(config, options);
  try {
    return await action(session.fleet);
  } finally {
    await session.close();
  }
}
