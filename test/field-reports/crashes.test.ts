import { describe, expect, it, onTestFinished } from 'vitest';
import { addJobs } from '../../src/producers/add-jobs.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { addGuardedEvaluation } from '../../src/producers/flows/guarded-evaluation.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { waitForJob } from '../../src/producers/wait-for-job.js';
import { startTestGateway } from '../gateway/gateway-fixture.js';
import { leaks } from '../support/agent-answers.js';
import { startPipelineWorker } from '../support/evaluation-worker.js';
import { fleetCommand } from '../support/fleet-command.js';
import { lapseLocks } from '../support/lapse-locks.js';
import type { Reply, Script } from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';
import { workerHere } from '../support/worker-here.js';
import { type FleetProcesses, startFleetProcesses } from './fleet-processes.js';

const redis = redisOfFile();
let count = 0;
const script = (name: string, run = 'night') => ({
  solution: { content: `name = '${name}'\n` },
  tags: { run },
});

async function start(reply: Script): Promise<FleetProcesses & { readonly prefix: string }> {
  count += 1;
  const prefix = `crashes-${count}`;
  const processes = await startFleetProcesses(redis, prefix, reply);
  onTestFinished(() => processes.close());
  return { ...processes, prefix };
}

describe('a job that ends because its workers crashed', () => {
  it('is reported to its listeners once with that reason, is counted, and fails its parent', async () => {
    const { fleet, api, worker, prefix } = await start(() => ({ kind: 'hang' }));
    const gateway = await startTestGateway(redis, prefix);
    onTestFinished(() => gateway.close());
    const evaluation = { queue: 'evaluate', name: 'score' };
    const handles = await addGuardedEvaluation(fleet, { ...script('killer'), evaluation });
    const pipeline = startPipelineWorker(redis, fleet, 'evaluate', () => Promise.resolve('evaluated'));
    onTestFinished(() => pipeline.close());
    const ends: string[] = [];
    await fleet.events('solution-check').listen(handles.check.id, () => ends.push('end'));
    const doomed = await worker();
    await api.arrived(1);
    await doomed.end('SIGKILL');
    await lapseLocks(fleet.client, prefix);
    // Its next attempt is alone in the isolated process, whose crash is proof.
    const next = await worker();
    await api.arrived(2);
    const alone = next.lines.find((line) => line.includes('runs in the isolated process'));
    process.kill(Number(/isolated process \((\d+)\)/.exec(alone ?? '')?.[1]), 'SIGKILL');
    expect(await handles.check.wait()).toMatchObject({
      state: 'failed',
      error: { code: 'killed-its-worker' },
    });
    const parent = await waitForJob(fleet, handles.evaluation.id, {}, 'evaluate');
    expect(parent).toMatchObject({ state: 'failed', error: { code: 'child-failed' } });
    expect(parent.error?.message).toContain(handles.check.id);
    expect(parent.error?.message).toContain('killed');
    const sample = 'fleet_jobs_total{kind="solution-check",outcome="failed",reason="killed-its-worker"} 1';
    await expect.poll(async () => (await gateway.send('GET', '/metrics')).text).toContain(sample);
    expect(ends).toEqual(['end']);
    expect(pipeline.ran).toEqual([]);
    expect(api.requests).toHaveLength(2);
  });

  it('runs again also with a single attempt: a crash uses none', async () => {
    const { fleet, api, worker, prefix } = await start((_, index) =>
      index === 0 ? { kind: 'hang' } : leaks(),
    );
    const doomed = await worker();
    const handle = await addSolutionCheck(fleet, script('once'));
    await api.arrived(1);
    // As in a job that was added without the producers.
    const key = fleet.queue('solution-check').toKey(handle.id);
    const opts = JSON.parse((await fleet.client.hget(key, 'opts')) ?? '{}');
    await fleet.client.hset(key, 'opts', JSON.stringify({ ...opts, attempts: 1 }));
    await doomed.end('SIGKILL');
    await lapseLocks(fleet.client, prefix);
    await workerHere(redis, prefix, api);
    expect(await handle.wait()).toMatchObject({ state: 'completed', attempts: 1 });
  });
});

describe('a fleet that is killed with many running jobs', () => {
  it('starts a new job of another tenant at once, while those run again', async () => {
    const RUNNING = 8;
    const answers: ((reply: Reply) => void)[] = [];
    let phase: 'running' | 'again' | 'all' = 'running';
    const { fleet, api, worker, prefix } = await start(({ text }) => {
      if (phase === 'running') return { kind: 'hang' };
      if (phase === 'all' || text.includes("name = 'new'")) return leaks();
      return new Promise((resolve) => answers.push(resolve));
    });
    // Long enough that a busy worker with so many jobs does not lose them before it is killed.
    const lock = { FLEET_LOCK_MS: '20000' };
    const doomed = await worker({ ...lock, FLEET_CONCURRENCY: String(RUNNING) });
    await addJobs(
      fleet,
      Array.from({ length: RUNNING }, (_, index) => ({
        kind: 'solution-check' as const,
        payload: script(`running ${index}`),
      })),
    );
    await api.arrived(RUNNING);
    await doomed.end('SIGKILL');
    await lapseLocks(fleet.client, prefix);
    phase = 'again';
    await worker(lock);
    await api.arrived(RUNNING + 1);
    const fresh = await addSolutionCheck(fleet, script('new', 'morning'));
    await fresh.result();
    // None of them has its answer yet.
    expect(await fleet.queue('solution-check').getCompletedCount()).toBe(1);
    phase = 'all';
    for (const answer of answers.splice(0)) answer(leaks());
    await expect.poll(() => fleet.queue('solution-check').getCompletedCount()).toBe(RUNNING + 1);
    // Each call was in flight when its worker was killed, and was sent once more.
    expect(api.requests).toHaveLength(2 * RUNNING + 1);
  });
});

describe('the only worker and Redis killed together', () => {
  it('leaves jobs that the doctor finds and puts back, and that are done by the next worker', async () => {
    const { api, worker, fleet, prefix, environment } = await start((_, index) =>
      index < 3 ? { kind: 'hang' } : leaks(),
    );
    const doomed = await worker();
    const handles = await Promise.all(['a', 'b', 'c'].map((name) => addSolutionCheck(fleet, script(name))));
    await api.arrived(3);
    await Promise.all([doomed.end('SIGKILL'), redis.kill()]);
    await redis.restart();
    const later = await FleetClient.open({ redisUrl: redis.url, prefix, waitForSlow: true });
    onTestFinished(() => later.close());
    const doctor = async (...flags: string[]) => {
      const { stdout, exitCode } = await fleetCommand(['doctor', '--json', ...flags], { env: environment });
      return { exitCode, ...(JSON.parse(stdout) as { problems: { problem: string; id: string }[] }) };
    };
    // Their locks came back with the data.
    await lapseLocks(later.client, prefix);
    const found = await doctor();
    expect(found.problems.filter(({ problem }) => problem === 'no-owner')).toHaveLength(handles.length);
    expect(found.exitCode).toBe(1);
    expect(new Set(found.problems.map(({ id }) => id.replace(/^.*:/, '')))).toEqual(
      new Set(handles.map(({ id }) => id)),
    );
    expect((await doctor('--repair')).exitCode).toBe(0);
    expect(await later.queue('solution-check').getJobCountByTypes('active')).toBe(0);
    await workerHere(redis, prefix, api);
    for (const { id } of handles) {
      expect((await waitForJob(later, id)).state).toBe('completed');
    }
  });
});
