import type { ContaminationConfigInput } from './config.js';
import type { ContaminationResult, TestCase } from './types.js';

/** One output to be checked; plain data, so that it can be handed to a thread. */
export interface ContaminationCase {
  readonly output: string;
  readonly testCase: TestCase;
  readonly config?: ContaminationConfigInput | undefined;
}

/** Checks outputs against a set of known solutions that lives somewhere. */
export interface ContaminationChecker {
  check(input: ContaminationCase): Promise<ContaminationResult>;
}
