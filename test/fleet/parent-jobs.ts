import { UnrecoverableError, Worker } from 'bullmq';
import { expect } from 'vitest';
import { ChildJobs, type ParentJob } from '../../src/fleet/children/child-jobs.js';
import { childProducer } from '../../src/fleet/children/child-submission.js';
import type { FleetClient } from '../../src/producers/fleet-client.js';

/** Jobs of a fleet that start children, without a worker: a test is their attempt. */
export function parentJobs(redis: { readonly url: string }, fleetOfTest: () => FleetClient) {
  let parents = 0;
  return {
    /** A job that waits in a queue without workers, and whose lock its attempts own. */
    async newParent(): Promise<ParentJob> {
      const fleet = fleetOfTest();
      parents += 1;
      const { id = '' } = await fleet.queue('parents').add('parent', {}, { jobId: `parent-${parents}` });
      const key = fleet.jobKey('parents', id);
      await fleet.client.set(`${key}:lock`, 'token');
      return { key, id, token: 'token', startedChildren: [], heritage: { parentKey: key } };
    },
    /** What an attempt of the job starts children with. */
    attempt(parent: ParentJob): ChildJobs {
      const { client, prefix, kinds } = fleetOfTest();
      return new ChildJobs(client, childProducer(client, { redisUrl: redis.url, prefix }, kinds), parent);
    },
    /** Ends a waiting child as a worker does. */
    async failChild(id: string, reason: string, queue = 'solution-check'): Promise<void> {
      const { client, prefix } = fleetOfTest();
      const worker = new Worker(queue, null, { connection: client, prefix });
      const job = await worker.getNextJob('own');
      expect(job?.id).toBe(id);
      await job?.moveToFailed(new UnrecoverableError(reason), 'own', false);
      await worker.close();
    },
  };
}
