import { z } from 'zod';
import { PayloadError } from '../errors.js';
import { CHECKS } from './checks.js';
import {
  CONTAINMENT_THRESHOLD,
  EVIDENCE_THRESHOLD,
  FINGERPRINT_THRESHOLD,
  MINIMUM_TOKENS,
  WORDING_THRESHOLD,
} from './thresholds.js';

const fraction = z.number().min(0).max(1);
const count = z.int('expected a whole number').nonnegative();

/** Settings of the detector. The bounds of SPEC-SIL-009 are 0.95 (similarity), 0.1 (time) and 3 (thoughts). */
export const ContaminationConfigSchema = z.strictObject({
  similarityThreshold: fraction.describe('Trigram similarity above which an output is a copy.'),
  fastSolveThreshold: z
    .number()
    .min(0)
    .describe('Fraction of the expected time below which a solve is too fast.'),
  minExplorationDepth: count.describe('A chain with fewer exploring thoughts than this is suspicious.'),
  containmentThreshold: fraction.describe('Fraction of the known solution found in stretches.'),
  evidenceThreshold: z
    .number()
    .min(0)
    .describe('Weight in long stretches, in multiples of the required weight.'),
  fingerprintThreshold: fraction.describe('Fraction of the known statements found under one renaming.'),
  wordingThreshold: fraction.describe('Fraction of a known text found with single words replaced.'),
  minimumTokens: count.describe('Known code with fewer tokens is too short to compare.'),
  skipChecks: z.array(z.enum(CHECKS)).max(100).readonly().describe('Checks that do not run.'),
});
export type ContaminationConfig = Readonly<z.infer<typeof ContaminationConfigSchema>>;

/** Settings of one submission or detector: what is left out keeps its default. */
export const ContaminationConfigInputSchema = ContaminationConfigSchema.partial();
export type ContaminationConfigInput = Readonly<z.input<typeof ContaminationConfigInputSchema>>;

export const DEFAULT_CONTAMINATION_CONFIG: ContaminationConfig = Object.freeze({
  similarityThreshold: 0.95,
  fastSolveThreshold: 0.1,
  minExplorationDepth: 3,
  containmentThreshold: CONTAINMENT_THRESHOLD,
  evidenceThreshold: EVIDENCE_THRESHOLD,
  fingerprintThreshold: FINGERPRINT_THRESHOLD,
  wordingThreshold: WORDING_THRESHOLD,
  minimumTokens: MINIMUM_TOKENS,
  skipChecks: Object.freeze([]),
});

/**
 * Validates settings and fills in the defaults.
 *
 * @throws PayloadError with the invalid field
 */
export function completeConfig(input: ContaminationConfigInput = {}): ContaminationConfig {
  const parsed = ContaminationConfigInputSchema.safeParse(input);
  if (!parsed.success) throw invalidField(parsed.error.issues[0]);
  const settings = Object.entries(parsed.data).filter(([, value]) => value !== undefined);
  return { ...DEFAULT_CONTAMINATION_CONFIG, ...Object.fromEntries(settings) };
}

function invalidField(issue: z.core.$ZodIssue | undefined): PayloadError {
  const isUnknown = issue?.code === 'unrecognized_keys';
  const field = `config.${String(isUnknown ? issue.keys[0] : issue?.path[0])}`;
  const problem = isUnknown
    ? `unknown setting; known are ${Object.keys(DEFAULT_CONTAMINATION_CONFIG).join(', ')}`
    : (issue?.message ?? 'is not valid');
  return new PayloadError('invalid-payload', `${field}: ${problem}`, { field });
}
