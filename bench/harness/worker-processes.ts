import { type RunningCommand, startFleetCommand } from '../../test/support/fleet-command.js';
import type { MessagesApi } from '../../test/support/messages-api.js';
import type { RowContext } from './row.js';

export interface ProcessOptions {
  readonly prefix: string;
  readonly api: MessagesApi;
  readonly concurrency: number;
  readonly lockMs?: number;
}

/** Worker processes as a user starts them, once all of them are ready. */
export async function startWorkerProcesses(
  { redis }: RowContext,
  count: number,
  { prefix, api, concurrency, lockMs = 20_000 }: ProcessOptions,
): Promise<RunningCommand[]> {
  const commands = Array.from({ length: count }, () =>
    startFleetCommand(['worker', '--kinds', 'solution-check', '--concurrency', String(concurrency)], {
      env: {
        FLEET_REDIS_URL: redis.url,
        FLEET_PREFIX: prefix,
        FLEET_LOCK_MS: String(lockMs),
        FLEET_LOG_LEVEL: 'info',
        ANTHROPIC_API_KEY: 'bench',
        ANTHROPIC_BASE_URL: api.url,
      },
    }),
  );
  await Promise.all(commands.map((command) => command.printed('worker ready')));
  return commands;
}
