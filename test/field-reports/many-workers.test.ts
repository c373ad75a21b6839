import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AgentRunner, RunContext } from '../../src/agents/agent-runner.js';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { addJobs } from '../../src/producers/add-jobs.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { waitForJob } from '../../src/producers/wait-for-job.js';
import { startTestFleet } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';
import { TcpProxy } from '../support/tcp-proxy.js';

const redis = redisOfFile();
let prefixes = 0;

async function startFleet() {
  prefixes += 1;
  const test = await startTestFleet(redis, `many-${prefixes}`);
  onTestFinished(() => test.close());
  return test;
}

describe('many workers on one queue', () => {
  it('all take part, and leave nothing waiting, whatever the order of the jobs is', async () => {
    const WORKERS = 6;
    const JOBS = 60;
    const { fleet, worker } = await startFleet();
    const offline = createOfflineRunner();
    const took = new Array<number>(WORKERS).fill(0);
    for (let index = 0; index < WORKERS; index += 1) {
      const ask = (request: Parameters<AgentRunner['ask']>[0], context?: RunContext) => {
        took[index] = (took[index] ?? 0) + 1;
        return offline.ask(request, context);
      };
      await worker(
        { name: offline.name, ask: ask as AgentRunner['ask'] },
        { concurrency: 2, kinds: ['solution-check'] },
      );
    }
    const queue = fleet.queue('solution-check');
    // Urgent, plain, delayed, of many tenants, and in two waves, the second of which meets idle workers.
    for (const wave of [0, 1]) {
      await addJobs(
        fleet,
        Array.from({ length: JOBS / 2 }, (_, index) => ({
          kind: 'solution-check' as const,
          payload: {
            solution: { content: `x = ${wave * JOBS + index}\n` },
            tags: { run: `run ${index % 7}` },
          },
          options: {
            ...(index % 3 === 0 ? { priority: 1 + (index % 50) } : {}),
            ...(index % 5 === 0 ? { delayMs: 200 } : {}),
          },
        })),
      );
      await expect.poll(() => queue.getCompletedCount()).toBe(((wave + 1) * JOBS) / 2);
    }
    const left = await queue.getJobCounts('wait', 'prioritized', 'delayed', 'active', 'failed');
    expect(Object.values(left).every((count) => count === 0)).toBe(true);
    expect(took.reduce((sum, jobs) => sum + jobs, 0)).toBe(JOBS);
    expect(took.filter((jobs) => jobs === 0)).toEqual([]);
  });
});

describe('a long text that is stored separately from its job', () => {
  const script = () => ({ solution: { content: `x = "${randomBytes(70_000).toString('hex')}"\n` } });

  it('is in Redis before the job is', async () => {
    const { fleet } = await startFleet();
    // The monitor is a second connection.
    const client = new Redis(redis.socketPath);
    const monitor = await client.monitor();
    onTestFinished(() => {
      client.disconnect();
      monitor.disconnect();
    });
    const commands: string[] = [];
    const seen = new Promise<void>((resolve) => {
      monitor.on('monitor', (_time, args: string[]) => {
        commands.push(args.join(' ').slice(0, 200));
        if (args[0]?.toLowerCase() === 'ping') resolve();
      });
    });
    const { id } = await addSolutionCheck(fleet, script());
    await fleet.client.ping();
    await seen;
    const position = (pattern: RegExp) => commands.findIndex((command) => pattern.test(command));
    const stored = position(/^hset \S*payload\S* data /i);
    const added = position(new RegExp(`^(hmset|hset) \\S*${id}`, 'i'));
    expect(stored).toBeGreaterThanOrEqual(0);
    expect(added).toBeGreaterThan(stored);
  });

  it('is there for every job, though the link of the producer is slow and workers wait for jobs', async () => {
    const { fleet, worker } = await startFleet();
    await worker(createOfflineRunner());
    const proxy = await TcpProxy.start({ path: redis.socketPath });
    const slow = await FleetClient.open({ redisUrl: proxy.url, prefix: fleet.prefix });
    onTestFinished(async () => {
      await slow.close();
      await proxy.stop();
    });
    proxy.delayMs = 300;
    const handles = await Promise.all(Array.from({ length: 5 }, () => addSolutionCheck(slow, script())));
    for (const { id } of handles) {
      const view = await waitForJob(fleet, id);
      expect(view).toMatchObject({ state: 'completed', attempts: 1 });
    }
  });
});
