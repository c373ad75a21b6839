/**
 * A separate worker process whose agent misbehaves as the script says: `KILL` kills the process, `BLOCK` blocks the event
 * loop until there is a file, `SLOW` takes a moment. Arguments: Redis address, prefix, lock duration in milliseconds, and the path
 * of the file in a worker that blocks. Prints `ready`, the log lines, and `asked` for each question.
 */
import { existsSync } from 'node:fs';
import { pino } from 'pino';
import type { AgentRunner } from '../../src/agents/agent-runner.js';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { FleetWorker } from '../../src/fleet/worker.js';

const [, , redisUrl, prefix, lockMs, file] = process.argv;
if (redisUrl === undefined || prefix === undefined || lockMs === undefined)
  throw new Error('usage: crashing-worker.ts URL PREFIX LOCK_MS [FILE]');

const offline = createOfflineRunner();
const ask = async (request: { variables: Record<string, unknown> }, context: unknown) => {
  const code = JSON.stringify(request.variables);
  process.stdout.write('asked\n');
  if (code.includes('KILL')) process.kill(process.pid, 'SIGKILL');
  if (code.includes('BLOCK') && file !== undefined) blockUntilThereIs(file);
  if (code.includes('SLOW')) await new Promise((resolve) => setTimeout(resolve, 1_500));
  return offline.ask(request as never, context as never);
};
/** Blocks the event loop without using the processor. */
function blockUntilThereIs(path: string): void {
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  while (!existsSync(path)) Atomics.wait(nothing, 0, 0, 100);
}

await FleetWorker.start({
  redisUrl,
  prefix,
  runner: { name: 'offline', ask: ask as AgentRunner['ask'] },
  logger: pino({ level: 'warn' }),
  kinds: ['solution-check'],
  concurrency: 10,
  lockMs: Number(lockMs),
}).then(() => process.stdout.write('ready\n'));
