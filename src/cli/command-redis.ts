import { resolve } from 'node:path';
import { type Config, SETTINGS } from '../config/settings.js';
import { ConfigurationError } from '../errors.js';
import { acquireEmbeddedRedis } from '../fleet/embedded-redis.js';
import { escapeControlCharsInLine } from './terminal/escape-control-chars.js';
import { printNote } from './terminal/print.js';

const REDIS_VARIABLE = SETTINGS.redisUrl.variable;
const NO_REDIS = `${REDIS_VARIABLE}: is not set, and ${SETTINGS.embeddedRedis.variable} is off (as in the container image): set it to the Redis of the fleet`;

export interface CommandRedis {
  readonly url: string;
  /** Aborted where the server and its data are gone; absent where they come back. */
  readonly lost?: AbortSignal;
  release(): Promise<void>;
}

/**
 * The Redis of a command: the configured one, or the project's embedded one until it is released.
 * @throws ConfigurationError if there is neither.
 */
export async function openRedis(config: Config): Promise<CommandRedis> {
  if (config.redisUrl !== undefined) return { url: config.redisUrl, release: async () => undefined };
  if (config.embeddedRedis === 'off') throw new ConfigurationError(NO_REDIS, { field: REDIS_VARIABLE });
  const redis = await acquireEmbeddedRedis(resolve(config.dataDirectory));
  if (redis.unusedData !== undefined) {
    printNote(escapeControlCharsInLine(unusedDataNote(redis.unusedData)));
  }
  return redis;
}

function unusedDataNote(path: string): string {
  return `data of version 0.1.0 in ${path} are not used; docs/upgrading.md says how to move them`;
}
