/**
 * A separate worker process (`--expose-gc`) that prints its heap size, once garbage is collected, after so many jobs.
 * Arguments: Redis address, prefix, address of the Messages API, numbers of jobs separated by commas. Prints `ready`, `heap
 * JOBS BYTES` for each number, and every warning of the process.
 */
import { pino } from 'pino';
import { createAnthropicRunner } from '../../src/agents/anthropic-runner.js';
import { FleetWorker } from '../../src/fleet/worker.js';

const [, , redisUrl, prefix, baseURL, numbers = ''] = process.argv;
if (redisUrl === undefined || prefix === undefined || globalThis.gc === undefined) {
  throw new Error('usage: node --expose-gc counting-worker.ts REDIS PREFIX API NUMBERS');
}
const collect = globalThis.gc;
const counts = numbers.split(',').map(Number);
process.on('warning', ({ name, message }) => process.stdout.write(`warning ${name}: ${message}\n`));

let completed = 0;
const count = (line: string) => {
  if (!line.includes('job completed')) return;
  completed += 1;
  if (!counts.includes(completed)) return;
  collect();
  process.stdout.write(`heap ${completed} ${process.memoryUsage().heapUsed}\n`);
};

await FleetWorker.start({
  redisUrl,
  prefix,
  runner: createAnthropicRunner({ ...(baseURL === undefined ? {} : { baseURL }), apiKey: 'test-key' }),
  logger: pino({ level: 'info' }, { write: count }),
  kinds: ['solution-check'],
  concurrency: 10,
  lockMs: 30_000,
}).then(() => process.stdout.write('ready\n'));
