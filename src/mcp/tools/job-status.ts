import { z } from 'zod';
import type { ShownJob } from '../../producers/job-service.js';
import { jobsFor, resultOf, WAIT_MS } from '../jobs.js';
import { pageField } from '../page.js';
import { tool } from '../tool.js';
import { shortComparison } from './check-contamination.js';
import { correctionOf } from './correct-leakage.js';
import { blockOf } from './extract-block.js';

export const jobStatus = tool({
  name: 'job_status',
  description: 'State of a job, and its result once it has ended, as the tool that submitted it returns it.',
  input: z.strictObject({
    id: z.string(),
    waitSeconds: z
      .int()
      .min(0)
      .max(WAIT_MS / 1_000)
      .default(0),
    wholeScript: z.boolean().default(false),
    page: pageField,
  }),
  fileFields: [],
  output: z.object({
    id: z.string(),
    kind: z.string(),
    state: z.string(),
    status: z.string().optional(),
    progress: z.string().optional(),
    waitReason: z.string().optional(),
    error: z.string().optional(),
    costUsd: z.number().nullable(),
    result: z.looseObject({}).optional(),
  }),
  role: 'read',
  submits: false,
  handle: async ({ id, waitSeconds, wholeScript, page }, call) => {
    const job = await jobsFor(call).view(id, waitSeconds * 1_000, call.signal);
    const { kind, state, status, progress, waitReason, error, usage } = job;
    const result = job.result === undefined ? undefined : shortResult(job, page, wholeScript);
    return {
      ...{ id, kind, state, costUsd: usage.costUsd },
      ...(status === undefined ? {} : { status }),
      ...(progress === undefined ? {} : { progress }),
      ...(waitReason === undefined ? {} : { waitReason }),
      ...(error === undefined ? {} : { error: `${error.message} (${error.code})` }),
      ...(result === undefined ? {} : { result }),
    };
  },
});

/** The result as the tool of its kind returns it; of other kinds, an agent gets the status alone. */
function shortResult(job: ShownJob, page: number, wholeScript: boolean): Record<string, unknown> | undefined {
  switch (job.kind) {
    case 'solution-check':
      return correctionOf(resultOf('solution-check', job), undefined, page, wholeScript);
    case 'summarize':
      return { summary: resultOf('summarize', job).summary };
    case 'extract':
      return blockOf(resultOf('extract', job));
    case 'contamination':
      return { ...shortComparison(resultOf('contamination', job)) };
    default:
      return undefined;
  }
}
