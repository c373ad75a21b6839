import type { PayloadOf } from '../../queues/registry.js';
import { type ProcessingLog, type ProcessingParts, processJob } from '../process-job.js';
import type { FromQuarantine, QuarantinedJob, QuarantineSettings, ToQuarantine } from './messages.js';
import { toWire } from './wire-error.js';

/**
 * The other end of a `Quarantine`, in the process that it started: processes one job after the other as it is told, and
 * ends when its worker does, however that ends.
 *
 * @param prepare Makes what jobs are processed with.
 */
export function serveQuarantine(prepare: (settings: QuarantineSettings) => Promise<ProcessingParts>): void {
  if (process.send === undefined) throw new TypeError('a quarantine is started by its worker');
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
        parts = prepare(message);
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
