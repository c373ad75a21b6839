import { chooseRunner } from '../../agents/select-runner.js';
import type { Config } from '../../config/settings.js';

/** Whether the Redis is one that a supervisor on this machine keeps: its end shows at once, so a late reply is none. */
export function isSupervised(config: Config): boolean {
  return config.redisUrl === undefined;
}

/**
 * Whether a command that reads files does the work in this process, and sends nothing anywhere. So it is where the offline
 * agent was asked for, whatever Redis is configured: its workers may have other agents. Where no agent was asked for, a configured Redis
 * decides, and without one whether there is a key.
 */
export function runsHere(config: Pick<Config, 'agent' | 'redisUrl'>): boolean {
  if (config.agent === 'offline') return true;
  return config.redisUrl === undefined && chooseRunner(config.agent).name === 'offline';
}
