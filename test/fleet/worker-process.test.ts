import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { leaks } from '../support/agent-answers.js';
import { fleetCommand, startFleetCommand } from '../support/fleet-command.js';
import { redisOfFile, startTestRedis } from '../support/redis.js';
import { workerProcesses } from '../support/worker-processes.js';

const SCRIPT = 'a = fit(all)\nprint(a)\n';

const redis = redisOfFile();
const processes = workerProcesses(redis, 'process', { FLEET_LOCK_MS: '30000' });
const { answering, start: startWorker } = processes;

describe('fleet worker as a process', () => {
  it('SIGTERM: the running job ends, and the command exits with 0', async () => {
    const server = await answering(() => ({ ...leaks(), delayMs: 500 }));
    const worker = await startWorker();
    const handle = await addSolutionCheck(processes.fleet, { solution: { content: SCRIPT } });
    await server.arrived(1);
    expect(await worker.end('SIGTERM')).toBe(0);
    expect((await handle.view()).state).toBe('completed');
  });

  it('--drain 0: the running job returns to the queue at once, without using an attempt', async () => {
    const server = await answering(() => ({ kind: 'hang' }));
    const worker = await startWorker(['--drain', '0']);
    const handle = await addSolutionCheck(processes.fleet, { solution: { content: SCRIPT } });
    await server.arrived(1);
    expect(await worker.end('SIGINT')).toBe(0);
    expect(await handle.view()).toMatchObject({ state: 'waiting', attempts: 0 });
  });

  it('a second signal stops at once', async () => {
    const server = await answering(() => ({ kind: 'hang' }));
    const worker = await startWorker(['--drain', '600']);
    const handle = await addSolutionCheck(processes.fleet, { solution: { content: SCRIPT } });
    await server.arrived(1);
    worker.child.kill('SIGTERM');
    await worker.printed('"stopping"');
    expect(await worker.end('SIGTERM')).toBe(0);
    expect((await handle.view()).state).toBe('waiting');
  });

  it('Redis killed in mid-job: the job is resumed after it is back', async () => {
    const server = await answering(() => ({ ...leaks(), delayMs: 1_000 }));
    await startWorker();
    const handle = await addSolutionCheck(processes.fleet, { solution: { content: SCRIPT } });
    await server.arrived(1);
    await redis.kill();
    await redis.restart();
    const later = await FleetClient.open({
      redisUrl: redis.url,
      prefix: processes.prefix,
      waitForSlow: true,
    });
    try {
      const { waitForJob } = await import('../../src/producers/wait-for-job.js');
      expect((await waitForJob(later, handle.id)).state).toBe('completed');
    } finally {
      await later.close();
    }
  });

  it('--kinds takes jobs of these kinds only, and rejects an unknown one; the log names the agent once', async () => {
    const worker = await startWorker(['--kinds', 'solution-check']);
    expect(worker.lines.filter((line) => line.includes('agents: anthropic'))).toHaveLength(1);
    expect(worker.lines.join('\n')).toContain('"kinds":["solution-check"]');
    const rejected = await fleetCommand(['worker', '--kinds', 'nonsense'], { endsAtOnce: true });
    expect(rejected).toMatchObject({ exitCode: 2, stdout: '' });
    expect(rejected.stderr).toContain('"nonsense" is not a kind of job here; there are: solution-check');
  });
});

describe('fleet worker refuses to start', () => {
  it('on a Redis that is not there', async () => {
    const { exitCode, stderr } = await fleetCommand(['worker'], {
      env: { FLEET_REDIS_URL: 'redis://127.0.0.1:1' },
      endsAtOnce: true,
    });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('redis-unreachable');
    expect(stderr).toContain('Start Redis or correct FLEET_REDIS_URL');
  });

  it('on a Redis that may drop jobs', async () => {
    const dropping = await startTestRedis(['--maxmemory-policy', 'allkeys-lru']);
    try {
      const env = { FLEET_REDIS_URL: dropping.url };
      const { exitCode, stderr } = await fleetCommand(['worker'], { env, endsAtOnce: true });
      expect(exitCode).toBe(2);
      expect(stderr).toContain('noeviction');
    } finally {
      await dropping.stop();
    }
  });
});

describe('a worker that stays unhealthy', () => {
  it('ends with exit code 1', async () => {
    const lonely = await startTestRedis();
    const worker = startFleetCommand(['worker'], {
      env: { FLEET_REDIS_URL: lonely.url, FLEET_UNHEALTHY_MS: '1000', ANTHROPIC_API_KEY: 'test-key' },
    });
    processes.commands.push(worker);
    await worker.printed('worker ready');
    await lonely.kill();
    const [code] = await once(worker.child, 'exit');
    expect(code).toBe(1);
    expect(worker.lines.join('\n')).toContain('not able to work');
    await lonely.stop();
  });
});
