import { leaks } from '../../test/support/agent-answers.js';
import { untilCompleted } from '../harness/bench-fleet.js';
import type { RowContext, RowGroup, Sample } from '../harness/row.js';
import { timed } from '../harness/statistics.js';
import {
  killAll,
  startWorkerProcesses,
  submitChecks,
  withProcessBench,
} from '../harness/worker-processes.js';

const CONCURRENCY = 50;
const CALL_MS = 500;
const ROUNDS = 10;
const PROCESSES = [2, 4, 8] as const;

/** Jobs a second of so many worker processes, each call waiting half a second. */
async function rateOf(context: RowContext, processes: number): Promise<number> {
  const count = processes * CONCURRENCY * (context.short ? 2 : ROUNDS);
  return withProcessBench(
    context,
    () => ({ ...leaks(), delayMs: CALL_MS }),
    async ({ fleet, api, prefix }) => {
      const workers = await startWorkerProcesses(context, processes, {
        prefix,
        apiUrl: api.url,
        concurrency: CONCURRENCY,
      });
      const ms = await timed(async () => {
        await submitChecks(fleet, count);
        await untilCompleted(fleet, 'solution-check', count);
      });
      await killAll(workers);
      return (count / ms) * 1_000;
    },
  );
}

const nameOf = (processes: number) => `scaling ${processes}`;

/** 1, 2, 4 and 8 worker processes, all of them in each run, so that each is held against the one of its own run. */
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
    for (let run = 0; run < (context.short ? 1 : 3); run += 1) {
      await context.redis.flush();
      const one = await rateOf(context, 1);
      for (const processes of PROCESSES) {
        const many = await rateOf(context, processes);
        samples.get(nameOf(processes))?.push({
          ratio: many / (processes * one),
          figures: { one: `${one.toFixed(0)} jobs/s`, [`all ${processes}`]: `${many.toFixed(0)} jobs/s` },
          series: { one: [one], many: [many] },
        });
      }
    }
    return Object.fromEntries(samples);
  },
};
