import { writeFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import type { AgentRunner } from '../../agents/agent-runner.js';
import { type CallControlOptions, callControl } from '../../calls/call-control.js';
import { messageOf } from '../../errors.js';
import { workerConnection } from '../../queues/connection.js';
import type { PayloadOf } from '../../queues/registry.js';
import { AnalysisThread } from '../analysis-thread.js';
import { ContaminationThreads } from '../contamination-threads.js';
import { type ProcessingLog, type ProcessingParts, processJob } from '../process-job.js';
import type { FromQuarantine, QuarantinedJob, QuarantineSettings, ToQuarantine } from './messages.js';
import { toWire } from './wire-error.js';

/** What a worker's program has to say to its quarantine: the same as it says to `FleetWorker.start`. */
export interface QuarantineAgents {
  readonly runner: AgentRunner;
  readonly calls?: CallControlOptions;
}

/**
 * Makes this process the one in which a worker runs jobs that may have killed a worker (`WorkerOptions.quarantine`):
 * it processes one job after the other as it is told, and ends when its worker does, however that ends.
 *
 * @example
 * // quarantine.ts, beside a program that calls FleetWorker.start({ quarantine: new URL('./quarantine.js', import.meta.url), … })
 * serveQuarantine(async () => ({ runner: myRunner() }));
 */
export function serveQuarantine(agents: () => Promise<QuarantineAgents>): void {
  if (process.send === undefined) throw new TypeError('a quarantine is started by its worker');
  goFirstWithoutMemory();
  const tell = (message: FromQuarantine) => {
    // A worker that is gone is told nothing, and the end of its connection ends this process.
    if (process.connected) process.send?.(message);
  };
  // A signal for the whole group is the worker's to act on.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
  process.on('disconnect', () => process.exit());
  let parts: Promise<ProcessingParts> | undefined;
  let abort = new AbortController();
  process.on('message', (message: ToQuarantine) => {
    switch (message.tell) {
      case 'settings':
        parts = partsOf(message, agents);
        parts.then(
          () => tell({ tell: 'ready' }),
          (thrown: unknown) => {
            process.exitCode = 1;
            tell({ tell: 'error', error: toWire(thrown) });
            process.disconnect();
          },
        );
        break;
      case 'run':
        tell({ tell: 'begun' });
        abort = new AbortController();
        void run(message, abort.signal, parts, tell);
        break;
      case 'abort':
        abort.abort(message.reason);
        break;
    }
  });
}

/**
 * Makes this process the first that Linux ends when memory runs out, so that a job that takes too much is ended alone, which
 * is proof, and not its worker with all its neighbors. A process may always raise its own score.
 */
function goFirstWithoutMemory(): void {
  if (process.platform !== 'linux') return;
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch (thrown) {
    process.stderr.write(`the quarantine cannot offer itself for memory: ${messageOf(thrown)}\n`);
  }
}

async function run(
  { kind, payload, job }: QuarantinedJob,
  signal: AbortSignal,
  parts: Promise<ProcessingParts> | undefined,
  tell: (message: FromQuarantine) => void,
): Promise<void> {
  const line = (level: 'info' | 'warn' | 'progress') => (text: string) => tell({ tell: 'line', level, text });
  const log: ProcessingLog = { info: line('info'), warn: line('warn'), progress: line('progress') };
  try {
    if (parts === undefined) throw new TypeError('a quarantine is told its settings first');
    const result = await processJob(kind, payload as PayloadOf<typeof kind>, job, signal, log, await parts);
    tell({ tell: 'result', result });
  } catch (thrown) {
    tell({ tell: 'error', error: toWire(thrown) });
  }
}

async function partsOf(
  { redisUrl, prefix, workspaces, computeLimits }: QuarantineSettings,
  agents: () => Promise<QuarantineAgents>,
): Promise<ProcessingParts> {
  const { runner, calls } = await agents();
  // Waits for a Redis that is away, as the worker's own ledger does.
  const ledger = new Redis(workerConnection(redisUrl));
  // The worker has the same trouble at the same time, and says so.
  ledger.on('error', () => undefined);
  return {
    runner,
    contamination: new ContaminationThreads({ redisUrl, prefix }, computeLimits),
    analysis: new AnalysisThread(computeLimits),
    workspaces,
    calls: callControl(ledger, prefix, calls),
  };
}
