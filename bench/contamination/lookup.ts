import {
  ContaminationDetector,
  fingerprintsOf,
  InvertedIndex,
  MemoryKnownSet,
  PreparedText,
  queryFingerprints,
} from '../../src/contamination/index.js';
import { completeKnownSolution } from '../../src/contamination/known-set.js';
import { buildPairs } from '../../test/contamination/pairs/build-pairs.js';
import { seeded } from '../../test/contamination/pairs/corpus.js';
import { randomProgram } from './random-programs.js';

/**
 * Look-ups over a large known set: `node --expose-gc --import tsx bench/contamination/lookup.ts [COUNT]`. The set has random
 * programs and the known solutions of the project's own pairs; the look-ups are for disguised copies of these.
 */
const COUNT = Number(process.argv[2] ?? 100_000);
// The machine may be busy with other things: only the processor time of the look-up counts.
const computed = (since: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1_000;
};
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;
const collect = (): number => {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};
const at = (sorted: readonly number[], fraction: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(fraction * sorted.length))] ?? 0;
const times = (all: readonly number[]): string => {
  const sorted = [...all].sort((a, b) => a - b);
  return `p50 ${at(sorted, 0.5).toFixed(2)} ms, p95 ${at(sorted, 0.95).toFixed(2)} ms, p99 ${at(sorted, 0.99).toFixed(2)} ms`;
};

const random = seeded(7);
const pairs = [...buildPairs('tuning'), ...buildPairs('unseen')];
const texts = new Set(pairs.map((pair) => pair.known));
while (texts.size < COUNT) texts.add(randomProgram(random));
const known = [...texts].map((solution, i) => completeKnownSolution({ testCaseId: `task-${i}`, solution }));

const readStart = process.cpuUsage();
const prints = known.map((each) => fingerprintsOf(new PreparedText(each.solution)));
process.stdout.write(
  `fingerprints of ${known.length} texts: ${(computed(readStart) / 1_000).toFixed(1)} s\n`,
);

const before = collect();
const buildStart = process.cpuUsage();
const index = new InvertedIndex();
for (const [i, each] of known.entries()) index.add(each, prints[i] as Int32Array);
process.stdout.write(
  `index of ${index.size}: ${(computed(buildStart) / 1_000).toFixed(2)} s, ${megabytes(collect() - before)}\n`,
);

const set = new MemoryKnownSet();
const setStart = process.cpuUsage();
for (const each of known) set.add(each);
process.stdout.write(`known set with texts from nothing: ${(computed(setStart) / 1_000).toFixed(1)} s\n`);

const copies = pairs.filter((pair) => pair.label === 'contaminated');
const clean = pairs.filter((pair) => pair.kind === 'different-task');
const hashes = new Map(known.map((each) => [each.solution, each.hash]));
const search: number[] = [];
const whole: number[] = [];
const detector = new ContaminationDetector({}, { store: set, index: set.index });
let first = 0;
let found = 0;
for (const pair of copies) {
  const prepared = queryFingerprints(new PreparedText(pair.output));
  const searchStart = process.cpuUsage();
  index.search(prepared, 6);
  search.push(computed(searchStart));
  const start = process.cpuUsage();
  const { checks } = await detector.checkContamination(pair.output, {
    id: 'none',
    name: '',
    difficulty: 'easy',
  });
  whole.push(computed(start));
  const { crossTask } = checks;
  if (crossTask?.status !== 'ran') continue;
  // A match with the other text (the filler of an embedded copy) is also correct.
  const right =
    crossTask.known?.hash === hashes.get(pair.known) ||
    known.some((each) => each.hash === crossTask.known?.hash && pair.output.includes(each.solution.trim()));
  if (right) first += 1;
  if (right && crossTask.contaminated) found += 1;
}
process.stdout.write(`search alone (processor time): ${times(search)}\n`);
process.stdout.write(`whole check of an output against the set (processor time): ${times(whole)}\n`);
process.stdout.write(
  `right known first: ${first} of ${copies.length} (${((first / copies.length) * 100).toFixed(1)} %), flagged by crossTask ${((found / copies.length) * 100).toFixed(1)} %\n`,
);

const unrelated = new MemoryKnownSet();
for (const each of known.slice(-700)) unrelated.add(each);
const small = new ContaminationDetector({}, { store: unrelated, index: unrelated.index });
let alarms = 0;
for (const pair of clean) {
  const { contaminated } = await small.checkContamination(pair.output, {
    id: 'none',
    name: '',
    difficulty: 'easy',
  });
  if (contaminated) alarms += 1;
}
process.stdout.write(
  `clean outputs with a hit over ${unrelated.size} unrelated: ${alarms} of ${clean.length}\n`,
);
