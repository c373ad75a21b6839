import { PayloadError } from '../errors.js';
import type { Difficulty, TestCase, TimingResult } from './types.js';

/** Milliseconds that a solve is expected to take (SPEC-SIL-009, R2). */
export const EXPECTED_SOLVE_TIMES: Readonly<Record<Difficulty, number>> = Object.freeze({
  easy: 60_000,
  medium: 300_000,
  hard: 900_000,
});

/**
 * Whether the answer came faster than a fraction of the expected time (SPEC-SIL-009, R2).
 *
 * @throws PayloadError for a solve time that is not a positive number of milliseconds, and for a difficulty
 *   without an expected time: neither says anything about the agent.
 */
export function checkTiming(testCase: TestCase, fastSolveThreshold: number): TimingResult {
  const expectedTime = expectedSolveTime(testCase.difficulty);
  const actualTime = testCase.solveTime;
  if (typeof actualTime !== 'number' || !Number.isFinite(actualTime) || actualTime <= 0) {
    throw new PayloadError(
      'invalid-payload',
      `expected testCase.solveTime to be a positive number of milliseconds, got ${String(actualTime)}; leave it out where nobody measured`,
      { field: 'testCase.solveTime' },
    );
  }
  const ratio = actualTime / expectedTime;
  return { actualTime, expectedTime, ratio, contaminated: ratio < fastSolveThreshold };
}

/** @throws PayloadError for an unknown difficulty */
export function expectedSolveTime(difficulty: Difficulty): number {
  const known = Object.keys(EXPECTED_SOLVE_TIMES);
  if (!known.includes(difficulty)) {
    throw new PayloadError(
      'invalid-payload',
      `expected testCase.difficulty to be one of ${known.join(', ')}, got ${JSON.stringify(difficulty) ?? 'undefined'}`,
      { field: 'testCase.difficulty' },
    );
  }
  return EXPECTED_SOLVE_TIMES[difficulty];
}
