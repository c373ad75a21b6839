/**
 * A worker process whose event loop is blocked for so many milliseconds before its first call. Arguments: Redis address,
 * prefix, address of the Messages API, milliseconds. Prints `asked`, then its log lines.
 */
import { pino } from 'pino';
import type { AgentRunner } from '../../src/agents/agent-runner.js';
import { createAnthropicRunner } from '../../src/agents/anthropic-runner.js';
import { FleetWorker } from '../../src/fleet/worker.js';

const [, , redisUrl, prefix, baseURL, blockMs] = process.argv;
if (redisUrl === undefined || prefix === undefined || baseURL === undefined) {
  throw new Error('usage: blocking-worker.ts REDIS PREFIX API MS');
}

const real = createAnthropicRunner({ baseURL, apiKey: 'test-key' });
let blocked = false;
const ask = (request: Parameters<AgentRunner['ask']>[0], context?: Parameters<AgentRunner['ask']>[1]) => {
  process.stdout.write('asked\n');
  if (!blocked) {
    blocked = true;
    const end = Date.now() + Number(blockMs);
    while (Date.now() < end);
  }
  return real.ask(request, context);
};

await FleetWorker.start({
  redisUrl,
  prefix,
  runner: { name: real.name, ask: ask as AgentRunner['ask'] },
  logger: pino({ level: 'info' }),
  kinds: ['solution-check'],
  concurrency: 1,
  lockMs: 20_000,
});
process.stdout.write('ready\n');
