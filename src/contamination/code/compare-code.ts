import type { SpanPair } from '../types.js';
import type { NormalStatement, Program } from './program.js';
import { likelyRegion, type Region } from './region.js';
import { type Alignment, alignSplitFunctions, alignStatements, pairableWeight } from './renaming.js';
import { type Tile, tile } from './tiling.js';

export interface CodeComparison {
  /** Fraction of the known program that is in the output in stretches, names and literals set aside. */
  readonly containment: number;
  /** Weight of the known program in long stretches that are in the output as they are. */
  readonly amount: number;
  /** Fraction of the known program's statements that are in the output under one renaming, in any order. */
  readonly fingerprint: number;
  /** Weight of the known program, common material taken off. */
  readonly total: number;
  readonly containmentSpans: () => SpanPair[];
  readonly evidenceSpans: () => SpanPair[];
  readonly fingerprintSpans: () => SpanPair[];
}

const CONTAINED_STRETCH = 8;
const LONG_STRETCH = 16;
/** Fraction of the known program that equal templates must allow before functions are looked at one by one. */
const PAIRABLE = 0.55;
/** Fraction that is paired, from which there is nothing more to look for. */
const NEARLY_ALL = 0.9;

/**
 * Compares two programs of one language.
 *
 * @param factors what each statement of the known program counts: 1, less where it is common material
 */
export function compareCode(output: Program, known: Program, factors?: Float32Array): CodeComparison {
  const weights = tokenWeights(known, factors);
  const weigh = (from: number, to: number): number => {
    let sum = 0;
    for (let i = from; i < to; i++) sum += weights[i] as number;
    return sum;
  };
  const total = weigh(0, weights.length);
  const fraction = (weight: number): number => (total === 0 ? 0 : Math.min(1, weight / total));
  const sum = (tiles: readonly Tile[]): number =>
    tiles.reduce((weight, { known: from, length }) => weight + weigh(from, from + length), 0);

  const region = likelyRegion(output, known);
  const [firstToken, lastToken] = tokenRange(output, region);
  const statementWeight = (index: number): number => {
    const { from, to } = known.statements[index] as NormalStatement;
    return weigh(from, to);
  };
  const valued = (alignment: Alignment): Alignment & { readonly fingerprint: number } => ({
    ...alignment,
    fingerprint: fraction(alignment.pairs.reduce((weight, [, index]) => weight + statementWeight(index), 0)),
  });
  const alignments = alignStatements(output, known, region).map(valued);
  if (
    alignments.every((each) => each.fingerprint < NEARLY_ALL) &&
    fraction(pairableWeight(output, known, region, statementWeight)) >= PAIRABLE
  )
    alignments.push(...alignSplitFunctions(output, known, region).map(valued));
  const { pairs, fingerprint } = alignments.reduce((a, b) => (b.fingerprint > a.fingerprint ? b : a));
  const contained = alignments
    .map(({ renaming }) => {
      const [left, right] = renamedTokens(output, known, renaming);
      return tile(left.subarray(firstToken, lastToken), right, CONTAINED_STRETCH).map(
        (found): Tile => ({ ...found, output: found.output + firstToken }),
      );
    })
    .reduce((a, b) => (sum(b) > sum(a) ? b : a));
  const exact = tile(output.tokens.exact, known.tokens.exact, LONG_STRETCH);
  return {
    containment: fraction(sum(contained)),
    amount: sum(exact),
    fingerprint,
    total,
    containmentSpans: () => tileSpans(contained, output, known),
    evidenceSpans: () => tileSpans(exact, output, known),
    fingerprintSpans: () =>
      pairs
        .filter(([, k]) => (known.statements[k] as NormalStatement).weight > 0)
        .map(([o, k]) => ({
          output: statementSpan(output.statements[o] as NormalStatement),
          known: statementSpan(known.statements[k] as NormalStatement),
        })),
  };
}

function tokenWeights(known: Program, factors: Float32Array | undefined): Float32Array {
  if (factors === undefined) return known.tokens.weight;
  const weights = Float32Array.from(known.tokens.weight);
  known.statements.forEach((statement, index) => {
    const factor = factors[index] ?? 1;
    if (factor === 1) return;
    for (let i = statement.from; i < statement.to; i++) weights[i] = (weights[i] as number) * factor;
  });
  return weights;
}

/** Both programs' tokens with literals leveled, and the known program's names as the renaming has them. */
function renamedTokens(
  output: Program,
  known: Program,
  renaming: Alignment['renaming'],
): readonly [Int32Array, Int32Array] {
  const named = ({ tokens }: Program, nameOf: (variable: number, at: number) => number): Int32Array =>
    tokens.leveled.map((hash, at) => {
      const variable = tokens.variable[at] as number;
      return variable < 0 ? hash : nameOf(variable, at);
    });
  if (renaming === undefined) {
    return [
      named(output, (_, at) => output.tokens.exact[at] as number),
      named(known, (_, at) => known.tokens.exact[at] as number),
    ];
  }
  // Numbers of names are small and leveled hashes spread over all 32 bits: they hardly ever meet.
  return [named(output, renaming.outputName), named(known, renaming.knownName)];
}

function tokenRange({ statements }: Program, { from, to }: Region): readonly [number, number] {
  return [statements[from]?.from ?? 0, statements[to - 1]?.to ?? 0];
}

function statementSpan(statement: NormalStatement): readonly [number, number] {
  return [statement.start, statement.end];
}

/** A stretch of tokens may jump where statements were moved, so each statement's part is a span of its own. */
function tileSpans(tiles: readonly Tile[], output: Program, known: Program): SpanPair[] {
  return tiles.map(({ output: o, known: k, length }) => ({
    output: tokenSpan(output, o, length),
    known: tokenSpan(known, k, length),
  }));
}

function tokenSpan({ tokens }: Program, from: number, length: number): readonly [number, number] {
  let start = Number.POSITIVE_INFINITY;
  let end = 0;
  for (let i = from; i < from + length; i++) {
    start = Math.min(start, tokens.start[i] as number);
    end = Math.max(end, tokens.end[i] as number);
  }
  return [start, end];
}
