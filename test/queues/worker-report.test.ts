import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  REPORT_STALE_MS,
  readWorkerReports,
  removeWorkerReport,
  writeWorkerReport,
} from '../../src/queues/worker-report.js';
import { redisOfFile } from '../support/redis.js';

const report = (at: number) => ({
  at,
  kinds: ['extract'],
  eventLoopLagSeconds: 0.01,
  residentBytes: 1,
  upSeconds: 1,
});

const redis = redisOfFile();
let client: Redis;

beforeAll(async () => {
  client = new Redis({ path: redis.socketPath });
});
afterAll(async () => {
  client.disconnect();
});

describe('reports of workers', () => {
  it('are read while they are fresh, and those of workers long gone are removed', async () => {
    const now = Date.now();
    await writeWorkerReport(client, 'p', 'here', report(now));
    await writeWorkerReport(client, 'p', 'silent', report(now - REPORT_STALE_MS - 1));
    await writeWorkerReport(client, 'p', 'gone', report(now - 61 * REPORT_STALE_MS));
    await client.hset('p::workers', 'of another version', '{"load":1}');
    expect([...(await readWorkerReports(client, 'p', now)).keys()]).toEqual(['here']);
    expect((await client.hkeys('p::workers')).sort()).toEqual(['here', 'of another version', 'silent']);
    await removeWorkerReport(client, 'p', 'here');
    expect((await readWorkerReports(client, 'p', now)).size).toBe(0);
  });
});
