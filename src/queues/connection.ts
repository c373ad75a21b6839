import type { Redis } from 'ioredis';
import { succeedsWithin } from '../async.js';
import { messageOf, RedisError } from '../errors.js';
import {
  FleetRedis,
  type FleetRedisOptions,
  greetingOf,
  isBroken,
  isOfSelect,
  LOADING_PAUSE_MS,
  ProducerRedis,
} from './fleet-redis.js';
import { type RedisConnectionOptions, redisAddress, redisOptionsFrom } from './redis-address.js';
import { isRedirection } from './redis-cluster.js';
import { refusalOf } from './redis-refusal.js';

/** A connection is dead if a reply takes longer than this, in milliseconds; BullMQ's blocking reads take up to 10 s. */
const DEAD_LINK_MS = 11_000;
/** Maximum time that a producer's caller waits for one command, in milliseconds. */
const PRODUCER_COMMAND_MS = 5_000;

export interface RedisWaitOptions {
  /**
   * Waits for each reply without a time limit. It is for a supervised server on this machine: such a server may be slow
   * on a busy machine, and its end is noticed at once. Default: a late reply means a dead connection.
   */
  readonly waitForSlow?: boolean | undefined;
}

/** Whether the address names servers that can be asked for the current master. */
function mayMove({ sentinels, Connector }: RedisConnectionOptions): boolean {
  return sentinels !== undefined || Connector !== undefined;
}

/**
 * Options for a BullMQ `Worker` or `QueueEvents`: it waits for Redis without a limit, reconnects within five seconds of
 * its return, and detects a half-open connection (no reply to a sent command) after 11 seconds.
 */
export function workerConnection(
  address: string,
  { waitForSlow = false }: RedisWaitOptions = {},
): RedisConnectionOptions {
  const target = redisOptionsFrom(address);
  return {
    ...target,
    maxRetriesPerRequest: null,
    maxLoadingRetryTime: LOADING_PAUSE_MS,
    retryStrategy: reconnectDelay,
    // A node that is no longer responsible rejected the command without executing it: it is sent again to the right node.
    ...(mayMove(target) ? { reconnectOnError: (error) => (isRedirection(error) ? 2 : false) } : {}),
    ...(waitForSlow ? {} : { socketTimeout: DEAD_LINK_MS }),
  };
}

/**
 * Options for a BullMQ `Queue` or `FlowProducer` whose caller must get an answer: a command fails at once while Redis is
 * unreachable, and after five seconds on a dead connection, instead of waiting in memory. Commands also fail before the
 * first connection is established: `connectProducer` waits for it.
 */
export function producerConnection(
  address: string,
  { waitForSlow = false }: RedisWaitOptions = {},
): RedisConnectionOptions {
  const target = redisOptionsFrom(address);
  return {
    ...target,
    // A command in flight when the connection breaks is not sent again automatically: it may have been executed.
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    ...(waitForSlow ? {} : { commandTimeout: PRODUCER_COMMAND_MS, socketTimeout: PRODUCER_COMMAND_MS }),
    retryStrategy: reconnectDelay,
    // Only the connection is made again: part of a transaction must not be sent again without the rest.
    ...(mayMove(target) ? { reconnectOnError: (error) => (isRedirection(error) ? 1 : false) } : {}),
  };
}

/**
 * A connected client with `producerConnection`'s options that any number of `Queue` and `FlowProducer` can share.
 * It reconnects by itself later; the caller ends it with `quit()`.
 *
 * @throws RedisError `redis-unreachable` when there is no connection within `timeoutMs`.
 */
export async function connectProducer(
  address: string,
  { timeoutMs = 5_000, waitForSlow = false }: RedisWaitOptions & { readonly timeoutMs?: number } = {},
): Promise<Redis> {
  const options = producerConnection(address, { waitForSlow });
  return connectWithin(options, waitForSlow ? undefined : timeoutMs, ProducerRedis);
}

/**
 * Connects once, without retries, or throws. Without a time limit it waits until the server answers or ends.
 * After that the client uses the options' `retryStrategy`.
 *
 * @throws RedisError `redis-unreachable`; `redis-unsuitable` if the credentials are rejected, or the server has no such
 *   database.
 */
export async function connectWithin(
  options: RedisConnectionOptions,
  timeoutMs: number | undefined,
  Client: new (options: FleetRedisOptions) => FleetRedis = FleetRedis,
): Promise<Redis> {
  let connected = false;
  const { retryStrategy = reconnectDelay } = options;
  const client = new Client({
    ...options,
    lazyConnect: true,
    // 0 turns off the default timeout of ioredis.
    connectTimeout: timeoutMs ?? 0,
    retryStrategy: (times) => (connected ? retryStrategy(times) : null),
  });
  let reason: Error | undefined;
  client.on('error', (error: Error) => {
    // What Redis said is the cause; that the connection then broke is not.
    if (reason === undefined || !(isOfSelect(reason) || refusalOf(reason) !== undefined)) reason = error;
  });
  try {
    const connecting = client.connect();
    if (timeoutMs === undefined) await connecting;
    else if (!(await succeedsWithin(connecting, timeoutMs)))
      throw new Error(`no answer within ${timeoutMs} ms`);
    connected = true;
    return client;
  } catch (thrown) {
    client.disconnect();
    const cause = reason ?? thrown;
    const greeting = cause instanceof Error && isBroken(cause) ? await greetingOf(options) : undefined;
    throw connectionError(greeting === undefined ? cause : new Error(greeting), options);
  }
}

function connectionError(thrown: unknown, options: RedisConnectionOptions): RedisError {
  const address = redisAddress(options);
  const message = messageOf(thrown);
  if (isOfSelect(thrown)) {
    return new RedisError(
      'redis-unsuitable',
      `Redis at ${address} has no database ${options.db} (${message}); correct the number in FLEET_REDIS_URL, or raise \`databases\` of the server.`,
      { cause: thrown },
    );
  }
  if (/NOAUTH|WRONGPASS|NOPERM|without any password configured|invalid password/i.test(message)) {
    return new RedisError(
      'redis-unsuitable',
      `Redis at ${address} refuses the user or password of FLEET_REDIS_URL (${message}); correct them there.`,
      { cause: thrown },
    );
  }
  if (/cluster support disabled/i.test(message)) {
    return new RedisError(
      'redis-unsuitable',
      `Redis at ${address} is no node of a cluster; write redis:// in FLEET_REDIS_URL.`,
      { cause: thrown },
    );
  }
  return new RedisError(
    'redis-unreachable',
    `Redis at ${address} cannot be reached (${message}); start it, or correct FLEET_REDIS_URL.`,
    { cause: thrown },
  );
}

/** Milliseconds before connection attempt number `times` (1, 2, …): 50, 100, 200, … up to 2 s, less up to a quarter. */
function reconnectDelay(times: number): number {
  const base = Math.min(50 * 2 ** Math.min(times - 1, 10), 2_000);
  return Math.round(base * (1 - Math.random() / 4));
}
