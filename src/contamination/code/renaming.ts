import { ATTRIBUTE } from './names.js';
import type { NormalStatement, Program } from './program.js';
import type { Region } from './region.js';
import { TOP } from './statement.js';

/** Statements of the known program that are in the output too, under one consistent renaming. */
export interface Alignment {
  /** Pairs of statement indices, each statement used once. */
  readonly pairs: Pairs;
  /** What the variables of both programs are called so that renamed ones are equal; undefined where nothing was renamed. */
  readonly renaming: Renaming | undefined;
}

/** One name for a variable of the known program and the one of the output that stands for it. */
interface Renaming {
  outputName(variable: number): number;
  knownName(variable: number): number;
}

/**
 * Which variables may stand for which. `one-to-one`: each for one. `split`: a function of the known program may be split into
 * several of the output, so a variable may have another name in each function of the output. `joined`: the reverse.
 */
type Mode = 'one-to-one' | 'split' | 'joined';

/** Statements that are written so often that their pairings say nothing about who is who. */
const MAX_BUCKET_SIZE = 400;
const ROUNDS = 3;
/** No name of a variable: names of both programs that stand for nothing must not be equal. */
const NO_NAME = -1;

/**
 * Pairs the known program's statements with those of the output, whatever their order, in two ways.
 *
 * With names as they are: nothing renamed is a renaming too, and the right one where other code in the output
 * outvotes it. And under the one-to-one renaming under which most statements fit: statements with the same
 * template vote for the pairs of names in their slots, weighted by what they say and by how few occurrences they
 * could go to; the renaming takes the pairs in the order of their votes as long as they contradict none before.
 *
 * @param region the part of the output to look at; all of it where left out
 */
export function alignStatements(output: Program, known: Program, region?: Region): Alignment[] {
  const buckets = bucketsByTemplate(output, known, region ?? { from: 0, to: output.statements.length });
  const named = (program: Program) => (index: number) =>
    variablesOf(program, index)
      .map((name) => program.names[name])
      .join(',');
  return [
    { pairs: pairUp(buckets, named(output), named(known)), renaming: undefined },
    alignRenamed(buckets, findRenaming(buckets, output, known, 'one-to-one'), output, known),
  ];
}

/**
 * Pairs the statements of two programs of which one has functions that the other has not. Where a function was split into
 * several, or several were joined, a variable has one name in each of them, so the renaming need not be one-to-one. A second
 * function counts only if most of the smaller of both functions is paired, because two programs always share some statements.
 */
export function alignSplitFunctions(output: Program, known: Program, region: Region): Alignment[] {
  const buckets = bucketsByTemplate(output, known, region);
  return (['split', 'joined'] as const).map((mode) => {
    const names = findRenaming(buckets, output, known, mode);
    const { pairs } = alignRenamed(buckets, names, output, known);
    const functions = pairedFunctions(pairs, output, known, mode);
    const accepted = names.filter(({ from, to }) => {
      const [k, o] = [known.owners[from] as number, output.owners[to] as number];
      return (k < 0 && k === o) || functions.has(functionPair(k, o));
    });
    return alignRenamed(buckets, accepted, output, known);
  });
}

/** The largest weight of the known program that any renaming can pair: that of statements with equal templates. */
export function pairableWeight(
  output: Program,
  known: Program,
  region: Region,
  weightOf: (index: number) => number,
): number {
  return bucketsByTemplate(output, known, region).reduce(
    (sum, bucket) =>
      sum + bucket.known.slice(0, bucket.output.length).reduce((part, index) => part + weightOf(index), 0),
    0,
  );
}

type Pairs = readonly (readonly [output: number, known: number])[];

function alignRenamed(
  buckets: readonly Bucket[],
  names: readonly NamePair[],
  output: Program,
  known: Program,
): Alignment {
  const ofOutput = new Map<number, number>();
  const ofKnown = new Map<number, number>();
  names.forEach(({ from, to }, at) => {
    const name = ofKnown.get(from) ?? ofOutput.get(to) ?? at;
    ofKnown.set(from, name);
    ofOutput.set(to, name);
  });
  const renaming: Renaming = {
    outputName: (variable) => ofOutput.get(variable) ?? NO_NAME - 1,
    knownName: (variable) => ofKnown.get(variable) ?? NO_NAME,
  };
  const pairs = pairUp(
    buckets,
    (index) => variablesOf(output, index).map(renaming.outputName).join(','),
    (index) => variablesOf(known, index).map(renaming.knownName).join(','),
  );
  return { pairs, renaming };
}

function variablesOf(program: Program, index: number): readonly number[] {
  return (program.statements[index] as NormalStatement).variables;
}

/** Pairs the statements of each bucket whose keys are equal, each once. */
function pairUp(
  buckets: readonly Bucket[],
  outputKey: (index: number) => string,
  knownKey: (index: number) => string,
): Pairs {
  const pairs: [number, number][] = [];
  for (const bucket of buckets) {
    const free = new Map<string, number[]>();
    for (const index of bucket.output) {
      const key = outputKey(index);
      const list = free.get(key);
      if (list === undefined) free.set(key, [index]);
      else list.push(index);
    }
    for (const list of free.values()) list.reverse();
    for (const index of bucket.known) {
      const match = free.get(knownKey(index))?.pop();
      if (match !== undefined) pairs.push([match, index]);
    }
  }
  return pairs;
}

interface Bucket {
  readonly output: number[];
  readonly known: number[];
}

