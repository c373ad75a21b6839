/**
 * The fleet's known set at full size: `npx tsx bench/known-import.ts [COUNT]` imports random programs into a Redis of its
 * own, builds a worker's index from it, and prints how long each took and how many entries it has.
 */
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { InvertedIndex } from '../src/contamination/index.js';
import { importKnown } from '../src/known/import-known.js';
import { KnownIndexFollower } from '../src/known/known-index-follower.js';
import { KnownStore } from '../src/known/known-store.js';
import { seeded } from '../test/contamination/pairs/corpus.js';
import { randomProgram } from './contamination/random-programs.js';
import { startBenchRedis } from './harness/bench-redis.js';
import { timed } from './harness/statistics.js';

const COUNT = Number(process.argv[2] ?? 100_000);
const folder = await mkdtemp(join(tmpdir(), 'fleet-known-'));
const file = join(folder, 'known.jsonl');
const random = seeded(11);
const out = createWriteStream(file);
for (let index = 0; index < COUNT; index += 1) {
  out.write(`${JSON.stringify({ testCaseId: `task-${index}`, solution: randomProgram(random) })}\n`);
}
out.end();
await finished(out);

const redis = await startBenchRedis();
try {
  const store = new KnownStore(redis.client, 'bench');
  const importMs = await timed(() => importKnown(store, file));
  const before = process.memoryUsage();
  const follower = new KnownIndexFollower(store, new InvertedIndex());
  const indexMs = await timed(() => follower.current());
  const after = process.memoryUsage();
  const grown = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
  process.stdout.write(
    [
      `${await store.size()} known solutions`,
      `import: ${(importMs / 1_000).toFixed(1)} s`,
      `index of a worker: ${(indexMs / 1_000).toFixed(1)} s, ${Math.round(grown / 1e6)} MB`,
      `Redis: ${Math.round((await redis.memory()) / 1e6)} MB`,
      '',
    ].join('\n'),
  );
} finally {
  await redis.close();
  await rm(folder, { recursive: true, force: true });
}
