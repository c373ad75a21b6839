import { writeFileSync } from 'node:fs';
import type { AgentRunner } from '../../agents/agent-runner.js';
import { type CallControlOptions, callControl } from '../../calls/call-control.js';
import { messageOf } from '../../errors.js';
import type { Kind } from '../../processors/define-kind.js';
import { loadKinds } from '../../processors/load-kinds.js';
import { workerConnection } from '../../queues/connection.js';
import { DurableRedis } from '../../queues/fleet-redis.js';
import { Trials } from '../../trial/trials.js';
import { AnalysisThread } from '../analysis-thread.js';
import { childProducer } from '../children/child-submission.js';
import { ContaminationThreads } from '../contamination-threads.js';
import { type ProcessingLog, type ProcessingParts, processJob } from '../process-job.js';
import type {
  FromIsolatedProcess,
  IsolatedJob,
  IsolatedProcessSettings,
  ToIsolatedProcess,
} from './messages.js';
import { toWire } from './wire-error.js';

/** What a program passes to the isolated process: the same as it passes to `FleetWorker.start`. */
export interface IsolatedProcessAgents {
  readonly runner: AgentRunner;
  readonly calls?: CallControlOptions;
  /** The kinds of one's own that its worker has. */
  readonly kinds?: readonly Kind[];
}

/**
 * Makes this process the isolated process of a worker (`WorkerOptions.isolatedProcess`), which runs jobs that may have crashed a
 * worker. It processes one job after the other and ends when its worker ends in any way.
 *
 * @example
 * // isolated-process.ts, next to a program that calls
 * // FleetWorker.start({ isolatedProcess: new URL('./isolated-process.js', import.meta.url), … })
 * serveIsolatedProcess(async () => ({ runner: myRunner() }));
 */
export function serveIsolatedProcess(agents: () => Promise<IsolatedProcessAgents>): void {
  if (process.send === undefined) throw new TypeError('an isolated process is started by its worker');
  raiseOomScore();
  const post = (message: FromIsolatedProcess) => {
    // A message to a worker that is gone is dropped; the end of the connection ends this process.
    if (process.connected) process.send?.(message);
  };
  // The worker handles a signal for the whole process group.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
  process.on('disconnect', () => process.exit());
  let parts: Promise<ProcessingParts> | undefined;
  let abort = new AbortController();
  process.on('message', (message: ToIsolatedProcess) => {
    switch (message.type) {
      case 'settings':
        parts = partsOf(message, agents);
        parts.then(
          () => post({ type: 'ready' }),
          (thrown: unknown) => {
            process.exitCode = 1;
            post({ type: 'error', error: toWire(thrown) });
            process.disconnect();
          },
        );
        break;
      case 'run':
        post({ type: 'started' });
        abort = new AbortController();
        void run(message, abort.signal, parts, post);
        break;
      case 'abort':
        abort.abort(message.reason);
        break;
    }
  });
}

/**
 * Makes this process the first that Linux ends when memory runs out: a job that takes too much is then ended alone, which
 * proves that it is the cause, instead of its worker with all other jobs. A process may always raise its own score.
 */
function raiseOomScore(): void {
  if (process.platform !== 'linux') return;
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch (thrown) {
    process.stderr.write(`the isolated process cannot raise its out-of-memory score: ${messageOf(thrown)}\n`);
  }
}

async function run(
  { kind, payload, job }: IsolatedJob,
  signal: AbortSignal,
  parts: Promise<ProcessingParts> | undefined,
  post: (message: FromIsolatedProcess) => void,
): Promise<void> {
  const line = (level: 'info' | 'warn' | 'progress') => (text: string) => post({ type: 'line', level, text });
  const log: ProcessingLog = { info: line('info'), warn: line('warn'), progress: line('progress') };
  try {
    if (parts === undefined) throw new TypeError('the first message to an isolated process is its settings');
    const result = await processJob(kind, payload, job, signal, log, await parts);
    post({ type: 'result', result });
  } catch (thrown) {
    post({ type: 'error', error: toWire(thrown) });
  }
}

async function partsOf(
  { redisUrl, prefix, workspaces, computeLimits, kindsFrom, submission, trials }: IsolatedProcessSettings,
  agents: () => Promise<IsolatedProcessAgents>,
): Promise<ProcessingParts> {
  const { runner, calls, kinds: own } = await agents();
  const kinds = await loadKinds(kindsFrom, own);
  // Waits while Redis is unreachable, as the durable connection of the worker does.
  const durableClient = new DurableRedis(workerConnection(redisUrl));
  // The worker has the same problem at the same time, and logs it.
  durableClient.on('error', () => undefined);
  return {
    kinds,
    runner,
    contamination: new ContaminationThreads({ redisUrl, prefix }, computeLimits),
    analysis: new AnalysisThread(computeLimits),
    workspaces,
    trials: new Trials(trials),
    calls: callControl(durableClient, prefix, calls, runner.batches !== undefined),
    childProducer: childProducer(durableClient, submission, kinds),
  };
}
