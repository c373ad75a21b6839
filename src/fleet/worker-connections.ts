import type { Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { succeedsWithin } from '../async.js';
import { RedisError } from '../errors.js';
import { redisAddress, redisOptionsFrom } from '../queues/redis-address.js';

/** How often a connection is checked, in milliseconds. */
const LOOK_MS = 100;

/** Both connections of a BullMQ worker: for commands, and the one that blocks until there is a job. */
async function connectionsOf(worker: Worker): Promise<readonly { readonly status: string }[]> {
  const { client, blockingClient } = worker.backend;
  return Promise.all(blockingClient === undefined ? [client] : [client, blockingClient]);
}

/** Whether all connections of the workers and the fleet are currently open. */
export async function allConnected(workers: readonly Worker[], others: readonly Redis[]): Promise<boolean> {
  const connections = (await Promise.all(workers.map(connectionsOf))).flat();
  return [...connections, ...others].every(({ status }) => status === 'ready');
}

/**
 * Waits until all connections are open; false if they are not in time. BullMQ's `close` does not wait for running jobs
 * while its blocking connection reconnects.
 */
export async function untilConnected(
  workers: readonly Worker[],
  others: readonly Redis[],
  timeoutMs: number,
): Promise<boolean> {
  const giveUpAt = performance.now() + timeoutMs;
  while (!(await allConnected(workers, others))) {
    if (performance.now() >= giveUpAt) return false;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return true;
}

/**
 * Waits for the start of a worker, whose commands would wait forever for a Redis that died in the meantime. A slow Redis is
 * waited for: its connections stay open.
 * @throws RedisError `redis-unreachable` once a connection has been broken for `redisTimeoutMs`.
 */
export async function unlessAway(
  start: Promise<void>,
  clients: readonly Redis[],
  { redisUrl, redisTimeoutMs }: { readonly redisUrl: string; readonly redisTimeoutMs: number },
): Promise<void> {
  const brokenAt = new Map<Redis, number>();
  const noteBroken = (client: Redis) => () => {
    if (!brokenAt.has(client)) brokenAt.set(client, performance.now());
  };
  const noteReady = (client: Redis) => () => brokenAt.delete(client);
  const listeners = clients.map((client) => ({
    client,
    close: noteBroken(client),
    ready: noteReady(client),
  }));
  for (const { client, close, ready } of listeners) client.on('close', close).on('ready', ready);
  let timer: NodeJS.Timeout | undefined;
  const lost = new Promise<never>((_resolve, reject) => {
    timer = setInterval(() => {
      const now = performance.now();
      if (![...brokenAt.values()].some((at) => now - at >= redisTimeoutMs)) return;
      const endpoint = redisAddress(redisOptionsFrom(redisUrl));
      reject(
        new RedisError(
          'redis-unreachable',
          `Redis at ${endpoint} broke the connection while the worker started, and is away since; start it, then start the worker again.`,
        ),
      );
    }, LOOK_MS);
  });
  try {
    await Promise.race([start, lost]);
  } finally {
    clearInterval(timer);
    for (const { client, close, ready } of listeners) client.off('close', close).off('ready', ready);
  }
}

/** Longer than a new connection takes while Redis answers. */
const RECONNECT_MS = 5_000;

/**
 * Drops the connection on which a worker waits for jobs, and sets the marker by which BullMQ reports jobs: without one, the
 * worker would wait on its new connection for another ten seconds.
 */
export async function wakeWorker(worker: Worker, client: Redis): Promise<void> {
  const blocking = await worker.backend.blockingClient;
  if (blocking === undefined) return;
  const closed = new Promise<void>((resolve) => {
    blocking.once('close', resolve);
  });
  blocking.disconnect(true);
  // Redis would give the marker to the old connection. One that was closed before says so no more.
  await succeedsWithin(closed, RECONNECT_MS);
  await untilConnected([worker], [], RECONNECT_MS);
  await client.zadd(worker.toKey('marker'), 0, '0');
}
