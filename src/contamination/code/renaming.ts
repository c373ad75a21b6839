import type { NormalStatement, Program } from './program.js';
import type { Region } from './region.js';

/** Statements of the known program that are in the output too, under one consistent renaming. */
export interface Alignment {
  /** Pairs of statement indices, each statement used once. */
  readonly pairs: Pairs;
  /** Variable of the output for a variable of the known program; undefined where nothing was renamed. */
  readonly renaming: ReadonlyMap<number, number> | undefined;
}

/** Statements that are written so often that their pairings say nothing about who is who. */
const MAX_BUCKET_SIZE = 400;
const ROUNDS = 3;

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
  const renaming = findRenaming(buckets, output, known);
  const variables = (program: Program, index: number): readonly number[] =>
    (program.statements[index] as NormalStatement).variables;
  const named = (program: Program, index: number): string =>
    variables(program, index)
      .map((name) => program.names[name])
      .join(',');
  const unchanged = pairUp(
    buckets,
    (index) => named(output, index),
    (index) => named(known, index),
  );
  const renamed = pairUp(
    buckets,
    (index) => variables(output, index).join(','),
    (index) =>
      variables(known, index)
        .map((name) => renaming.get(name) ?? -1)
        .join(','),
  );
  return [
    { pairs: unchanged, renaming: undefined },
    { pairs: renamed, renaming },
  ];
}

type Pairs = readonly (readonly [output: number, known: number])[];

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

function findRenaming(buckets: readonly Bucket[], output: Program, known: Program): Map<number, number> {
  const renaming = new Map<number, number>();
  const taken = new Map<number, number>();
  for (let round = 0; round < ROUNDS; round++) {
    const votes = countVotes(buckets, output, known, renaming, taken);
    if (votes.length === 0) break;
    // Early rounds settle only what is clear, so that the later ones vote with it.
    const threshold = round === ROUNDS - 1 ? 0 : (votes[0]?.votes ?? 0) * 0.5;
    for (const { from, to, votes: count } of votes) {
      if (count < threshold) break;
      if (renaming.has(from) || taken.has(to)) continue;
      renaming.set(from, to);
      taken.set(to, from);
    }
  }
  return renaming;
}

interface NamePair {
  readonly from: number;
  readonly to: number;
  votes: number;
}

function countVotes(
  buckets: readonly Bucket[],
  output: Program,
  known: Program,
  renaming: ReadonlyMap<number, number>,
  taken: ReadonlyMap<number, number>,
): NamePair[] {
  const pairs = new Map<number, NamePair>();
  const width = output.names.length;
  for (const bucket of buckets) {
    if (bucket.output.length * bucket.known.length > MAX_BUCKET_SIZE) continue;
    for (const k of bucket.known) {
      const from = known.statements[k] as NormalStatement;
      if (from.variables.length === 0) continue;
      const possible = bucket.output.filter((o) =>
        agrees(from, output.statements[o] as NormalStatement, renaming, taken),
      );
      for (const o of possible) {
        const to = output.statements[o] as NormalStatement;
        const vote = from.weight / (possible.length * Math.sqrt(bucket.known.length));
        from.variables.forEach((name, slot) => {
          if (renaming.has(name)) return;
          const other = to.variables[slot] as number;
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

function agrees(
  from: NormalStatement,
  to: NormalStatement,
  renaming: ReadonlyMap<number, number>,
  taken: ReadonlyMap<number, number>,
): boolean {
  return from.variables.every((name, slot) => {
    const other = to.variables[slot] as number;
    const settled = renaming.get(name);
    return settled === undefined ? !taken.has(other) : settled === other;
  });
}
