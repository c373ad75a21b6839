import { trigramSimilarity } from '../../src/contamination/text/trigram-similarity.js';
import { TEXT_KINDS, type TextKind } from '../contamination/text-kinds.js';
import type { BenchRow } from '../harness/row.js';
import { median, timed } from '../harness/statistics.js';
import { publishedSimilarity } from '../peers/published-similarity.js';

interface Times {
  readonly ours: number;
  readonly published: number;
}

/** Times of one comparison in milliseconds, the two algorithms taking turns so that a busy machine slows both. */
async function measure(kind: TextKind, size: number): Promise<Times> {
  const [first, second] = kind.pair(size);
  if (trigramSimilarity(first, second) !== publishedSimilarity(first, second)) {
    throw new Error(`the fast form gives another number than the published one for ${kind.name}`);
  }
  const turns = size >= 1_000_000 ? 1 : 5;
  const ours: number[] = [];
  const published: number[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    published.push(await timed(async () => publishedSimilarity(first, second)));
    // Three, since one is so short that a single interruption would be most of it.
    for (let again = 0; again < 3; again += 1) {
      ours.push(await timed(async () => trigramSimilarity(first, second)));
    }
  }
  return { ours: median(ours), published: median(published) };
}

function row(kilobytes: number, runs: number): BenchRow {
  return {
    name: `contamination ${kilobytes} kB`,
    work: `exact trigram Jaccard of two texts of ${kilobytes} kB: the kind of text with the smallest ratio of ${TEXT_KINDS.length}`,
    against: 'the published algorithm',
    target: kilobytes === 100 ? { atLeast: 10 } : null,
    runs,
    run: async () => {
      const figures: Record<string, string> = {};
      let smallest = Number.POSITIVE_INFINITY;
      for (const kind of TEXT_KINDS) {
        const { ours, published } = await measure(kind, kilobytes * 1_000);
        const ratio = published / ours;
        smallest = Math.min(smallest, ratio);
        figures[`${kind.name}:`] =
          `${ratio.toFixed(1)} (${ours.toPrecision(2)} ms, published ${published.toPrecision(3)} ms)`;
      }
      return { ratio: smallest, figures };
    },
  };
}

export const contaminationRows: readonly BenchRow[] = [row(1, 5), row(10, 5), row(100, 5), row(1_000, 1)];
