import { addJobs } from '../../src/producers/add-jobs.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import type { KindName } from '../../src/queues/registry.js';
import { type RunningCommand, startFleetCommand } from '../../test/support/fleet-command.js';
import { type Script, startMessagesApi } from '../../test/support/messages-api.js';
import { endWithBench } from './end-with-bench.js';
import type { RowContext } from './row.js';

export interface ProcessOptions {
  readonly prefix: string;
  /** URL of a Messages API. Without one, the workers answer offline. */
  readonly apiUrl?: string;
  readonly kinds?: readonly KindName[];
  readonly concurrency: number;
  readonly lockMs?: number;
  readonly logLevel?: string;
  /** More settings of the workers. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Worker processes as a user starts them, once all of them are ready. */
export async function startWorkerProcesses(
  { redis }: RowContext,
  count: number,
  options: ProcessOptions,
): Promise<RunningCommand[]> {
  const { prefix, apiUrl, kinds = ['solution-check'], concurrency, lockMs = 20_000 } = options;
  const commands = Array.from({ length: count }, () =>
    startFleetCommand(['worker', '--kinds', kinds.join(','), '--concurrency', String(concurrency)], {
      env: {
        FLEET_REDIS_URL: redis.url,
        FLEET_PREFIX: prefix,
        FLEET_LOCK_MS: String(lockMs),
        FLEET_LOG_LEVEL: options.logLevel ?? 'info',
        ...(apiUrl === undefined
          ? { FLEET_AGENT: 'offline' }
          : { ANTHROPIC_API_KEY: 'bench', ANTHROPIC_BASE_URL: apiUrl }),
        ...options.settings,
      },
    }),
  );
  for (const { child } of commands) endWithBench(child);
  await Promise.all(commands.map((command) => command.printed('worker ready')));
  return commands;
}

export async function killAll(commands: readonly RunningCommand[]): Promise<void> {
  await Promise.all(commands.map((command) => command.end('SIGKILL')));
}

/** A fleet without workers, and a Messages API in this process. */
export interface ProcessBench {
  readonly fleet: FleetClient;
  readonly api: Awaited<ReturnType<typeof startMessagesApi>>;
  readonly prefix: string;
}

export async function withProcessBench<T>(
  context: RowContext,
  reply: Script,
  action: (bench: ProcessBench) => Promise<T>,
): Promise<T> {
  const prefix = context.prefix();
  const api = await startMessagesApi({ reply });
  const fleet = await FleetClient.open({ redisUrl: context.redis.url, prefix });
  try {
    return await action({ fleet, api, prefix });
  } finally {
    await fleet.close();
    await api.close();
  }
}

/** Submits so many different solution checks; the script of each prints its number. */
export async function submitChecks(fleet: FleetClient, count: number): Promise<void> {
  const items = Array.from({ length: count }, (_, index) => ({
    kind: 'solution-check' as const,
    payload: { solution: { content: `print(${index})\n` } },
  }));
  await addJobs(fleet, items);
}
