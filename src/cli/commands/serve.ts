import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { configuredModel } from '../../agents/select-runner.js';
import type { Config } from '../../config/settings.js';
import { createLogger } from '../../fleet/logger.js';
import { checkRedis } from '../../fleet/redis-check.js';
import { loadTelemetry } from '../../fleet/telemetry.js';
import { startTraceExporter } from '../../fleet/trace-exporter.js';
import type { FleetWorker } from '../../fleet/worker.js';
import type { GatewaySettings } from '../../gateway/gateway.js';
import { FleetClient } from '../../producers/fleet-client.js';
import { clientOptions } from '../client-options.js';
import { openRedis } from '../command-redis.js';
import { costReader } from '../cost-reader.js';
import { type KindsFromOption, knownKinds, withKindsFrom } from '../known-kinds.js';
import { agentAnswers } from '../mcp/agent-answers.js';
import { configWith } from '../start/config-with.js';
import { escapeControlCharsInLine } from '../terminal/escape-control-chars.js';
import { print, printNote } from '../terminal/print.js';

/** Well below the idle time after which common proxies cut a connection, in milliseconds. */
const STREAM_PING_MS = 10_000;

interface ServeOptions extends KindsFromOption {
  readonly port: number;
  readonly host: string;
  readonly workers: number;
}

function wholeNumber(from: number, to: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || !Number.isInteger(value) || value < from || value > to) {
      throw new InvalidArgumentError(`expected a whole number, ${from} to ${to}`);
    }
    return value;
  };
}

export function addServeCommand(program: Command): void {
  withKindsFrom(program.command('serve'))
    .description('Serve the HTTP API, the overview, Bull Board and metrics until stopped.')
    .option('--port <n>', 'port to listen on; 0 picks a free one', wholeNumber(0, 65_535), 8080)
    .option('--host <host>', 'address to listen on; other than loopback needs a token', '127.0.0.1')
    .option('--workers <n>', 'workers to run inside, for small set-ups', wholeNumber(0, 64), 0)
    .action(serve);
}

/** What of the configuration concerns the gateway. */
export function gatewaySettings(config: Config): GatewaySettings {
  return {
    bodyBytes: config.bodyBytes,
    maxWaiting: config.maxWaiting,
    requestsPerMinute: config.requestsPerMinute,
    models: config.models ?? [configuredModel(config) ?? []].flat(),
    workspaceRoots: config.workspaceRoots?.map((root) => resolve(root)),
    auth: config.auth,
    loginsPerMinute: config.loginsPerMinute,
    maxConnections: config.maxConnections,
    maxWaits: config.maxWaits,
    maxStreams: config.maxStreams,
    maxReads: config.maxReads,
    secureCookies: config.secureCookies === 'on',
    streamPingMs: STREAM_PING_MS,
    trustedHosts: config.trustedHosts ?? [],
  };
}

async function serve(options: ServeOptions): Promise<void> {
  const config = configWith(options);
  const kinds = await knownKinds(config);
  const logger = createLogger(config.logLevel);
  // Other commands must not load Express.
  const { startGateway } = await import('../../gateway/server.js');
  const telemetry = await loadTelemetry();
  const redis = await openRedis(config);
  const traces = await startTraceExporter(logger);
  const workers: FleetWorker[] = [];
  const agents = agentAnswers(config);
  try {
    const gateway = await startGateway({
      host: options.host,
      port: options.port,
      settings: gatewaySettings(config),
      logger,
      redisUrl: redis.url,
      kinds,
      openFleet: async () => {
        await checkRedis(redis.url, { warn: (message) => logger.warn(message) });
        return FleetClient.open({
          ...clientOptions(config, redis.url, kinds),
          ...(telemetry === undefined ? {} : { telemetry }),
        });
      },
      costs: costReader,
      answerAgent: agents.answer,
      announce: (message) => printNote(`\n${message}\n`),
    });
    try {
      const stopped = firstStopSignal();
      for (let count = 0; count < options.workers; count += 1) {
        const { startWorker } = await import('../start-worker.js');
        workers.push(await startWorker(config, redis.url, logger));
      }
      print(`listening on ${escapeControlCharsInLine(gateway.url)}`);
      logger.info({ signal: await stopped }, 'stopping');
    } finally {
      await gateway.close();
      await agents.close();
      await Promise.all(workers.map((worker) => worker.stop(config.drainSeconds * 1_000)));
    }
  } finally {
    await traces.shutdown();
    await redis.release();
  }
}

/** Resolves at the first stop signal; a second one ends the process at once. */
function firstStopSignal(): Promise<string> {
  return new Promise((resolveSignal) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        process.once(signal, () => process.exit(1));
        resolveSignal(signal);
      });
    }
  });
}
