import { buildHandmade, buildIndependent, buildPairs, buildRewrites } from './build-pairs.js';

/** Writes one part of the pairs as JSON lines: `npx tsx test/contamination/pairs/write-pairs.ts tuning`. */
const PARTS = {
  tuning: () => buildPairs('tuning'),
  unseen: () => buildPairs('unseen'),
  fresh: () => buildPairs('fresh'),
  handmade: buildHandmade,
  rewrites: buildRewrites,
  independent: buildIndependent,
};
const part = process.argv[2] ?? '';
if (!Object.hasOwn(PARTS, part)) {
  process.stderr.write(`expected one of ${Object.keys(PARTS).join(', ')}\n`);
  process.exitCode = 2;
} else {
  for (const pair of PARTS[part as keyof typeof PARTS]()) process.stdout.write(`${JSON.stringify(pair)}\n`);
}
