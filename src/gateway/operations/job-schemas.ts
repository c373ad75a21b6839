import { z } from 'zod';
import { JOB_STATES } from '../../producers/job-view.js';
import { JobFailureSchema } from '../../queues/failure.js';
import { UsageSchema } from '../../queues/usage.js';

export const JobStateSchema = z.enum(JOB_STATES).meta({ id: 'JobState' });
const time = z.iso.datetime();

export const JobFailureResource = JobFailureSchema.meta({ id: 'JobFailure' });

export const UsageResource = UsageSchema.meta({ id: 'Usage' });

const openCall = z.strictObject({
  step: z.string(),
  turn: z.int(),
  model: z.string(),
  likelyUsd: z.number().nonnegative().nullable(),
});

const jobFields = {
  id: z.string(),
  kind: z.string().describe('Name of the kind, or of the pipeline queue.'),
  state: JobStateSchema,
  key: z.string().optional().describe('The key of its submission.'),
  status: z
    .string()
    .optional()
    .describe(
      'What came out, in a word (`clean`, `corrected`, `contaminated`, …); absent for kinds without one.',
    ),
  progress: z.string().optional(),
  waitReason: z
    .string()
    .optional()
    .describe('Why it waits in vain: no connected worker serves its kind, or the kind of a child.'),
  error: JobFailureResource.optional(),
  usage: UsageResource,
  callsInDoubt: z
    .array(openCall)
    .optional()
    .describe('Agent calls of which nobody knows whether they were answered and billed.'),
  callsInBatches: z
    .array(openCall)
    .optional()
    .describe('Agent calls that wait in a batch, or for one, with their likely price there.'),
  tags: z.record(z.string(), z.string()),
  parent: z.string().optional().describe('Id of the job that waits for this one.'),
  createdAt: time,
  startedAt: time.optional(),
  endedAt: time.optional(),
  attempts: z.int().nonnegative(),
};

const followUpFields = {
  name: z.string(),
  kind: z.string(),
  id: z.string().optional().describe('Id of the job, if it was started.'),
  skipped: z.string().optional().describe('Why its condition did not hold.'),
  error: JobFailureResource.optional().describe('Why it could not be started.'),
};

/** A follow-up of a job, with the job that was started for it. */
const FollowUpResource = z
  .strictObject({
    ...followUpFields,
    get job(): z.ZodOptional<z.ZodType> {
      return JobSchema.optional();
    },
  })
  .meta({ id: 'FollowUpResult' });

/** A job as GET returns it. */
export const JobSchema = z
  .strictObject({
    ...jobFields,
    result: z.unknown().optional().describe('What the job returned, as the schema of its kind says.'),
    children: z
      .array(z.string())
      .optional()
      .describe('Ids of the jobs that this one waits for, or waited for.'),
    followUps: z.array(FollowUpResource).optional().meta({
      id: 'FollowUpResults',
      description: 'What became of the follow-ups of `then`, once the job has its result.',
    }),
  })
  .meta({ id: 'Job' });

export type JobResource = z.infer<typeof JobSchema>;

/** A job in a run's tree. */
export const RunJobSchema = z
  .strictObject({
    ...jobFields,
    followUps: z.array(z.strictObject(followUpFields)).optional(),
    get children(): z.ZodArray<z.ZodType> {
      return z.array(RunJobSchema);
    },
  })
  .meta({ id: 'RunJob' });

const SUBMIT_OUTCOMES = ['created', 'existing', 'retried', 'replaced'] as const;

/** A job that was submitted. */
export const SubmittedSchema = z
  .strictObject({
    id: z.string(),
    kind: z.string(),
    state: JobStateSchema,
    outcome: z
      .enum(SUBMIT_OUTCOMES)
      .describe('existing: the key names a job that is there; retried: it had failed and runs again.'),
    duplicateOf: z
      .string()
      .optional()
      .describe('Id of the job that the key already names; force runs it again.'),
  })
  .meta({ id: 'Submitted' });
export type Submitted = z.infer<typeof SubmittedSchema>;

/** Which jobs a list shows. Pipeline queues come and go, so it is no enumeration. */
export const ListedKind = z
  .string()
  .min(1)
  .max(200)
  .optional()
  .describe('Name of a kind, or of a pipeline queue with jobs.');

export const JobIdParams = z.strictObject({ id: z.string().describe('Id of the job.') });
