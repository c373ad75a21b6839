import { buildPairs, buildRewrites } from './build-pairs.js';

/** Writes one part of the pairs as JSON lines: `npx tsx test/contamination/pairs/write-pairs.ts tuning`. */
const part = process.argv[2];
if (part !== 'tuning' && part !== 'unseen' && part !== 'rewrites') {
  process.stderr.write('expected tuning, unseen or rewrites\n');
  process.exitCode = 2;
} else {
  const pairs = part === 'rewrites' ? buildRewrites() : buildPairs(part);
  for (const pair of pairs) process.stdout.write(`${JSON.stringify(pair)}\n`);
}
