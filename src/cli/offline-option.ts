import type { Command } from 'commander';
import { chooseRunner } from '../agents/select-runner.js';
import type { Config } from '../config/settings.js';

/** The flag of the commands that also work without a fleet. */
export interface OfflineOption {
  readonly offline?: true;
}

export function withOffline(command: Command): Command {
  return command.option(
    '--offline',
    'static analysis alone, in this process: sends nothing anywhere and needs no Redis',
  );
}

/** Which agent answers and why, as a line for people. Where a configured Redis is not used, it says so. */
export function agentReason({ agent, redisUrl }: Config, { offline }: OfflineOption): string {
  const reason =
    offline === true ? 'agents: offline static analysis (--offline)' : chooseRunner(agent).reason;
  return redisUrl === undefined ? reason : `${reason}; FLEET_REDIS_URL is not used`;
}
