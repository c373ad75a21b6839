import { correction, leaks } from '../../test/support/agent-answers.js';
import type { Script } from '../../test/support/messages-api.js';
import { untilCompleted } from '../harness/bench-fleet.js';
import type { BenchRow, RowContext } from '../harness/row.js';
import {
  killAll,
  startWorkerProcesses,
  submitChecks,
  withProcessBench,
} from '../harness/worker-processes.js';
import { startPlainWorkers } from '../peers/start-plain-workers.js';

const JOBS = 50;
const LOCK_MS = 2_000;

/** What the provider counts when a worker crashes while every job is in its second call. */
interface Paid {
  /** First calls that were answered, sent again and paid again. */
  readonly again: number;
  readonly calls: number;
}

/** Two calls for each job: the first is answered, the second hangs until the worker is killed. */
function twoCalls() {
  let dead = false;
  const answered = new Map<string, number>();
  const reply: Script = ({ text }) => {
    const job = /print\((\d+)\)/.exec(text)?.[1] ?? '';
    if (text.includes('<block-')) return dead ? correction(`print(${job}, 1)`) : { kind: 'hang' };
    answered.set(job, (answered.get(job) ?? 0) + 1);
    return leaks(`print(${job})`);
  };
  return {
    reply,
    die: () => {
      dead = true;
    },
    again: () => [...answered.values()].reduce((sum, times) => sum + times - 1, 0),
  };
}

async function fleetPaid(context: RowContext): Promise<Paid> {
  const { reply, die, again } = twoCalls();
  return withProcessBench(context, reply, async ({ fleet, api, prefix }) => {
    const options = { prefix, apiUrl: api.url, concurrency: JOBS, lockMs: LOCK_MS };
    const doomed = await startWorkerProcesses(context, 1, options);
    await submitChecks(fleet, JOBS);
    await api.arrived(2 * JOBS);
    await killAll(doomed);
    die();
    const heirs = await startWorkerProcesses(context, 1, options);
    await untilCompleted(fleet, 'solution-check', JOBS);
    await killAll(heirs);
    return { again: again(), calls: api.requests.length };
  });
}

/** The same two calls by a bare BullMQ worker, which stores nothing of a job that did not end. */
async function barePaid(context: RowContext): Promise<Paid> {
  const { reply, die, again } = twoCalls();
  return withProcessBench(context, reply, async ({ api }) => {
    const plain = await startPlainWorkers(context, 1, {
      apiUrl: api.url,
      concurrency: JOBS,
      lockMs: LOCK_MS,
    });
    const questions = Array.from({ length: JOBS }, (_, index) => [
      `print(${index})`,
      `<block-1>print(${index})</block-1>`,
    ]);
    await plain.add(questions.map((texts) => texts.map((text) => plain.request(text))));
    await api.arrived(2 * JOBS);
    await plain.kill();
    die();
    await plain.restart();
    await plain.untilCompleted(JOBS);
    await plain.close();
    return { again: again(), calls: api.requests.length };
  });
}

export const crash: BenchRow = {
  name: 'crash',
  work: `answered calls paid again after a worker dies with ${JOBS} jobs in mid-flight`,
  against: 'a bare BullMQ worker that makes the same calls, without a ledger',
  target: { atMost: 0 },
  unit: 'calls paid again',
  runs: 3,
  shortSeconds: null,
  run: async (context) => {
    const fleet = await fleetPaid(context);
    const bare = await barePaid(context);
    return {
      ratio: fleet.again,
      details: {
        'without a ledger': `${bare.again} paid again`,
        // Calls under way when their worker crashed are in doubt: these are sent again.
        'unknown, sent again': String(fleet.calls - fleet.again - 2 * JOBS),
      },
    };
  },
};
