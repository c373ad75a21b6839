/** What can be wrong with the data of a fleet. */
export const PROBLEMS = {
  'no-state': 'a job is in no state, so it would never go on',
  'two-states': 'a job is in more than one state',
  ghost: 'a state lists a job that does not exist',
  'no-owner': 'a job counts as running, but no worker has its lock',
  'orphaned-parent': 'a job waits for children that are gone or have ended',
  'unserved-child': 'a job waits for a child of a kind that no worker serves; start a worker for it',
  'unserved-kind': 'jobs of a kind wait, and no worker serves it; start a worker for it',
  'unserved-queue': 'jobs of a pipeline queue wait, and nobody takes them; start the program that does',
  'idle-reservation': 'money is reserved for a call whose worker is gone',
  'orphaned-text': 'no job refers to a stored text',
  damaged: 'the stored record of a job cannot be read',
  'refused-writes':
    'Redis refuses writes, so nothing can be submitted and no job ends; mend what its sentence says',
  'missing-text': 'a job refers to a text that is not stored',
} as const;

type ProblemName = keyof typeof PROBLEMS;

export interface Problem {
  readonly problem: ProblemName;
  readonly queue?: string;
  /** The id of the job, the digest of the text, or the name of the kind. */
  readonly id: string;
  /** What was found, for users. */
  readonly detail: string;
}
