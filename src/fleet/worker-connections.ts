import type { Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { succeedsWithin } from '../async.js';

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
