import type { Redis } from 'ioredis';
import { inFlightKey, spendBase } from '../../queues/redis-keys.js';
import { runScript } from '../../queues/run-script.js';
import { SWEEP_RESERVATIONS } from '../call-scripts.js';

/**
 * Releases what calls of crashed workers have reserved; each such call is in doubt, at its likely price.
 * @returns how many calls are still under way
 */
export async function sweepReservations(client: Redis, prefix: string): Promise<number> {
  return Number(await runScript(client, SWEEP_RESERVATIONS, [inFlightKey(prefix)], [spendBase(prefix), '']));
}
