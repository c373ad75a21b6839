import type { ContaminationResult, TestCase } from '../contamination/types.js';
import type { NotebookCode } from '../leakage/notebook.js';
import type { LocalProcessing } from '../local/local-processing.js';
import type { JobService } from '../producers/job-service.js';

/** A script that was read, or the code of a notebook. */
export interface ToolScript {
  readonly content: string;
  readonly notebook?: NotebookCode;
}

/** Files that an agent may name, all below folders that somebody gave. Every method refuses others with a FleetError. */
export interface ToolFiles {
  script(path: string): Promise<ToolScript>;
  text(path: string): Promise<string>;
  /** What a program printed, which may be nothing. */
  output(path: string): Promise<string>;
  /** Compares an answer with the known solutions of a JSONL file. */
  compare(known: string, answer: { output: string; testCase: TestCase }): Promise<ContaminationResult>;
}

/** Static analysis in this process. */
type ToolAnalysis = Pick<LocalProcessing, 'analyze' | 'check' | 'summarize' | 'extract'>;

/** Least role of a token that may use a tool. */
export type ToolRole = 'read' | 'submit';

/** What tools work with, by where they run. */
export interface ToolHost {
  readonly version: string;
  readonly analysis: () => Promise<ToolAnalysis>;
  /** Absent: tools take texts alone. */
  readonly files?: ToolFiles;
  /** Absent: there is no fleet. */
  readonly jobs?: JobService;
  /** @throws FleetError if the caller may not use a tool that needs this role. */
  assertRole(role: ToolRole): void;
}
