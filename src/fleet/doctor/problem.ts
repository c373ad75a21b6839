/** What can be wrong with the data of a fleet. */
export const PROBLEMS = {
  'no-state': 'a job is in no state: nothing would ever let it go on',
  'two-states': 'a job is in more than one state',
  ghost: 'a state lists a job that does not exist',
  'no-owner': 'a job counts as running, and no worker holds it',
  'orphaned-parent': 'a job waits for children that are gone or have ended',
  'idle-reservation': 'money is reserved for a call whose worker is gone',
  'orphaned-text': 'a stored text is named by no job',
  damaged: 'what Redis holds of a job cannot be read',
  'missing-text': 'a job names a text that is not stored',
} as const;

type ProblemName = keyof typeof PROBLEMS;

export interface Problem {
  readonly problem: ProblemName;
  readonly queue?: string;
  /** The job, or the text's digest. */
  readonly id: string;
  /** What was found, for people. */
  readonly detail: string;
}
