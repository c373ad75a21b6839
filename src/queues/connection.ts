import { Redis } from 'ioredis';
import { messageOf, RedisError } from '../errors.js';
import { type RedisConnectionOptions, redisAddress, redisOptionsFrom } from './redis-address.js';
import { saysElsewhere } from './redis-cluster.js';

/** A reply that is this late (milliseconds) means a dead link: longer than any blocking read of BullMQ (10 s). */
const DEAD_LINK_MS = 11_000;
/** A producer's caller waits no longer than this (milliseconds) for one command. */
const PRODUCER_COMMAND_MS = 5_000;

export interface RedisPatience {
  /**
   * Waits for each reply, however late: for a server on this machine that a supervisor watches. Such a server may be slow
   * on a busy machine, and its end shows at once. Default: a late reply means a dead link.
   */
  readonly waitForSlow?: boolean | undefined;
}

/** Whether there is anybody to ask where the master is by now. */
function mayMove({ sentinels, Connector }: RedisConnectionOptions): boolean {
  return sentinels !== undefined || Connector !== undefined;
}

/**
 * Options for a BullMQ `Worker` or `QueueEvents`: waits for Redis for as long as it takes, reconnects within
 * five seconds of its return, and notices a half-open link (no reply to a sent command) after 11 seconds.
 */
export function workerConnection(
  address: string,
  { waitForSlow = false }: RedisPatience = {},
): RedisConnectionOptions {
  const place = redisOptionsFrom(address);
  return {
    ...place,
    maxRetriesPerRequest: null,
    retryStrategy: reconnectDelay,
    // Refused by a node that is the wrong one by now, so not carried out: it is sent again to the right one.
    ...(mayMove(place) ? { reconnectOnError: (error) => (saysElsewhere(error) ? 2 : false) } : {}),
    ...(waitForSlow ? {} : { socketTimeout: DEAD_LINK_MS }),
  };
}

/**
 * Options for a BullMQ `Queue` or `FlowProducer` whose caller must get an answer: a command fails at once while
 * Redis is away, and after five seconds on a dead link, instead of waiting in memory.
 * Before the first connection stands every command fails too: `connectProducer` waits for it.
 */
export function producerConnection(
  address: string,
  { waitForSlow = false }: RedisPatience = {},
): RedisConnectionOptions {
  const place = redisOptionsFrom(address);
  return {
    ...place,
    // A command in flight when the link breaks is never sent again on its own: it may have been carried out.
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    ...(waitForSlow ? {} : { commandTimeout: PRODUCER_COMMAND_MS, socketTimeout: PRODUCER_COMMAND_MS }),
    retryStrategy: reconnectDelay,
    // Only the connection is made anew: part of a transaction must not be sent again without the rest.
    ...(mayMove(place) ? { reconnectOnError: (error) => (saysElsewhere(error) ? 1 : false) } : {}),
  };
}

/**
 * A connected client with `producerConnection`'s options, to be handed to any number of `Queue` and
 * `FlowProducer`. It reconnects by itself later; the caller ends it with `quit()`.
 *
 * @throws RedisError `redis-unreachable` when there is no connection within `timeoutMs`.
 */
export async function connectProducer(
  address: string,
  { timeoutMs = 5_000, waitForSlow = false }: RedisPatience & { readonly timeoutMs?: number } = {},
): Promise<Redis> {
  return connectWithin(producerConnection(address, { waitForSlow }), waitForSlow ? undefined : timeoutMs);
}

/**
 * Connects once, without trying again, or throws. Without a time limit it waits until the server answers or ends.
 * The client goes on with the options' own `retryStrategy` after that.
 *
 * @throws RedisError `redis-unreachable`; `redis-unsuitable` where the credentials are refused.
 */
export async function connectWithin(
  options: RedisConnectionOptions,
  timeoutMs: number | undefined,
): Promise<Redis> {
  let connected = false;
  const { retryStrategy = reconnectDelay } = options;
  const client = new Redis({
    ...options,
    lazyConnect: true,
    // 0 is none for ioredis, which else has one of its own.
    connectTimeout: timeoutMs ?? 0,
    retryStrategy: (times) => (connected ? retryStrategy(times) : null),
  });
  let reason: unknown;
  client.on('error', (error) => {
    reason = error;
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    if (timeoutMs === undefined) return;
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    await Promise.race([client.connect(), late]);
    connected = true;
    return client;
  } catch (thrown) {
    client.disconnect();
    throw connectionError(reason ?? thrown, redisAddress(options));
  } finally {
    clearTimeout(timer);
  }
}

function connectionError(thrown: unknown, address: string): RedisError {
  const message = messageOf(thrown);
  if (/NOAUTH|WRONGPASS|NOPERM|without any password configured|invalid password/i.test(message)) {
    return new RedisError(
      'redis-unsuitable',
      `Redis at ${address} refuses the user or password of FLEET_REDIS_URL; correct them there.`,
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

const LOST_CONNECTION =
  /Stream isn't writeable|Connection is closed|max retries per request|Command timed out|Socket timeout|^(LOADING|MOVED|READONLY|CLUSTERDOWN|MASTERDOWN) |ECONNREFUSED|ECONNRESET|EPIPE|connect ENOENT|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH|EAI_AGAIN/;

/** Why Redis did not carry out a command: a transaction that it discarded says only that, and names the errors beside. */
function reasonOf(thrown: Error): Error {
  const { previousErrors } = thrown as { previousErrors?: unknown };
  const [first] = Array.isArray(previousErrors) ? (previousErrors as unknown[]) : [];
  return first instanceof Error ? first : thrown;
}

/** Whether a command was refused since Redis has no memory left. */
export function saysFull(thrown: unknown): boolean {
  return thrown instanceof Error && /\bOOM command not allowed/.test(reasonOf(thrown).message);
}

/**
 * Gives what a Redis command threw a type: an error that only says "Redis is away" becomes
 * `RedisError` `redis-unreachable`; any other is returned as it is.
 */
export function asRedisError(thrown: unknown): unknown {
  if (thrown instanceof RedisError || !(thrown instanceof Error)) return thrown;
  const { message } = reasonOf(thrown);
  if (!LOST_CONNECTION.test(message)) return thrown;
  return new RedisError(
    'redis-unreachable',
    `Redis did not answer (${message}); the request may be sent again once it is back.`,
    { cause: thrown },
  );
}

/** Milliseconds before connection attempt number `times` (1, 2, …): 50, 100, 200, … up to 2 s, less up to a quarter. */
function reconnectDelay(times: number): number {
  const base = Math.min(50 * 2 ** Math.min(times - 1, 10), 2_000);
  return Math.round(base * (1 - Math.random() / 4));
}
