import type { ContaminationConfigInput } from './config.js';
import type { ContaminationResult, TestCase } from './types.js';

/** One output to be judged; plain data, so that it can be handed to a thread. */
export interface ContaminationCase {
  readonly output: string;
  readonly testCase: TestCase;
  readonly config?: ContaminationConfigInput | undefined;
}

/** Judges outputs against a set of known solutions that lives somewhere. */
export interface ContaminationJudge {
  judge(given: ContaminationCase): Promise<ContaminationResult>;
}
