/**
 * A separate worker process whose agent misbehaves as the script says: `KILL` kills the process, `BLOCK` blocks the event
 * loop for longer than the lock in the first worker that meets it, `SLOW` takes a moment. Arguments: Redis address, prefix.
 * Prints `ready`, the log lines, and `asked` for each question.
 */
import { pino } from 'pino';
import type { AgentRunner } from '../../src/agents/agent-runner.js';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { FleetWorker } from '../../src/fleet/worker.js';

const [, , redisUrl, prefix] = process.argv;
if (redisUrl === undefined || prefix === undefined) throw new Error('usage: crashing-worker.ts URL PREFIX');

const offline = createOfflineRunner();
const ask = async (request: { variables: Record<string, unknown> }, context: unknown) => {
  const code = JSON.stringify(request.variables);
  process.stdout.write('asked\n');
  if (code.includes('KILL')) process.kill(process.pid, 'SIGKILL');
  if (code.includes('BLOCK') && process.argv[4] === 'first') blockFor(6_000);
  if (code.includes('SLOW')) await new Promise((resolve) => setTimeout(resolve, 1_500));
  return offline.ask(request as never, context as never);
};
/** Blocks the event loop without using the processor. */
function blockFor(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

await FleetWorker.start({
  redisUrl,
  prefix,
  runner: { name: 'offline', ask: ask as AgentRunner['ask'] },
  logger: pino({ level: 'warn' }),
  kinds: ['solution-check'],
  concurrency: 10,
  lockMs: 2_000,
}).then(() => process.stdout.write('ready\n'));
