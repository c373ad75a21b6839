import { performance } from 'node:perf_hooks';
import { ContaminationDetector } from '../../src/contamination/index.js';
import { buildPairs } from '../../test/contamination/pairs/build-pairs.js';

/** One pair at a time: `node --import tsx bench/contamination/pair.ts`. */
const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const pairs = buildPairs('unseen').filter((pair) => {
  const lines = pair.known.split('\n').length;
  return lines >= 28 && lines <= 36 && pair.kind !== 'embedded-code';
});
const detector = new ContaminationDetector({ skipChecks: ['crossTask'] });
for (const [i, pair] of pairs.entries()) detector.addToTrainingSet(`task-${i}`, pair.known);
const whole: number[] = [];
for (let round = 0; round < 6; round++) {
  for (const [i, pair] of pairs.entries()) {
    const start = performance.now();
    await detector.checkContamination(pair.output, { id: `task-${i}`, name: '', difficulty: 'easy' });
    if (round > 1) whole.push(performance.now() - start);
  }
}
whole.sort((x, y) => x - y);
process.stdout.write(
  `all checks of a pair of 28 to 36 lines, warm: median ${median(whole).toFixed(3)} ms, p95 ${(whole[Math.floor(whole.length * 0.95)] ?? 0).toFixed(3)} ms (${pairs.length} pairs)\n`,
);
