/**
 * A worker as a process of its own whose agent kills the process at a script that says `KILL`, and answers any other after
 * a moment. Arguments: Redis address, prefix. Prints `ready`.
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
  if (code.includes('KILL')) process.kill(process.pid, 'SIGKILL');
  if (code.includes('SLOW')) await new Promise((resolve) => setTimeout(resolve, 1_500));
  return offline.ask(request as never, context as never);
};
await FleetWorker.start({
  redisUrl,
  prefix,
  runner: { name: 'offline', ask: ask as AgentRunner['ask'] },
  logger: pino({ level: 'silent' }),
  kinds: ['solution-check'],
  concurrency: 10,
  lockMs: 1_000,
});
process.stdout.write('ready\n');
