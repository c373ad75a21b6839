import { RedisConnection } from 'bullmq';
import type { Redis } from 'ioredis';
import { messageOf, RedisError } from '../errors.js';
import { type OptionNames, rejectUnknownOptions } from '../known-options.js';
import { connectWithin, type RedisWaitOptions } from '../queues/connection.js';
import { redisAddress, redisOptionsFrom } from '../queues/redis-address.js';

type RedisFlavor = 'redis' | 'valkey' | 'dragonfly' | 'keydb';

export interface RedisServer {
  /** The server's version in the numbering of its flavor, as in `7.0.15`. */
  readonly version: string;
  readonly flavor: RedisFlavor;
}

export interface RedisCheckOptions extends RedisWaitOptions {
  /** How long to wait for the connection, and for each answer, in milliseconds; default 5,000. */
  readonly timeoutMs?: number;
  /** Called with a message about each check that could not be made. */
  readonly warn?: (message: string) => void;
}

const CHECK_OPTIONS: OptionNames<RedisCheckOptions> = { waitForSlow: true, timeoutMs: true, warn: true };

/**
 * Asserts that the Redis at an address is safe for jobs: it answers, is new enough for BullMQ, accepts writes, and never
 * evicts keys when its memory is full.
 *
 * @param address An address for `redisOptionsFrom`.
 * @throws RedisError `redis-unreachable` if it does not answer in time, `redis-unsuitable` if it must be changed first; the
 *   message says how.
 */
export async function checkRedis(address: string, options: RedisCheckOptions = {}): Promise<RedisServer> {
  rejectUnknownOptions(options, CHECK_OPTIONS);
  const { warn = () => undefined, waitForSlow = false } = options;
  const timeoutMs = waitForSlow ? undefined : (options.timeoutMs ?? 5_000);
  const connection = redisOptionsFrom(address);
  const endpoint = redisAddress(connection);
  const client = await connectWithin(
    {
      ...connection,
      maxRetriesPerRequest: 0,
      ...(timeoutMs === undefined ? {} : { commandTimeout: timeoutMs }),
    },
    timeoutMs,
  );
  try {
    const facts = infoFields(await client.info());
    const server = identify(facts);
    assertNewEnough(server, endpoint, warn);
    assertNotReplica(facts, endpoint);
    if (connection.Connector === undefined) assertNotClusterNode(facts, endpoint);
    assertNoEviction(await evictionPolicy(client, facts), endpoint, warn);
    return server;
  } catch (thrown) {
    if (thrown instanceof RedisError) throw thrown;
    throw checkFailed(thrown, endpoint);
  } finally {
    client.disconnect();
  }
}

function infoFields(info: string): ReadonlyMap<string, string> {
  return new Map(
    info.split(/\r?\n/).flatMap((line) => {
      const colon = line.indexOf(':');
      return colon < 1 || line.startsWith('#')
        ? []
        : [[line.slice(0, colon), line.slice(colon + 1)] as const];
    }),
  );
}

/** Valkey and Dragonfly also report a `redis_version` for compatibility; their own version takes precedence. */
function identify(facts: ReadonlyMap<string, string>): RedisServer {
  const valkey = facts.get('valkey_version');
  if (valkey !== undefined) return { flavor: 'valkey', version: valkey };
  const dragonfly = facts.get('dragonfly_version');
  if (dragonfly !== undefined) return { flavor: 'dragonfly', version: dragonfly.replace(/^\D+/, '') };
  const version = facts.get('redis_version') ?? 'unknown';
  const isKeyDb = facts.get('executable')?.includes('keydb-server') === true;
  return { flavor: isKeyDb ? 'keydb' : 'redis', version };
}

/** The limits are BullMQ's. They are for Redis: forks number their versions differently. */
function assertNewEnough(
  { version, flavor }: RedisServer,
  endpoint: string,
  warn: (message: string) => void,
): void {
  if (flavor !== 'redis') return;
  const { minimumVersion, recommendedMinimumVersion } = RedisConnection;
  if (!isAtLeast(version, minimumVersion)) {
    throw new RedisError(
      'redis-unsuitable',
      `Redis at ${endpoint} is version ${version}, and ${minimumVersion} or newer is needed; upgrade it.`,
    );
  }
  if (!isAtLeast(version, recommendedMinimumVersion)) {
    warn(`Redis at ${endpoint} is version ${version}; ${recommendedMinimumVersion} or newer is recommended.`);
  }
}

/** Compares two versions by their numbers; text that is not a version counts as the oldest. */
export function isAtLeast(version: string, least: string): boolean {
  const found = numbersOf(version);
  if (found.length === 0) return false;
  for (const [index, wanted] of numbersOf(least).entries()) {
    const number = found[index] ?? 0;
    if (number !== wanted) return number > wanted;
  }
  return true;
}

function numbersOf(version: string): number[] {
  const numbers = /^\d+(\.\d+)*/.exec(version)?.[0];
  return numbers === undefined ? [] : numbers.split('.').map(Number);
}

function assertNotReplica(facts: ReadonlyMap<string, string>, endpoint: string): void {
  if (facts.get('role') !== 'slave') return;
  throw new RedisError(
    'redis-unsuitable',
    `Redis at ${endpoint} is a read-only replica; set FLEET_REDIS_URL to its master.`,
  );
}

/** A connection to one node would lose its keys at the next failover. */
function assertNotClusterNode(facts: ReadonlyMap<string, string>, endpoint: string): void {
  if (facts.get('redis_mode') !== 'cluster') return;
  throw new RedisError(
    'redis-unsuitable',
    `Redis at ${endpoint} is a node of a cluster; set FLEET_REDIS_URL to redis+cluster://${endpoint} and FLEET_PREFIX to {fleet}.`,
  );
}

/** The current policy; undefined if the server does not report it. */
async function evictionPolicy(
  client: Redis,
  facts: ReadonlyMap<string, string>,
): Promise<string | undefined> {
  const reported = facts.get('maxmemory_policy');
  if (reported !== undefined) return reported;
  try {
    const answer = (await client.config('GET', 'maxmemory-policy')) as readonly string[];
    return answer[1];
  } catch (thrown) {
    // Managed servers forbid CONFIG; any other failure is a failure of the check.
    if (/unknown command|NOPERM|not allowed|disabled/i.test(messageOf(thrown))) return undefined;
    throw thrown;
  }
}

function assertNoEviction(
  policy: string | undefined,
  endpoint: string,
  warn: (message: string) => void,
): void {
  if (policy === 'noeviction') return;
  if (policy === undefined) {
    warn(
      `Redis at ${endpoint} does not report its maxmemory-policy; make sure that it is noeviction, or jobs may be lost.`,
    );
    return;
  }
  throw new RedisError(
    'redis-unsuitable',
    `Redis at ${endpoint} may drop jobs when its memory is full (maxmemory-policy is ${policy}); ` +
      `set it to noeviction, for instance with: redis-cli CONFIG SET maxmemory-policy noeviction`,
  );
}

function checkFailed(thrown: unknown, endpoint: string): RedisError {
  const message = messageOf(thrown);
  if (/NOPERM|no permissions/i.test(message)) {
    return new RedisError(
      'redis-unsuitable',
      `Redis at ${endpoint} does not let this user run INFO (${message}); BullMQ needs it: grant it with ACL SETUSER.`,
      { cause: thrown },
    );
  }
  return new RedisError(
    'redis-unreachable',
    `Redis at ${endpoint} accepts connections but does not answer (${message}); look at the server, then try again.`,
    { cause: thrown },
  );
}
