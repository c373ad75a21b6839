import { ContaminationDetector, MemoryKnownSet } from '../../src/contamination/index.js';
import { completeKnownSolution } from '../../src/contamination/known-set.js';
import { trigramSimilarity } from '../../src/contamination/similarity.js';
import { buildPairs } from '../../test/contamination/pairs/build-pairs.js';
import { seeded } from '../../test/contamination/pairs/corpus.js';
import { randomProgram } from '../contamination/random-programs.js';
import type { NotMeasured, RowContext, RowGroup, Sample } from '../harness/row.js';
import { median, percentile, timed } from '../harness/statistics.js';
import { dolosComparison } from '../peers/dolos.js';

const KNOWN = 100_000;
const RUNS = 5;
const NO_CASE = { id: 'none', name: '', difficulty: 'easy' as const };

type Pair = ReturnType<typeof buildPairs>[number];

const words = (count: number) => count.toLocaleString('en');

/** Random programs, and the known solutions of the pairs among them. */
function knownTexts(pairs: readonly Pair[], count: number): string[] {
  const random = seeded(7);
  const texts = new Set(pairs.map((pair) => pair.known));
  while (texts.size < count) texts.add(randomProgram(random));
  return [...texts];
}

/** Milliseconds of each check of an output against the whole set. */
async function setChecks(detector: ContaminationDetector, outputs: readonly string[]): Promise<number[]> {
  const times: number[] = [];
  for (const output of outputs) times.push(await timed(() => detector.checkContamination(output, NO_CASE)));
  return times;
}

/** Milliseconds of comparing one output with every known text by the fast similarity, one after the other. */
function linearScan(output: string, known: readonly string[]): Promise<number> {
  let most = 0;
  return timed(async () => {
    for (const text of known) most = Math.max(most, trigramSimilarity(output, text));
  });
}

async function againstSet(context: RowContext, pairs: readonly Pair[]): Promise<[Sample[], Sample[]]> {
  const known = knownTexts(pairs, context.short ? 3_000 : KNOWN);
  const set = new MemoryKnownSet();
  for (const [index, solution] of known.entries()) {
    set.add(completeKnownSolution({ testCaseId: `task-${index}`, solution }));
  }
  const detector = new ContaminationDetector({}, { store: set, index: set.index });
  const all = pairs.map((pair) => pair.output);
  await setChecks(detector, all.slice(0, 100));
  const speed: Sample[] = [];
  const scan: Sample[] = [];
  for (let run = 0; run < (context.short ? 1 : RUNS); run += 1) {
    // Together the runs check every output once.
    const outputs = all.filter((_, index) => index % RUNS === run);
    const times = await setChecks(detector, outputs);
    const scanned: number[] = [];
    for (const output of outputs.slice(0, 3)) scanned.push(await linearScan(output, known));
    const [half, most] = [percentile(times, 0.5), percentile(times, 0.99)];
    speed.push({
      ratio: most,
      details: { p50: `${half.toFixed(2)} ms`, p99: `${most.toFixed(2)} ms`, outputs: words(outputs.length) },
    });
    scan.push({
      ratio: median(scanned) / half,
      details: { set: `${half.toFixed(2)} ms`, scan: `${median(scanned).toFixed(0)} ms` },
    });
  }
  return [speed, scan];
}

/** Pair by pair, both warm: all checks of an output against one known solution, and Dolos on the same two texts. */
async function againstDolos(context: RowContext, pairs: readonly Pair[]): Promise<Sample[] | NotMeasured> {
  const dolos = await dolosComparison();
  if ('missing' in dolos) return { notMeasured: dolos.missing };
  const python = pairs.filter((pair) => pair.language === 'python').slice(0, context.short ? 20 : 100);
  const detector = new ContaminationDetector({ skipChecks: ['crossTask'] });
  for (const [index, pair] of python.entries()) detector.addToTrainingSet(`task-${index}`, pair.known);
  const round = async () => {
    const [ours, theirs]: [number[], number[]] = [[], []];
    for (const [index, { known, output }] of python.entries()) {
      const testCase = { ...NO_CASE, id: `task-${index}` };
      ours.push(await timed(() => detector.checkContamination(output, testCase)));
      theirs.push(await timed(() => dolos.compare(known, output)));
    }
    return { ours: median(ours), theirs: median(theirs) };
  };
  await round();
  const samples: Sample[] = [];
  for (let run = 0; run < (context.short ? 1 : RUNS); run += 1) {
    const { ours, theirs } = await round();
    samples.push({
      ratio: theirs / ours,
      details: {
        ours: `${ours.toFixed(2)} ms`,
        Dolos: `${theirs.toFixed(2)} ms`,
        pairs: words(python.length),
      },
    });
  }
  return samples;
}

export const contaminationSet: RowGroup = {
  rows: [
    {
      name: 'contamination set',
      work: `whole check of an output against ${words(KNOWN)} known solutions, p99`,
      against: 'nothing: a time',
      target: { atMost: 10 },
      unit: 'ms',
    },
    {
      name: 'contamination set vs scan',
      work: `the same, p50`,
      against: 'a linear scan: the fast trigram similarity with each known solution',
      target: null,
    },
    {
      name: 'contamination vs Dolos',
      work: 'all checks of a Python output against one known solution',
      against: '@dodona/dolos-lib on the same pairs',
      target: { atLeast: 1 },
    },
  ],
  shortSeconds: null,
  measure: async (context) => {
    const pairs = [...buildPairs('tuning'), ...buildPairs('unseen')];
    const [speed, scan] = await againstSet(context, pairs);
    return {
      'contamination set': speed,
      'contamination set vs scan': scan,
      'contamination vs Dolos': await againstDolos(context, pairs),
    };
  },
};
