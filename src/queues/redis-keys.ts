/*
 * Every Redis key of the fleet besides BullMQ's own, and what is stored under it. docs/redis-data-model.md describes the
 * contents. Queue names are never empty, so no job's key looks like a key with two colons after the prefix.
 */

/** Pub/sub channel on which ids of cancelled jobs are announced to every worker. */
export function cancelChannel(prefix: string): string {
  return `${prefix}:cancel`;
}

/** What all keys of a queue's fair scheduling begin with. */
export function fairBase(prefix: string, queue: string): string {
  return `${prefix}::fair:${queue}`;
}

/** Virtual time of a queue. */
export function virtualTimeKey(prefix: string, queue: string): string {
  return `${fairBase(prefix, queue)}:now`;
}

/** Hash of the last report of each worker, by its name. */
export function workerReportsKey(prefix: string): string {
  return `${prefix}::workers`;
}

/** Set of the names of kinds that are not built in and have had jobs. */
export function ownKindsKey(prefix: string): string {
  return `${prefix}::kinds`;
}

/** Set of the names of pipeline queues with jobs. */
export function pipelineQueuesKey(prefix: string): string {
  return `${prefix}::queues`;
}

/** Hash: name of a pipeline queue → id of the token that used it first. */
export function queueOwnersKey(prefix: string): string {
  return `${prefix}::queue-owners`;
}

/** Hash: name of a pipeline queue → when a program last claimed from it, or reported about what it claimed (ms since 1970). */
export function queueClaimsKey(prefix: string): string {
  return `${prefix}::queue-claims`;
}

/** Sorted set of the jobs of a run. */
export function runKey(prefix: string, run: string): string {
  return `${prefix}::run:${run}`;
}

/** Sorted set of all runs, by the time of their newest job. */
export function latestRunsKey(prefix: string): string {
  return `${prefix}::runs`;
}

/** What all keys of spend totals begin with. */
export function spendBase(prefix: string): string {
  return `${prefix}::spend`;
}

/** Calls in flight, with their reservations. */
export function inFlightKey(prefix: string): string {
  return `${prefix}::calls`;
}

/** State of a model's rate limits and circuit. */
export function limiterKey(prefix: string, model: string): string {
  return `${prefix}::limit:${model}`;
}

/** Whether the provider has a prompt prefix in its cache (`src/calls/prompt-cache/prefix-scripts.ts`). */
export function promptPrefixKey(prefix: string, digest: string): string {
  return `${prefix}::prompt:${digest}`;
}

/** Models whose circuit has been opened lately. */
export function blockedModelsKey(prefix: string): string {
  return `${prefix}::blocked`;
}

/** What all keys of batches of calls begin with (`src/calls/batches/line-scripts.ts`). */
export function batchBase(prefix: string): string {
  return `${prefix}::batch`;
}

/** In which ledger the answer to a request is (`src/calls/reuse/answer-scripts.ts`). */
export function answerKey(prefix: string, key: string): string {
  return `${prefix}::answer:${key}`;
}

/** Sorted set of the digests of stored texts, by the time (ms) of the last job that named them. */
export function payloadIndexKey(prefix: string): string {
  return `${prefix}::payloads`;
}

/** Hash of a stored text: `data` (compressed), `bytes` (before compression) and `encoding`. */
export function payloadKey(prefix: string, digest: string): string {
  return `${prefix}::payload:${digest}`;
}

/** Sorted set of the keys of the jobs that name a stored text, by time (ms). */
export function payloadJobsKey(prefix: string, digest: string): string {
  return `${payloadKey(prefix, digest)}:jobs`;
}

/** Content for which a batch's key is reserved while it is submitted. */
export function submissionKey(prefix: string, id: string): string {
  return `${prefix}::submission:${id}`;
}

/** What is written to find out whether a full Redis accepts writes again. */
export function writeProbeKey(prefix: string): string {
  return `${prefix}::write-probe`;
}

/** Lease of the worker that cleans up. */
export function housekeepingKey(prefix: string): string {
  return `${prefix}::housekeeping`;
}

/** The fleet-wide set of known solutions. */
export interface KnownKeys {
  /** Hash: entry field → the solution as JSON. */
  readonly entries: string;
  /** Hash: entry field → its fingerprints, 32-bit little-endian integers. */
  readonly fingerprints: string;
  /** Stream of added and removed entries; workers update their index from it. */
  readonly changes: string;
  /** Set of the entry fields of one test case. */
  ofCase(testCaseId: string): string;
}

export function knownKeys(prefix: string): KnownKeys {
  const base = `${prefix}:known`;
  return {
    entries: `${base}:entries`,
    fingerprints: `${base}:fingerprints`,
    changes: `${base}:changes`,
    ofCase: (testCaseId) => `${base}:case:${testCaseId}`,
  };
}

/** Statistics of the gateways. */
export const statisticsKeys = (prefix: string) => ({
  /** Hash of sums since the beginning; fields are made by `totalField`. */
  totals: `${prefix}::stats:totals`,
  /** Hash of one minute of a kind: completed, failed, cancelled. */
  minute: (kind: string, minute: number) => `${prefix}::stats:minute:${kind}:${minute}`,
  /** List of the last durations of a kind in milliseconds, newest first. */
  durations: (kind: string) => `${prefix}::stats:durations:${kind}`,
});
export type StatisticsKeys = ReturnType<typeof statisticsKeys>;
