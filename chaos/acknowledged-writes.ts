/**
 * How many acknowledged writes are lost when the Redis process is killed: `npx tsx chaos/acknowledged-writes.ts
 * [always|everysec] [kills]`. Eight clients write as fast as they can.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { startTestRedis } from '../test/support/redis.js';

const CLIENTS = 8;
const PADDING = 'x'.repeat(200);

const [mode = 'everysec', kills = '20'] = process.argv.slice(2);

/** Writes 1, 2, 3, … until its Redis is killed. */
function startWriter(path: string, key: string) {
  const client = new Redis({ path, retryStrategy: () => null, maxRetriesPerRequest: 0 });
  client.on('error', () => undefined);
  const acknowledgedAt: number[] = [];
  const write = async (): Promise<never> => {
    for (;;) {
      await client.set(key, `${acknowledgedAt.length + 1}:${PADDING}`);
      acknowledgedAt.push(performance.now());
    }
  };
  // Its Redis is killed meanwhile.
  const gone = write().catch(() => client.disconnect());
  return { key, acknowledgedAt, gone };
}

async function main(): Promise<void> {
  const redis = await startTestRedis(['--appendfsync', mode]);
  let acknowledged = 0;
  let lost = 0;
  let killsWithLoss = 0;
  let oldestMs = 0;
  try {
    for (let kill = 0; kill < Number(kills); kill += 1) {
      const writers = Array.from({ length: CLIENTS }, (_, number) =>
        startWriter(redis.socketPath, `${kill} ${number}`),
      );
      await wait(1_200 + Math.random() * 1_500);
      await redis.kill();
      const killedAt = performance.now();
      await Promise.all(writers.map(({ gone }) => gone));
      await redis.restart();
      const reader = new Redis({ path: redis.socketPath });
      let lostNow = 0;
      for (const { key, acknowledgedAt } of writers) {
        const kept = Number((await reader.get(key))?.split(':')[0] ?? 0);
        acknowledged += acknowledgedAt.length;
        lostNow += Math.max(0, acknowledgedAt.length - kept);
        const firstLost = acknowledgedAt[kept];
        if (firstLost !== undefined) oldestMs = Math.max(oldestMs, killedAt - firstLost);
      }
      lost += lostNow;
      if (lostNow > 0) killsWithLoss += 1;
      await reader.flushall();
      reader.disconnect();
    }
  } finally {
    await redis.stop();
  }
  process.stdout.write(
    `${mode}: ${acknowledged} writes acknowledged, ${lost} of them lost at ${killsWithLoss} of ${kills} kills; the oldest was ${Math.round(oldestMs)} ms old\n`,
  );
}

await main();