function bucketsByTemplate(output: Program, known: Program, region: Region): Bucket[] {
  const byTemplate = new Map<string, Bucket>();
  known.statements.forEach((statement, index) => {
    const bucket = byTemplate.get(statement.template);
    if (bucket === undefined) byTemplate.set(statement.template, { output: [], known: [index] });
    else bucket.known.push(index);
  });
  for (let index = region.from; index < region.to; index++) {
    byTemplate.get((output.statements[index] as NormalStatement).template)?.output.push(index);
  }
  return [...byTemplate.values()].filter((bucket) => bucket.output.length > 0);
}

/** Number of a pair of functions, or of positions outside of one. */
const functionPair = (known: number, output: number): number =>
  (known - ATTRIBUTE) * 0x1000000 + (output - ATTRIBUTE);

const MIN_FRACTION = 0.6;
/** Weight of paired statements below which a second function may be there by chance. */
const MIN_WEIGHT = 14;

/** The pairs of functions that stand for each other: for each the heaviest, and others of which most is paired. */
function pairedFunctions(pairs: Pairs, output: Program, known: Program, mode: Mode): ReadonlySet<number> {
  const paired = new Map<number, { readonly k: number; readonly o: number; weight: number }>();
  for (const [outputIndex, knownIndex] of pairs) {
    const { scope: o } = output.statements[outputIndex] as NormalStatement;
    const { scope: k, weight } = known.statements[knownIndex] as NormalStatement;
    const entry = paired.get(functionPair(k, o));
    if (entry === undefined) paired.set(functionPair(k, o), { k, o, weight });
    else entry.weight += weight;
  }
  const [outputWeights, knownWeights] = [functionWeights(output), functionWeights(known)];
  const settled = new Set<number>();
  const found = new Set<number>();
  for (const { k, o, weight } of [...paired.values()].sort((a, b) => b.weight - a.weight)) {
    const one = mode === 'split' ? k : o;
    const whole = mode === 'split' ? (outputWeights.get(o) ?? 0) : (knownWeights.get(k) ?? 0);
    const isPart = weight >= MIN_WEIGHT && weight >= MIN_FRACTION * whole;
    if (!settled.has(one) || isPart) found.add(functionPair(k, o));
    settled.add(one);
  }
  return found;
}

function functionWeights({ statements }: Program): Map<number, number> {
  const weights = new Map<number, number>();
  for (const { scope, weight } of statements) weights.set(scope, (weights.get(scope) ?? 0) + weight);
  return weights;
}

interface NamePair {
  readonly from: number;
  readonly to: number;
  votes: number;
}

/** The pairs of variables that are settled. */
class Settled {
  readonly pairs: NamePair[] = [];
  readonly #images = new Map<number, number>();
  readonly #origins = new Set<number>();

  constructor(
    readonly output: Program,
    readonly known: Program,
    readonly mode: Mode,
  ) {}

  /** Whether the pair contradicts none before. */
  agrees(from: number, to: number): boolean {
    const image = this.#images.get(this.#fromKey(from, to));
    return image === undefined ? !this.#origins.has(this.#toKey(from, to)) : image === to;
  }

  /** Whether it is settled what stands for the known variable there. */
  knows(from: number, to: number): boolean {
    return this.#images.has(this.#fromKey(from, to));
  }

  add(pair: NamePair): void {
    this.#images.set(this.#fromKey(pair.from, pair.to), pair.to);
    this.#origins.add(this.#toKey(pair.from, pair.to));
    this.pairs.push(pair);
  }

  #fromKey(from: number, to: number): number {
    return this.mode === 'split' ? keyOf(from, this.output.owners[to]) : from;
  }

  #toKey(from: number, to: number): number {
    return this.mode === 'joined' ? keyOf(to, this.known.owners[from]) : to;
  }
}

const keyOf = (variable: number, owner: number = TOP): number => variable * 0x1000000 + (owner - ATTRIBUTE);

function findRenaming(
  buckets: readonly Bucket[],
  output: Program,
  known: Program,
  mode: Mode,
): readonly NamePair[] {
  const settled = new Settled(output, known, mode);
  for (let round = 0; round < ROUNDS; round++) {
    const votes = countVotes(buckets, output, known, settled);
    if (votes.length === 0) break;
    // Early rounds settle only what is clear, so that the later ones vote with it.
    const threshold = round === ROUNDS - 1 ? 0 : (votes[0]?.votes ?? 0) * 0.5;
    for (const pair of votes) {
      if (pair.votes < threshold) break;
      if (!settled.knows(pair.from, pair.to) && settled.agrees(pair.from, pair.to)) settled.add(pair);
    }
  }
  return settled.pairs;
}

function countVotes(
  buckets: readonly Bucket[],
  output: Program,
  known: Program,
  settled: Settled,
): NamePair[] {
  const pairs = new Map<number, NamePair>();
  const width = output.names.length;
  for (const bucket of buckets) {
    if (bucket.output.length * bucket.known.length > MAX_BUCKET_SIZE) continue;
    for (const k of bucket.known) {
      const from = known.statements[k] as NormalStatement;
      if (from.variables.length === 0) continue;
      const possible = bucket.output.filter((o) =>
        from.variables.every((name, slot) => settled.agrees(name, variablesOf(output, o)[slot] as number)),
      );
      for (const o of possible) {
        const to = output.statements[o] as NormalStatement;
        const vote = from.weight / (possible.length * Math.sqrt(bucket.known.length));
        from.variables.forEach((name, slot) => {
          const other = to.variables[slot] as number;
          if (settled.knows(name, other)) return;
          const same = known.names[name] === output.names[other] ? 1.25 : 1;
          const key = name * width + other;
          const pair = pairs.get(key);
          if (pair === undefined) pairs.set(key, { from: name, to: other, votes: vote * same });
          else pair.votes += vote * same;
        });
      }
    }
  }
  return [...pairs.values()].sort((a, b) => b.votes - a.votes || a.from - b.from || a.to - b.to);
}
