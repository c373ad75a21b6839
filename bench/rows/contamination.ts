import { trigramSimilarity } from '../../src/contamination/similarity.js';
import { NOISE, TEXT_KINDS, type TextKind } from '../contamination/text-kinds.js';
import type { BenchRow } from '../harness/row.js';
import { median } from '../harness/statistics.js';
import { publishedSimilarity } from '../peers/published-similarity.js';

interface Times {
  readonly ours: number;
  readonly published: number;
}

/** Processor time of one call in milliseconds: on a busy machine, waiting for a core would be most of the elapsed time. */
function processorTime(calls: number, work: () => unknown): number {
  const before = process.cpuUsage();
  for (let call = 0; call < calls; call += 1) work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / calls;
}

/** Times of one comparison; the two algorithms alternate, so a busy machine slows both. */
function measure(kind: TextKind, size: number): Times {
  const [first, second] = kind.pair(size);
  if (trigramSimilarity(first, second) !== publishedSimilarity(first, second)) {
    throw new Error(`the fast form gives another number than the published one for ${kind.name}`);
  }
  const rounds = size >= 1_000_000 ? 1 : 5;
  const calls = Math.max(1, 100_000 / size);
  const ours: number[] = [];
  const published: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    published.push(processorTime(calls, () => publishedSimilarity(first, second)));
    ours.push(processorTime(3 * calls, () => trigramSimilarity(first, second)));
  }
  return { ours: median(ours), published: median(published) };
}

function row(kilobytes: number, runs: number): BenchRow {
  return {
    name: `contamination ${kilobytes} kB`,
    work: `exact trigram Jaccard of two texts of ${kilobytes} kB: the smallest ratio of ${TEXT_KINDS.length} kinds of text`,
    target: kilobytes === 100 ? { atLeast: 10 } : null,
    ...comparison(TEXT_KINDS, kilobytes, runs),
  };
}

function comparison(
  kinds: readonly TextKind[],
  kilobytes: number,
  runs: number,
): Pick<BenchRow, 'against' | 'runs' | 'run'> {
  return {
    against: 'the published algorithm',
    runs,
    run: async () => {
      const details: Record<string, string> = {};
      let smallest = Number.POSITIVE_INFINITY;
      for (const kind of kinds) {
        const { ours, published } = measure(kind, kilobytes * 1_000);
        const ratio = published / ours;
        smallest = Math.min(smallest, ratio);
        details[`${kind.name}:`] =
          `${ratio.toFixed(1)} (${ours.toPrecision(2)} ms, published ${published.toPrecision(3)} ms)`;
      }
      return { ratio: smallest, details };
    },
  };
}

export const contaminationRows: readonly BenchRow[] = [
  row(1, 9),
  row(10, 9),
  row(100, 9),
  row(1_000, 5),
  {
    name: 'contamination noise',
    work: 'exact trigram Jaccard of two times 100 kB of random UTF-16 units, which is no text',
    target: null,
    ...comparison([NOISE], 100, 9),
  },
];
