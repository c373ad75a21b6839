import { type Commonness, distinctiveWeight, statementWeights } from './code/common-material.js';
import { type CodeComparison, compareCode } from './code/compare-code.js';
import { originalSpans, type PreparedText } from './prepared-text.js';
import { compareProse } from './prose/compare-prose.js';
import {
  CONTAINMENT_THRESHOLD,
  EVIDENCE_THRESHOLD,
  evidenceNeeded,
  FINGERPRINT_THRESHOLD,
  MINIMUM_TOKENS,
  MINIMUM_WORDS,
  thresholdForSize,
  WORDING_THRESHOLD,
} from './thresholds.js';
import type { SpanPair } from './types.js';

/** Thresholds for one pair, before they are fitted to the size of the known solution. */
export interface PairThresholds {
  readonly containment: number;
  readonly evidence: number;
  readonly fingerprint: number;
  readonly wording: number;
}

const DEFAULT_PAIR_THRESHOLDS: PairThresholds = {
  containment: CONTAINMENT_THRESHOLD,
  evidence: EVIDENCE_THRESHOLD,
  fingerprint: FINGERPRINT_THRESHOLD,
  wording: WORDING_THRESHOLD,
};

export type PairCheckName = keyof PairThresholds;

/** One number of a comparison. */
interface Measure {
  readonly value: number;
  readonly threshold: number;
  readonly spans: () => SpanPair[];
}

/** What the comparison of an output with one known solution gave; a check that cannot tell says why. */
export interface PairComparison {
  readonly measures: Readonly<Partial<Record<PairCheckName, Measure>>>;
  readonly skipped: Readonly<Partial<Record<PairCheckName, string>>>;
}

export interface PairContext {
  readonly thresholds?: PairThresholds;
  readonly starter?: PreparedText | undefined;
  readonly commonness?: Commonness | undefined;
  readonly minimumTokens?: number;
}

/** Compares an output with one known solution, as code or as prose, whatever the known solution is. */
export function comparePair(
  output: PreparedText,
  known: PreparedText,
  context: PairContext = {},
): PairComparison {
  return known.kind === 'prose'
    ? compareAsProse(output, known, context)
    : compareAsCode(output, known, context);
}

function compareAsCode(output: PreparedText, known: PreparedText, context: PairContext): PairComparison {
  const language = known.kind === 'prose' ? 'generic' : known.kind;
  const program = known.program(language);
  const minimum = context.minimumTokens ?? MINIMUM_TOKENS;
  if (program.size < minimum)
    return tooLittle(`the known solution has ${program.size} code tokens, ${minimum} are needed`, 'wording');
  const factors = statementWeights(program, context.starter?.program(language), context.commonness);
  const comparison = compareCode(output.program(language), program, factors);
  if (comparison.total < minimum / 6 || distinctiveWeight(program, factors) < minimum / 6) {
    return tooLittle('nearly all of the known solution is starter text or common material', 'wording');
  }
  return {
    measures: codeMeasures(comparison, context.thresholds ?? DEFAULT_PAIR_THRESHOLDS, output, known),
    skipped: { wording: 'the known solution is code' },
  };
}

function codeMeasures(
  comparison: CodeComparison,
  thresholds: PairThresholds,
  output: PreparedText,
  known: PreparedText,
): PairComparison['measures'] {
  const { total } = comparison;
  return {
    containment: {
      value: comparison.containment,
      threshold: thresholdForSize(thresholds.containment, total),
      spans: () => originalSpans(comparison.containmentSpans(), output, known),
    },
    evidence: {
      value: comparison.amount / evidenceNeeded(total, 'code'),
      threshold: thresholds.evidence,
      spans: () => originalSpans(comparison.evidenceSpans(), output, known),
    },
    fingerprint: {
      value: comparison.fingerprint,
      threshold: thresholdForSize(thresholds.fingerprint, total),
      spans: () => originalSpans(comparison.fingerprintSpans(), output, known),
    },
  };
}

function compareAsProse(output: PreparedText, known: PreparedText, context: PairContext): PairComparison {
  const count = known.words.hash.length;
  if (count < MINIMUM_WORDS)
    return tooLittle(`the known solution has ${count} words, ${MINIMUM_WORDS} are needed`, 'fingerprint');
  const thresholds = context.thresholds ?? DEFAULT_PAIR_THRESHOLDS;
  const comparison = compareProse(output.words, known.words);
  const spans = (): SpanPair[] => originalSpans(comparison.spans(), output, known);
  return {
    measures: {
      containment: { value: comparison.containment, threshold: thresholds.containment, spans },
      evidence: {
        value: comparison.amount / evidenceNeeded(comparison.total, 'prose'),
        threshold: thresholds.evidence,
        spans,
      },
      wording: { value: comparison.wording, threshold: thresholds.wording, spans },
    },
    skipped: { fingerprint: 'the known solution is prose' },
  };
}

function tooLittle(why: string, other: PairCheckName): PairComparison {
  const reason = `too little to tell: ${why}`;
  const names: readonly PairCheckName[] = ['containment', 'evidence', 'fingerprint', 'wording'];
  const skipped = Object.fromEntries(names.filter((name) => name !== other).map((name) => [name, reason]));
  const not = other === 'wording' ? 'the known solution is code' : 'the known solution is prose';
  return { measures: {}, skipped: { ...skipped, [other]: not } };
}
