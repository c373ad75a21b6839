import { cpus } from 'node:os';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { untilCompleted } from '../harness/bench-fleet.js';
import { type BenchProcess, startBenchProcess } from '../harness/child-process.js';
import { processorMs } from '../harness/processor-time.js';
import type { RowContext, RowGroup, Sample } from '../harness/row.js';
import { killAll, startWorkerProcesses, submitChecks } from '../harness/worker-processes.js';

const CONCURRENCY = 50;
const CALL_MS = 500;
/** How often all slots are filled: for the measurement, and before it, because the first jobs of a process cost more. */
const ROUNDS = 10;
const WARM_ROUNDS = 3;
const PROCESSES = [2, 4, 8] as const;

/** Milliseconds of processor time by process since a start; undefined if the system does not report it. */
type ProcessorTimes = Readonly<Record<'workers' | 'provider' | 'Redis' | 'submitter', number | undefined>>;

/** The work between two moments in which all slots were busy. */
interface Steady {
  readonly jobsPerSecond: number;
  /** Milliseconds of processor time for a job, by process. */
  readonly costs: ProcessorTimes;
  /** Processors that were busy with it. */
  readonly busy: number | undefined;
}

async function steadyStateOf(
  context: RowContext,
  provider: BenchProcess,
  processes: number,
): Promise<Steady> {
  const prefix = context.prefix();
  const slots = processes * CONCURRENCY;
  const rounds = context.short ? 2 : ROUNDS;
  const fleet = await FleetClient.open({ redisUrl: context.redis.url, prefix });
  const workers = await startWorkerProcesses(context, processes, {
    prefix,
    apiUrl: provider.firstLine,
    concurrency: CONCURRENCY,
  });
  const moment = async (completed: number) => {
    await untilCompleted(fleet, 'solution-check', completed);
    const { cpuUs } = await context.redis.work();
    const { user, system } = process.cpuUsage();
    const times: ProcessorTimes = {
      workers: sum(workers.map(({ child }) => processorMs(child.pid))),
      provider: processorMs(provider.child.pid),
      Redis: cpuUs / 1_000,
      submitter: (user + system) / 1_000,
    };
    const jobs = await fleet.queue('solution-check').getCompletedCount();
    return { jobs, at: performance.now(), times };
  };
  try {
    // One round more than measured, so that every slot has a job at the end.
    await submitChecks(fleet, slots * (WARM_ROUNDS + rounds + 1));
    const from = await moment(slots * WARM_ROUNDS);
    const to = await moment(slots * (WARM_ROUNDS + rounds));
    return between(from, to);
  } finally {
    await killAll(workers);
    await fleet.close();
  }
}

type Moment = { readonly jobs: number; readonly at: number; readonly times: ProcessorTimes };

function between(from: Moment, to: Moment): Steady {
  const jobs = to.jobs - from.jobs;
  const ms = to.at - from.at;
  const cost = (who: keyof ProcessorTimes) => {
    const [first, last] = [from.times[who], to.times[who]];
    return first === undefined || last === undefined ? undefined : (last - first) / jobs;
  };
  const costs: ProcessorTimes = {
    workers: cost('workers'),
    provider: cost('provider'),
    Redis: cost('Redis'),
    submitter: cost('submitter'),
  };
  const whole = sum(Object.values(costs));
  return {
    jobsPerSecond: (jobs / ms) * 1_000,
    costs,
    busy: whole === undefined ? undefined : (whole * jobs) / ms,
  };
}

function sum(values: readonly (number | undefined)[]): number | undefined {
  return values.reduce<number | undefined>(
    (total, value) => (total === undefined || value === undefined ? undefined : total + value),
    0,
  );
}

function detailsOf(processes: number, one: Steady, many: Steady): Record<string, string> {
  const costs = Object.entries(many.costs).map(([who, ms]) => `${who} ${ms?.toFixed(2) ?? '?'}`);
  return {
    one: `${one.jobsPerSecond.toFixed(0)} jobs/s`,
    [`all ${processes}`]: `${many.jobsPerSecond.toFixed(0)} jobs/s`,
    'processor time a job:': `${costs.join(', ')} ms`,
    'processors busy:': `${many.busy?.toFixed(2) ?? '?'} of ${cpus().length}`,
  };
}

const nameOf = (processes: number) => `scaling ${processes}`;

/** 1, 2, 4 and 8 worker processes, all of them in each run, so that each is compared with the single one of its own run. */
export const scaling: RowGroup = {
  rows: PROCESSES.map((processes) => ({
    name: nameOf(processes),
    work: `${processes} worker processes, calls that wait ${CALL_MS} ms, concurrency ${CONCURRENCY} each`,
    against: `${processes} times one worker process`,
    target: { atLeast: 0.95 },
  })),
  shortSeconds: null,
  measure: async (context) => {
    const samples = new Map<string, Sample[]>(PROCESSES.map((processes) => [nameOf(processes), []]));
    const provider = await startBenchProcess('waiting-provider-main.ts', { CALL_MS: String(CALL_MS) });
    try {
      for (let run = 0; run < (context.short ? 1 : 3); run += 1) {
        await context.redis.flush();
        const one = await steadyStateOf(context, provider, 1);
        for (const processes of PROCESSES) {
          const many = await steadyStateOf(context, provider, processes);
          samples.get(nameOf(processes))?.push({
            ratio: many.jobsPerSecond / (processes * one.jobsPerSecond),
            details: detailsOf(processes, one, many),
            series: { one: [one.jobsPerSecond], many: [many.jobsPerSecond] },
          });
        }
      }
    } finally {
      await provider.kill();
    }
    return Object.fromEntries(samples);
  },
};
