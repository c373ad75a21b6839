import type { Redis } from 'ioredis';
import { z } from 'zod';
import { readRecord } from './read-record.js';
import { workerReportsKey } from './redis-keys.js';
import { runScript, script } from './run-script.js';

/** How often a worker reports, in milliseconds. */
export const REPORT_MS = 10_000;
/** A worker whose report is older than this is gone or hangs, in milliseconds. */
export const REPORT_STALE_MS = 4 * REPORT_MS;

/** What a worker reports about its process at regular intervals. */
const WorkerReportSchema = z.object({
  /** Milliseconds since 1970. */
  at: z.number(),
  kinds: z.array(z.string()),
  /** Delay of the event loop since the last report, 99th percentile, in seconds. */
  eventLoopLagSeconds: z.number().nonnegative(),
  residentBytes: z.number().nonnegative(),
  upSeconds: z.number().nonnegative(),
  /** What prevents the worker from working. */
  problem: z.string().optional(),
});
export type WorkerReport = z.infer<typeof WorkerReportSchema>;

/**
 * A full Redis accepts a script whose first write needs no memory, and a worker must be able to report that Redis is full.
 * KEYS: 1 reports. ARGV: 1 name, 2 report.
 */
const REPORT = script(`
redis.call('HDEL', KEYS[1], '')
return redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])`);

export async function writeWorkerReport(
  client: Redis,
  prefix: string,
  name: string,
  report: WorkerReport,
): Promise<void> {
  await runScript(client, REPORT, [workerReportsKey(prefix)], [name, JSON.stringify(report)]);
}

export async function removeWorkerReport(client: Redis, prefix: string, name: string): Promise<void> {
  await client.hdel(workerReportsKey(prefix), name);
}

/** The reports that are not stale, by the worker's name; those of workers that are long gone are removed. */
export async function readWorkerReports(
  client: Redis,
  prefix: string,
  now = Date.now(),
): Promise<ReadonlyMap<string, WorkerReport>> {
  const reports = new Map<string, WorkerReport>();
  const gone: string[] = [];
  for (const [name, text] of Object.entries(await client.hgetall(workerReportsKey(prefix)))) {
    const report = readRecord(WorkerReportSchema, text)?.value;
    // A damaged report, or one of another version in another form, is neither shown nor removed.
    if (report === undefined) continue;
    if (now - report.at <= REPORT_STALE_MS) reports.set(name, report);
    else if (now - report.at > 60 * REPORT_STALE_MS) gone.push(name);
  }
  if (gone.length > 0) await client.hdel(workerReportsKey(prefix), ...gone);
  return reports;
}
