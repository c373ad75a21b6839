import type { JobsOptions } from 'bullmq';
import { TagsSchema } from '../queues/common.js';
import type { FleetJobOptions } from './job-options.js';

/** The labels in a job's data; none if the data have something else under that name. */
export function tagsOf(data: unknown): Readonly<Record<string, string>> {
  const tags = (data as { tags?: unknown } | null)?.tags;
  return tags === undefined ? {} : (TagsSchema.safeParse(tags).data ?? {});
}

/** Options of a job with its labels: callers that list jobs need not read the data, which may be large. */
export function withTags<T extends JobsOptions & FleetJobOptions>(options: T, data: unknown): T {
  const tags = tagsOf(data);
  if (Object.keys(tags).length === 0) {
    return { ...options, fleet: { ...options.fleet, tags: options.fleet?.tags ?? null } };
  }
  return { ...options, fleet: { ...options.fleet, tags } };
}

/**
 * The labels of a stored job: those in its options, which a pipeline's job has from its flow although its data do not name them.
 */
export function storedTags(options: JobsOptions, data: unknown): Readonly<Record<string, string>> {
  const inData = tagsOf(data);
  const inOptions = TagsSchema.safeParse((options as FleetJobOptions).fleet?.tags).data ?? {};
  return Object.keys(inData).length === 0 ? inOptions : inData;
}

/** Tags that put a job after another in the same pipeline run. */
export function lineageTags(job: {
  readonly id: string;
  readonly tags: Readonly<Record<string, string>>;
}): Record<string, string> {
  const { tags } = job;
  return {
    ...(tags.run === undefined ? {} : { run: tags.run }),
    ...(tags.step === undefined ? {} : { step: tags.step }),
    parent: job.id,
  };
}
