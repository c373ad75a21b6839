import type { Job } from 'bullmq';
import { z } from 'zod';
import { runAccount } from '../calls/budget/run-account.js';
import type { PayloadStore } from '../payloads/payload-store.js';
import type { ChildHeritage } from '../producers/add-child.js';
import { defined } from '../producers/job-view.js';
import { childValues } from '../queues/child-values.js';
import { RESERVED_TAGS } from '../queues/common.js';
import { deadlineOf } from '../queues/deadline.js';
import { parseJobKey } from '../queues/job-key.js';
import type { ChildResult, JobKind } from '../queues/kind.js';
import type { KindRegistry } from '../queues/registry.js';
import { REUSES, type Reuse } from '../queues/reuse.js';
import { boundTenantOf, type Submission } from '../queues/submitter.js';
import { completePayload, parsePayload } from '../queues/validate.js';
import { jobKey } from './job-context.js';

/** Where long texts are, and which queues have some. */
interface StoredTexts {
  readonly payloads: PayloadStore;
  readonly kinds: KindRegistry;
}

/** The validated payload, with the fields that children supply. */
export async function payloadOf(
  kind: JobKind,
  job: Job,
  { payloads, kinds }: StoredTexts,
): Promise<Record<string, unknown>> {
  const payload = parsePayload(kind, await payloads.restore(job.data as unknown, jobKey(job)));
  const supplied = Object.keys(kind.suppliedByChild);
  if (supplied.every((field) => field in payload)) return payload;
  return completePayload(kind, payload, await childResults(job, { payloads, kinds }));
}

/**
 * The stored form of the job's result: long texts are replaced by references. A parent in a pipeline queue reads its
 * children's results directly, so these contain all texts.
 */
export async function storedResult<R>(job: Job, result: R, { payloads, kinds }: StoredTexts): Promise<R> {
  const { parentKey } = job;
  if (parentKey === undefined) return payloads.offload(result, [jobKey(job)]);
  if (!kinds.has(parseJobKey(parentKey).queue)) return result;
  // The parent may outlive its child.
  return payloads.offload(result, [jobKey(job), parentKey]);
}

/**
 * The results of the job's children. Long texts of children of the fleet's kinds were stored for this job too; results of
 * children in pipeline queues are returned unchanged.
 */
async function childResults(job: Job, { payloads, kinds }: StoredTexts): Promise<ChildResult[]> {
  const values = await childValues(job);
  return Promise.all(
    Object.entries(values).map(async ([key, result]) => {
      const { queue } = parseJobKey(key);
      return {
        kind: queue,
        result: kinds.has(queue) ? await payloads.restore(result, jobKey(job)) : result,
      };
    }),
  );
}

/** The job's location in a pipeline run, for its log lines. */
export function lineageOf(job: Job): Record<string, string> {
  const { tags } = (job.data ?? {}) as { tags?: Readonly<Record<string, unknown>> | null };
  const lineage: Record<string, string> = {};
  if (typeof tags !== 'object' || tags === null) return lineage;
  for (const name of RESERVED_TAGS) {
    const tag = tags[name];
    if (typeof tag === 'string') lineage[name] = tag;
  }
  return lineage;
}

/** For whom the job is done: the tenant that it was scheduled for, or its run if it names none. */
export function tenantOf(job: Job): string {
  const { fleet } = job.opts as { fleet?: { tenant?: unknown } };
  return typeof fleet?.tenant === 'string' ? fleet.tenant : (lineageOf(job).run ?? '');
}

/** The fleet's part of a job's options; unreadable values count as absent. */
const FleetOptionsSchema = z.object({
  tenant: z.string().optional().catch(undefined),
  submitter: z.string().optional().catch(undefined),
  priority: z.number().optional().catch(undefined),
  budgetUsd: z.number().optional().catch(undefined),
  budgetJob: z.string().optional().catch(undefined),
  deadline: z.string().optional().catch(undefined),
  reuse: z.enum(REUSES).optional().catch(undefined),
  depth: z.number().optional().catch(undefined),
});

/** What the children of a job inherit: account, tenant, submitter and location in the run. */
export function heritageOf(job: Job): ChildHeritage {
  const own = FleetOptionsSchema.safeParse((job.opts as { fleet?: unknown }).fleet).data ?? {};
  const payer = own.budgetUsd === undefined ? {} : { budgetJob: own.budgetJob ?? job.id ?? '' };
  const { parent: _, ...lineage } = lineageOf(job);
  return defined({ ...own, ...payer, tags: lineage, parentKey: jobKey(job) });
}

/**
 * By when the job has to end, in milliseconds since 1970, if it can wait.
 * @param afterMs Deadline of jobs that name none, counted from their submission.
 */
export function deadlineOfJob(job: Job, afterMs: number | undefined): { readonly deadline?: number } {
  const { deadline } = FleetOptionsSchema.safeParse((job.opts as { fleet?: unknown }).fleet).data ?? {};
  const usual = afterMs === undefined ? undefined : job.timestamp + afterMs;
  const at = deadline === undefined ? usual : deadlineOf(deadline, Date.now());
  return at === undefined ? {} : { deadline: at };
}

/** Whose answers the job may use besides its own, and the tenant that its submission names. */
export function reuseOf(job: Job): { readonly reuse?: Reuse; readonly namedTenant?: string } {
  const { reuse, tenant } = FleetOptionsSchema.safeParse((job.opts as { fleet?: unknown }).fleet).data ?? {};
  return defined({ reuse, namedTenant: tenant });
}

/**
 * The account that pays for the job's calls: its run's, or a bound tenant's part of it. A job with a budget but no run has
 * a separate account.
 */
export function budgetOf(job: Job): { run?: string; runBudgetUsd?: number } {
  const { fleet } = job.opts as {
    fleet?: Submission & { readonly budgetUsd?: unknown; readonly budgetJob?: string };
  };
  const budget = fleet?.budgetUsd;
  const run =
    lineageOf(job).run ?? (typeof budget === 'number' ? `job ${fleet?.budgetJob ?? job.id}` : undefined);
  if (run === undefined) return {};
  const account = { run: runAccount(run, boundTenantOf(fleet ?? {})) };
  return typeof budget === 'number' ? { ...account, runBudgetUsd: budget } : account;
}
