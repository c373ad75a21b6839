import { PayloadError } from '../errors.js';
import { CHECKS, type CheckName } from './checks.js';
import {
  CONTAINMENT_THRESHOLD,
  EVIDENCE_THRESHOLD,
  FINGERPRINT_THRESHOLD,
  MINIMUM_TOKENS,
  WORDING_THRESHOLD,
} from './thresholds.js';

export interface ContaminationConfig {
  /** Trigram similarity above which an output is a copy (binding: 0.95). */
  readonly similarityThreshold: number;
  /** Fraction of the expected time below which a solve is suspiciously fast (binding: 0.1). */
  readonly fastSolveThreshold: number;
  /** Thoughts that explore, below which a chain is noted as short of them (binding: 3). */
  readonly minExplorationDepth: number;
  /** Fraction of the known solution found in stretches, from which an output is a copy. */
  readonly containmentThreshold: number;
  /** Weight found in long stretches, in multiples of what is needed, from which an output is a copy. */
  readonly evidenceThreshold: number;
  /** Fraction of the known program's statements found under one renaming, from which an output is a copy. */
  readonly fingerprintThreshold: number;
  /** Fraction of a known text found in passages that may have single words exchanged. */
  readonly wordingThreshold: number;
  /** Known code with fewer tokens is flagged only by exact hash or binding similarity. */
  readonly minimumTokens: number;
  /** Checks that are not to run. */
  readonly skipChecks: readonly CheckName[];
}

/** Settings as they are handed in: what is left out keeps its default. */
export type ContaminationConfigInput = {
  readonly [Name in keyof ContaminationConfig]?: ContaminationConfig[Name] | undefined;
};

export const DEFAULT_CONTAMINATION_CONFIG: ContaminationConfig = Object.freeze({
  similarityThreshold: 0.95,
  fastSolveThreshold: 0.1,
  minExplorationDepth: 3,
  containmentThreshold: CONTAINMENT_THRESHOLD,
  evidenceThreshold: EVIDENCE_THRESHOLD,
  fingerprintThreshold: FINGERPRINT_THRESHOLD,
  wordingThreshold: WORDING_THRESHOLD,
  minimumTokens: MINIMUM_TOKENS,
  skipChecks: Object.freeze([]) as readonly CheckName[],
});

const FRACTIONS = [
  'similarityThreshold',
  'containmentThreshold',
  'fingerprintThreshold',
  'wordingThreshold',
] as const;
const AMOUNTS = ['fastSolveThreshold', 'evidenceThreshold', 'minExplorationDepth', 'minimumTokens'] as const;
const WHOLE: readonly string[] = ['minExplorationDepth', 'minimumTokens'];

/**
 * Fills in the defaults and checks every setting.
 *
 * @throws PayloadError naming the field at fault
 */
export function completeConfig(input: ContaminationConfigInput = {}): ContaminationConfig {
  const settings = Object.entries(input).filter(([, value]) => value !== undefined);
  const config: ContaminationConfig = { ...DEFAULT_CONTAMINATION_CONFIG, ...Object.fromEntries(settings) };
  for (const name of Object.keys(config)) {
    if (!(name in DEFAULT_CONTAMINATION_CONFIG)) {
      throw invalidField(
        name,
        `unknown setting; known are ${Object.keys(DEFAULT_CONTAMINATION_CONFIG).join(', ')}`,
      );
    }
  }
  for (const name of FRACTIONS) {
    const value = config[name];
    if (typeof value !== 'number' || !(value >= 0 && value <= 1))
      throw invalidField(name, `expected a number from 0 to 1, got ${String(value)}`);
  }
  for (const name of AMOUNTS) {
    const value = config[name];
    if (typeof value !== 'number' || !(value >= 0) || !Number.isFinite(value)) {
      throw invalidField(name, `expected a number of at least 0, got ${String(value)}`);
    }
    if (WHOLE.includes(name) && !Number.isInteger(value))
      throw invalidField(name, `expected a whole number, got ${value}`);
  }
  for (const check of config.skipChecks) {
    if (!CHECKS.includes(check))
      throw invalidField(
        'skipChecks',
        `unknown check ${JSON.stringify(check)}; known are ${CHECKS.join(', ')}`,
      );
  }
  return config;
}

function invalidField(name: string, problem: string): PayloadError {
  return new PayloadError('invalid-payload', `config.${name}: ${problem}`, { field: `config.${name}` });
}
