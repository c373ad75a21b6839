import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { UnrecoverableError, Worker } from 'bullmq';
import { pino } from 'pino';
import type { AgentRunner } from '../../src/agents/agent-runner.js';
import { FleetWorker } from '../../src/fleet/worker.js';
import { packagePath } from '../../src/package-root.js';
import { addGuardedEvaluation } from '../../src/producers/flows/guarded-evaluation.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { workerConnection } from '../../src/queues/connection.js';
import { errorReply, hangReply, jsonReply, rateLimitReply } from '../../test/support/messages-api.js';
import { until } from '../testing/checks.js';
import type { Fleet } from './fleet.js';
import type { ActiveAlert, Prometheus } from './prometheus.js';

/** How an alert is made to fire. They are made one after the other, in one fleet. */
interface Cause {
  readonly alert: string;
  make(fleet: Fleet, prometheus: Prometheus): Promise<void>;
  /** Tells it from the same alert of an earlier cause. */
  readonly fits?: (alert: ActiveAlert) => boolean;
  /** Ends what would disturb those after it. */
  end?(fleet: Fleet): Promise<void>;
}

const CLEAN = jsonReply({ answers: [{ leakage_status: 'No Data Leakage', code_block: '' }] });
const QUEUE = 'evaluate';
const HOUR_MS = 3_600_000;
/** The reserved money must be nearly all of the budget, and fit into it. */
const TIGHT = 1.02;
const STARTED_MS = 60_000;
let scripts = 0;

function submit(fleet: Fleet) {
  scripts += 1;
  return addSolutionCheck(fleet.client, { solution: { content: `number_${scripts} = ${scripts}\n` } });
}

async function submitMany(fleet: Fleet, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) await submit(fleet);
}

/** As if it had been submitted an hour ago. */
async function age(fleet: Fleet, queue: string, id: string): Promise<void> {
  await fleet.client.client.hset(fleet.client.queue(queue).toKey(id), 'timestamp', Date.now() - HOUR_MS);
}

/** Stops a process again and again, and lets it run in between: some turns of its event loop take that long. */
async function freeze(pid: number | undefined, ms: number, times: number, runsMs: number): Promise<void> {
  if (pid === undefined) throw new Error('the process has ended');
  for (let at = 0; at < times; at += 1) {
    process.kill(pid, 'SIGSTOP');
    await wait(ms);
    process.kill(pid, 'SIGCONT');
    await wait(runsMs);
  }
}

/** A worker whose agent kills it when a script says so, started again until the job has been ended for it. */
async function killTwice(fleet: Fleet): Promise<void> {
  const handle = await addSolutionCheck(fleet.client, { solution: { content: 'x = "KILL"\n' } });
  const ended = handle.wait();
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  while (!hasEnded) {
    const program = packagePath('test', 'calls', 'crashing-worker.ts');
    const args = ['--import', 'tsx', program, fleet.redis.url, fleet.prefix];
    const child = spawn(process.execPath, args, { stdio: 'ignore' });
    const exited = once(child, 'exit');
    await Promise.race([ended, exited]);
    if (hasEnded) child.kill('SIGKILL');
    await exited;
  }
}

/** A worker whose agent never answers, and does not stop when it is told to. */
async function ignoreAbort(fleet: Fleet): Promise<void> {
  const runner = { name: 'anthropic', ask: () => new Promise(() => undefined) } as unknown as AgentRunner;
  const worker = await FleetWorker.start({
    redisUrl: fleet.redis.url,
    prefix: fleet.prefix,
    runner,
    logger: pino({ level: 'silent' }),
    kinds: ['solution-check'],
    concurrency: 1,
    lockMs: 5_000,
    jobTimeoutMs: 200,
    abortGraceMs: 50,
  });
  await (await submit(fleet)).wait();
  await worker.stop(0);
}

async function failEvaluation(fleet: Fleet): Promise<void> {
  const worker = new Worker(
    QUEUE,
    async () => {
      throw new UnrecoverableError('no score');
    },
    { connection: workerConnection(fleet.redis.url), prefix: fleet.prefix },
  );
  await once(worker, 'failed');
  await worker.close();
}

/** A worker dies during calls: the next one cannot know whether they were answered. */
async function killDuringCalls(fleet: Fleet): Promise<void> {
  const calls = 12;
  fleet.reply = () => hangReply;
  await fleet.startWorker({ FLEET_CONCURRENCY: String(calls) });
  const before = fleet.requests;
  await submitMany(fleet, calls);
  await until('calls are under way', STARTED_MS, async () =>
    fleet.requests >= before + calls ? true : undefined,
  );
  fleet.reply = () => CLEAN;
  await fleet.worker.end('SIGKILL');
  await fleet.startWorker();
}

