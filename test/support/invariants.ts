import type { Redis } from 'ioredis';
import { examine } from '../../src/fleet/doctor/examine.js';
import { inFlightKey, spendBase } from '../../src/queues/redis-keys.js';

/**
 * What must be true after every test, once its workers have stopped: the doctor finds no problem, and no money is
 * reserved. Gives what is broken, as sentences.
 */
export async function brokenInvariants(client: Redis, prefix: string): Promise<string[]> {
  const { problems } = await examine(client, prefix);
  const broken = problems.map(
    ({ problem, queue, id, detail }) => `${problem}: ${queue ?? ''} ${id}: ${detail}`,
  );
  const underWay = await client.hlen(inFlightKey(prefix));
  if (underWay > 0) broken.push(`${underWay} calls count as under way, though no worker is there`);
  const days = await client.keys(`${spendBase(prefix).replace(/[{}[\]*?\\]/g, '\\$&')}:*`);
  for (const key of days) {
    if ((await client.type(key)) !== 'hash') continue;
    const reserved = Number((await client.hget(key, 'reserved')) ?? 0);
    if (reserved !== 0)
      broken.push(`${key}: ${reserved} nano-dollars are reserved, though no worker is there`);
  }
  return broken;
}

/** @throws Error that lists what is broken. */
export async function checkInvariants(client: Redis, prefix: string): Promise<void> {
  const broken = await brokenInvariants(client, prefix);
  if (broken.length > 0) throw new Error(`invariants of ${prefix} are broken:\n  ${broken.join('\n  ')}`);
}
