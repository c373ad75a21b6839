import { readdirSync, readFileSync } from 'node:fs';
import { trigramSimilarity } from '../../src/contamination/text/trigram-similarity.js';
import { packagePath } from '../../src/package-root.js';
import type { BenchRow } from '../harness/row.js';
import { median, timed } from '../harness/statistics.js';
import { publishedSimilarity } from '../peers/published-similarity.js';

/** All files below a folder with an ending, one behind the other. */
function textOf(folder: string, ending: string): string {
  return readdirSync(packagePath(folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .sort()
    .map((file) => readFileSync(packagePath(folder, file), 'utf8'))
    .join('\n');
}

/**
 * Two texts of so many characters, alike in a half, made of this project's own sources: people's code and prose have
 * many more different trigrams than generated text, and the published algorithm's time goes with these.
 */
function pairOf(size: number): [string, string] {
  const first = textOf('src', '.ts').slice(0, size);
  const other = (textOf('docs', '.md') + textOf('test', '.ts')).slice(0, size);
  return [first, first.slice(0, size / 2) + other.slice(size / 2)];
}

function row(kilobytes: number, runs: number): BenchRow {
  return {
    name: `contamination ${kilobytes} kB`,
    work: `exact trigram Jaccard of two texts of ${kilobytes} kB`,
    against: 'the published algorithm',
    target: kilobytes === 100 ? { atLeast: 10 } : null,
    runs,
    run: async () => {
      const [first, second] = pairOf(kilobytes * 1_000);
      const repeat = kilobytes >= 1_000 ? 1 : 5;
      const ours: number[] = [];
      const theirs: number[] = [];
      for (let index = 0; index < repeat; index += 1) {
        ours.push(await timed(async () => trigramSimilarity(first, second)));
        theirs.push(await timed(async () => publishedSimilarity(first, second)));
      }
      if (trigramSimilarity(first, second) !== publishedSimilarity(first, second)) {
        throw new Error('the fast form gives another number than the published one');
      }
      return {
        ratio: median(theirs) / median(ours),
        figures: { ours: `${median(ours).toFixed(2)} ms`, published: `${median(theirs).toFixed(1)} ms` },
      };
    },
  };
}

export const contaminationRows: readonly BenchRow[] = [row(1, 5), row(10, 5), row(100, 5), row(1_000, 3)];