/** A call under way reserves what it may cost; the budget is chosen so that this is nearly all of it. */
async function spendBudget(fleet: Fleet, prometheus: Prometheus): Promise<void> {
  fleet.reply = () => hangReply;
  await fleet.startWorker({ FLEET_BUDGET_USD: '1000' });
  const first = await submit(fleet);
  const reserved = 'fleet_spend_today_usd{state="reserved"}';
  const price = await until('a call reserves money', STARTED_MS, () => prometheus.valueOf(`${reserved} > 0`));
  await first.cancel();
  const before = await until('it is reserved no more', STARTED_MS, () =>
    prometheus.valueOf(`sum(fleet_spend_today_usd) and on() (${reserved} == 0)`),
  );
  await fleet.startWorker({ FLEET_BUDGET_USD: ((before + price) * TIGHT).toFixed(6) });
  await submit(fleet);
}

async function fillRedis(fleet: Fleet): Promise<void> {
  const used = Number(/^used_memory:(\d+)/m.exec(await fleet.admin.info('memory'))?.[1]);
  await fleet.admin.config('SET', 'maxmemory', Math.round(used * 1.1));
}

/** A key of a type that the gateway does not expect there. */
const damagedKey = (fleet: Fleet) => fleet.client.queue('solution-check').toKey('delayed');

async function failRequest(fleet: Fleet): Promise<void> {
  await fleet.client.client.rename(damagedKey(fleet), 'set-aside').catch(() => undefined);
  await fleet.client.client.set(damagedKey(fleet), 'damaged');
  const { status } = await fleet.request('/board/api/queues');
  await fleet.client.client.del(damagedKey(fleet));
  await fleet.client.client.rename('set-aside', damagedKey(fleet)).catch(() => undefined);
  if (status !== 500) throw new Error(`the gateway answered ${status}`);
}

const isBlockedBy = (why: string) => (alert: ActiveAlert) => alert.labels.why === why;

export const CAUSES: readonly Cause[] = [
  {
    alert: 'FleetNoWorkers',
    make: async (fleet) => {
      await submit(fleet);
    },
  },
  {
    alert: 'FleetJobsWaitLong',
    make: async (fleet) => {
      const { id } = await submit(fleet);
      await age(fleet, 'solution-check', id);
    },
  },
  {
    alert: 'FleetJobsFail',
    make: async (fleet) => {
      fleet.reply = () => errorReply(401);
      await submitMany(fleet, 6);
      await fleet.startWorker();
    },
  },
  { alert: 'FleetDeadLetters', make: async () => undefined },
  {
    alert: 'FleetPipelineQueueUnserved',
    make: async (fleet) => {
      fleet.reply = () => CLEAN;
      await addGuardedEvaluation(fleet.client, {
        solution: { content: 'evaluated = 1\n' },
        evaluation: { queue: QUEUE, name: 'score', data: {} },
      });
    },
  },
  {
    alert: 'FleetPipelineJobsWaitLong',
    make: async (fleet) => {
      const waiting = await until('the evaluation waits', STARTED_MS, async () => {
        const jobs = await fleet.client.queue(QUEUE).getJobs(['waiting', 'prioritized']);
        return jobs[0]?.id;
      });
      await age(fleet, QUEUE, waiting);
    },
  },
  { alert: 'FleetPipelineDeadLetters', make: failEvaluation },
  { alert: 'FleetUnknownCalls', make: killDuringCalls, end: (fleet) => fleet.stopWorker() },
  { alert: 'FleetJobsIgnoreAbort', make: ignoreAbort },
  { alert: 'FleetJobsKillWorkers', make: killTwice },
  { alert: 'FleetBudgetNearlySpent', make: spendBudget },
  {
    alert: 'FleetWorkerEventLoopSlow',
    // Two reports of the worker, so that one is about nothing else.
    make: (fleet) => freeze(fleet.worker.child.pid, 2_500, 9, 30),
    end: (fleet) => fleet.stopWorker(),
  },
  {
    alert: 'FleetRedisNearlyFull',
    make: fillRedis,
    end: async (fleet) => {
      await fleet.admin.config('SET', 'maxmemory', 0);
    },
  },
  { alert: 'FleetGatewayErrors', make: failRequest },
  {
    alert: 'FleetGatewayEventLoopSlow',
    // It must still answer each scrape within its second: an answer that nobody takes also begins a new measurement.
    make: (fleet) => freeze(fleet.gateway.child.pid, 600, 20, 300),
  },
  {
    alert: 'FleetModelHeldBack',
    fits: isBlockedBy('rate-limited'),
    make: async (fleet) => {
      fleet.reply = () => rateLimitReply('600');
      await fleet.startWorker({ FLEET_MODEL: 'claude-limited' });
      await submit(fleet);
    },
  },
  {
    alert: 'FleetNoCredit',
    make: async (fleet) => {
      fleet.reply = () => errorReply(402, 'Your credit balance is too low');
      await fleet.startWorker({ FLEET_MODEL: 'claude-unpaid' });
      await submit(fleet);
    },
  },
];

/** Made at the very end: nothing is scraped afterwards. */
export const LAST_CAUSE: Cause = {
  alert: 'FleetGatewayDown',
  make: async (fleet) => {
    await fleet.gateway.end('SIGKILL');
  },
};
