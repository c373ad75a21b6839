import { z } from 'zod';
import { BATCH_PRICE } from '../../calls/cost.js';
import { mapInChunks } from '../../event-loop.js';
import type { FleetClient } from '../../producers/fleet-client.js';
import { type ScannedJob, scanRun } from '../../producers/scan-run.js';
import { type CallRecord, readCallRecords } from '../../queues/call-record.js';
import { readRecord } from '../../queues/read-record.js';
import { FindingSchema, SolutionCheckResultSchema } from '../../queues/solution-check.js';

/** Settings whose effect on the cost of a run can be estimated. */
export const LEVERS = ['batch', 'static-first'] as const;
export type Lever = (typeof LEVERS)[number];

interface Saving {
  readonly calls: number;
  readonly savedUsd: number;
}

/** What the stored calls of a run would have cost. Amounts are US dollars. */
export interface WhatIf {
  readonly levers: readonly Lever[];
  /** What they did cost. */
  readonly actualUsd: number;
  readonly estimatedUsd: number;
  /** Calls with a known price, on which the estimate rests; `leftOut` have none. */
  readonly calls: number;
  readonly leftOut: number;
  /** Part of the scripts that `static-first` sends all the same. */
  readonly auditFraction: number;
  /** Calls that would not have been made, with the part of the sample taken off the amount. */
  readonly staticFirst?: Saving;
  /** Calls that could have been in a batch, and were not. */
  readonly batch?: Saving;
}

const { coverage, notFollowed, notAnalyzed, staticFirst } = SolutionCheckResultSchema.shape;
const { source, agreedBy, outcome, leakageStatus } = FindingSchema.shape;
const CertaintySchema = z.object({
  coverage,
  notFollowed,
  notAnalyzed,
  staticFirst,
  findings: z.array(z.object({ source, agreedBy, outcome, leakageStatus })),
});

/**
 * Estimates what the calls of the stored jobs of a run would have cost, from the ledgers and results of the jobs. Nothing is analyzed
 * again.
 * @param auditFraction Part of the scripts that `static-first` sends all the same, from 0 to 1.
 */
export async function estimateRun(
  fleet: FleetClient,
  run: string,
  levers: readonly Lever[],
  auditFraction: number,
): Promise<WhatIf> {
  const { jobs } = await scanRun(fleet, run);
  const perJob = await mapInChunks(jobs, async (job) => {
    const calls = await readCallRecords(fleet.client, job.key);
    const isNeeded = calls.length > 0 && levers.includes('static-first');
    const isCertain = isNeeded && (await wasCertain(fleet, job));
    return calls.map((call) => ({ call, isCertain }));
  });
  const ended = perJob.flat().filter(({ call: { end } }) => end?.tokens !== undefined);
  const priced = ended.flatMap(({ call, isCertain }) => {
    const costUsd = call.end?.costUsd;
    return typeof costUsd === 'number' ? [{ call, isCertain, costUsd }] : [];
  });
  const saved = { staticFirst: { calls: 0, savedUsd: 0 }, batch: { calls: 0, savedUsd: 0 } };
  for (const { call, isCertain, costUsd } of priced) {
    // What the sample sends is what batches can still make cheaper.
    const avoided = isCertain ? costUsd * (1 - auditFraction) : 0;
    if (isCertain) add(saved.staticFirst, avoided);
    if (levers.includes('batch') && couldWait(call))
      add(saved.batch, (costUsd - avoided) * (1 - BATCH_PRICE));
  }
  const actualUsd = priced.reduce((sum, { costUsd }) => sum + costUsd, 0);
  return {
    levers,
    actualUsd,
    estimatedUsd: actualUsd - saved.staticFirst.savedUsd - saved.batch.savedUsd,
    calls: priced.length,
    leftOut: ended.length - priced.length,
    auditFraction,
    ...(levers.includes('static-first') ? { staticFirst: saved.staticFirst } : {}),
    ...(levers.includes('batch') ? { batch: saved.batch } : {}),
  };
}

function add(sum: { calls: number; savedUsd: number }, usd: number): void {
  sum.calls += 1;
  sum.savedUsd += usd;
}

/** Only the first call of a conversation waits for a batch. */
function couldWait({ batch, turn }: CallRecord): boolean {
  return batch !== true && turn === 1;
}

/**
 * Whether the result of a check looks as if the analysis was certain of its script: it followed all of it, and what it found is
 * corrected. A check with `static-first` has asked the agent for a reason, so its calls stay.
 */
async function wasCertain({ client }: FleetClient, { key, queue, state }: ScannedJob): Promise<boolean> {
  if (queue !== 'solution-check' || state !== 'completed') return false;
  const result = readRecord(CertaintySchema, await client.hget(key, 'returnvalue'))?.value;
  if (result === undefined || result.staticFirst !== undefined) return false;
  if (result.coverage !== 'full' || result.notAnalyzed !== undefined || result.notFollowed?.length)
    return false;
  return result.findings.every(
    ({ source, agreedBy = [], outcome, leakageStatus }) =>
      leakageStatus === 'No Data Leakage' ||
      (source !== 'analysis' && !agreedBy.includes('analysis')) ||
      outcome === 'corrected' ||
      outcome === 'superseded',
  );
}
