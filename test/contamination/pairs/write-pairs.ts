import { buildPairs } from './build-pairs.js';

/** Writes one part of the pairs as JSON lines: `npx tsx test/contamination/pairs/write-pairs.ts tuning`. */
const part = process.argv[2];
if (part !== 'tuning' && part !== 'unseen') {
  process.stderr.write('expected tuning or unseen\n');
  process.exitCode = 2;
} else {
  for (const pair of buildPairs(part)) process.stdout.write(`${JSON.stringify(pair)}\n`);
}
