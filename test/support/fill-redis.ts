import { randomBytes, randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';

const PREFIX = 'foreign:';

/** Fills Redis with keys of another program until it accepts no more. */
export async function fillWithForeignKeys(client: Redis): Promise<void> {
  const value = randomBytes(64 * 1_024);
  for (const size of [value.length, 4_096, 256, 1]) {
    for (;;) {
      try {
        await client.set(`${PREFIX}${randomUUID()}`, value.subarray(0, size));
      } catch {
        // Redis rejects it: the next size may still fit.
        break;
      }
    }
  }
}

export async function removeForeignKeys(client: Redis): Promise<void> {
  for (const key of await client.keys(`${PREFIX}*`)) await client.unlink(key);
}
