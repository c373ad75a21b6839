import { deflateRawSync } from 'node:zlib';
import { InvertedIndex } from '../../src/contamination/index.js';
import { FleetError } from '../../src/errors.js';
import { examine } from '../../src/fleet/doctor/examine.js';
import { KnownIndexFollower } from '../../src/known/known-index-follower.js';
import { KnownStore } from '../../src/known/known-store.js';
import { RedisPayloadStore } from '../../src/payloads/payload-store.js';
import { encodeText, referenceTo } from '../../src/payloads/text-reference.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { knownSolutionsOf } from '../../src/producers/known-solutions.js';
import { listJobs } from '../../src/producers/list-jobs.js';
import { viewRun } from '../../src/producers/run-view.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { readCallRecords } from '../../src/queues/call-record.js';
import { readJobFlags } from '../../src/queues/job-flags.js';
import { knownKeys, payloadJobsKey, payloadKey } from '../../src/queues/redis-keys.js';
import { readWorkerReports } from '../../src/queues/worker-report.js';
import { startTestRedis } from '../../test/support/redis.js';
import { JSON_TEXT } from '../inputs/kinds.js';
import { mustHold, type Target } from '../target.js';

const PREFIX = 'fuzz';
/** Fields that the fleet writes into a job's hash, besides BullMQ's own. */
const FIELDS = [
  'fleet:usage',
  'fleet:ledger',
  'fleet:ledger:1',
  'fleet:ledger:1:end',
  'fleet:ledger:1:answer',
  'fleet:cancelled',
  'fleet:held',
  'failedReason',
];

export const storedRecords: Target = {
  name: 'stored-records',
  about: 'damaged records in Redis: of jobs, their calls, long texts, workers and known solutions',
  generate: (source) => [
    source.pick(FIELDS),
    source.text(JSON_TEXT),
    source.text(JSON_TEXT).slice(0, 20_000),
  ],
  stateful: true,
  open: async () => {
    const redis = await startTestRedis();
    const fleet = await FleetClient.open({ redisUrl: redis.url, prefix: PREFIX });
    const { client } = fleet;
    return {
      run: async ([field = '', value = '', bytes = '']) => {
        const job = await addSolutionCheck(fleet, { solution: { content: 'x = 1\n' }, tags: { run: 'r' } });
        const jobKey = `${PREFIX}:solution-check:${job.id}`;
        await client.hset(jobKey, { 'fleet:ledger': '1', [field]: value });
        await client.hset(`${PREFIX}::workers`, 'worker', value);
        const { entries, fingerprints, ofCase } = knownKeys(PREFIX);
        await client.hset(entries, 'h:task', value);
        await client.hset(fingerprints, 'h:task', bytes);
        await client.sadd(ofCase('task'), 'h:task');
        const text = encodeText(bytes);
        await client.hset(payloadKey(PREFIX, text.digest), {
          data: value.length % 2 === 0 ? Buffer.from(value, 'latin1') : deflateRawSync(value),
          bytes: bytes.length,
          encoding: value.slice(0, 8),
        });
        await client.zadd(payloadJobsKey(PREFIX, text.digest), Date.now(), jobKey);
        try {
          // Each reader may reject the record; that must not stop the others.
          const readings: [string, () => Promise<unknown>][] = [
            ['the job', () => job.view()],
            ['the list of jobs', () => listJobs(fleet, {})],
            ['the run', () => viewRun(fleet, 'r')],
            ['the calls', () => readCallRecords(client, jobKey)],
            ['the job flags', () => readJobFlags(client, jobKey)],
            ['the workers', () => readWorkerReports(client, PREFIX)],
            ['the known solutions', () => knownSolutionsOf(fleet, 'task')],
            [
              'an index of the known solutions',
              () => new KnownIndexFollower(new KnownStore(client, PREFIX), new InvertedIndex()).current(),
            ],
            ['the examination', () => examine(client, PREFIX)],
          ];
          for (const [what, read] of readings) {
            await read().catch((thrown: unknown) => {
              if (thrown instanceof FleetError && thrown.code !== 'internal') return;
              throw new Error(`a damaged record keeps ${what} from being read`, { cause: thrown });
            });
          }
          const store = new RedisPayloadStore(client, PREFIX);
          const restored = await store.restore({ text: referenceTo(text) }, jobKey);
          mustHold(
            (restored.text as unknown) === bytes,
            'a text that is restored is the one that was stored',
          );
        } finally {
          await client.flushdb();
        }
        return undefined;
      },
      close: async () => {
        await fleet.close();
        await redis.stop();
      },
    };
  },
};
