import { performance } from 'node:perf_hooks';
import { ContaminationDetector } from '../../src/contamination/index.js';
import { trigramSimilarity } from '../../src/contamination/text/trigram-similarity.js';
import { buildPairs } from '../../test/contamination/pairs/build-pairs.js';
import { publishedSimilarity } from '../peers/published-similarity.js';

/** One pair at a time: `node --import tsx bench/contamination/pair.ts`. */
const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

function timed(rounds: number, work: () => unknown): number {
  const took: number[] = [];
  for (let i = 0; i < rounds; i++) {
    const start = performance.now();
    work();
    took.push(performance.now() - start);
  }
  return median(took);
}

/** 100 kB of programs that people wrote; another selection for every start. */
const programs = buildPairs('tuning').map((pair) => pair.known);
const long = (start: number): string => {
  let text = '';
  for (let i = start; text.length < 100_000; i += 7) text += programs[i % programs.length];
  return text.slice(0, 100_000);
};
const [a, b] = [long(0), long(3)];
const fast = trigramSimilarity(a, b);
if (fast !== publishedSimilarity(a, b)) throw new Error('the fast similarity differs from the published one');
timed(20, () => trigramSimilarity(a, b));
const published = timed(15, () => publishedSimilarity(a, b));
const ours = timed(60, () => trigramSimilarity(a, b));
process.stdout.write(
  `trigram similarity at 100 kB: published ${published.toFixed(2)} ms, ours ${ours.toFixed(2)} ms, ${(published / ours).toFixed(1)} times as fast, same result (${fast})\n`,
);

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
