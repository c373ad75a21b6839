/**
 * What ledger, limiter and budget add to an agent call, and what the ledger adds to reading a job.
 *
 *     npx tsx bench/calls/ledger.ts [calls]
 *
 * It uses its own Redis on a Unix socket, append-only like the embedded one. A call is admitted and settled like a job's
 * calls, with nothing sent in between, so all of the time is added by the interceptor.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as passes } from 'node:timers/promises';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { callControl } from '../../src/calls/call-control.js';
import type { PlannedCall } from '../../src/calls/call-interceptor.js';
import { JobInterceptor } from '../../src/calls/job-interceptor.js';
import type { CallOutcome } from '../../src/calls/outcome.js';
import { workerConnection } from '../../src/queues/connection.js';
import { startTestRedis } from '../../test/support/redis.js';

const CALLS = Number(process.argv[2] ?? 2_000);
const MODEL = 'claude-sonnet-5-5';
const PREFIX = 'bench';
const ANSWER_BYTES = 8_000;
const SCRIPT_BYTES = 10_000;

/** Text that compresses about as well as code and prose. */
function words(bytes: number): string {
  let text = '';
  while (text.length < bytes) text += `${randomBytes(3).toString('hex')} = model.fit(train, labels)\n`;
  return text.slice(0, bytes);
}

function plan(turn: number): PlannedCall {
  const content = `${turn}\n${words(SCRIPT_BYTES)}`;
  const request = { model: MODEL, max_tokens: 16_000, messages: [{ role: 'user' as const, content }] };
  const digest = createHash('sha256').update(JSON.stringify(request)).digest('hex');
  return { step: 'detect', turn, model: MODEL, request, digest };
}

const TOKENS = {
  inputTokens: 3_000,
  outputTokens: 2_000,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
};

function answered(): CallOutcome {
  const content = [{ type: 'text', text: words(ANSWER_BYTES) }];
  const message = {
    id: 'm',
    model: MODEL,
    content,
    stopReason: 'end_turn',
    refusal: undefined,
    tokens: TOKENS,
  };
  return { class: 'answered', detail: '', status: 200, message, tokens: TOKENS };
}

function percentile(sorted: readonly number[], fraction: number): string {
  return (sorted[Math.floor((sorted.length - 1) * fraction)] ?? Number.NaN).toFixed(2);
}

const DATA = words(SCRIPT_BYTES);
const server = await startTestRedis();
const client = new Redis(workerConnection(server.url));
const control = callControl(client, PREFIX, { budgetUsd: 1_000_000 });

async function holdJob(): Promise<JobInterceptor> {
  const key = `${PREFIX}:solution-check:${randomUUID()}`;
  const token = randomUUID();
  await client.multi().hset(key, 'data', DATA).set(`${key}:lock`, token).exec();
  const signal = new AbortController().signal;
  return new JobInterceptor(control, { key, token, run: 'bench', signal, warn: () => undefined });
}

async function scriptsRun(): Promise<number> {
  const stats = await client.info('commandstats');
  return [...stats.matchAll(/^cmdstat_evalsha:calls=(\d+)/gm)].reduce(
    (sum, [, calls]) => sum + Number(calls),
    0,
  );
}

/**
 * Milliseconds that each of so many calls takes in its interceptor, `parallel` jobs of four calls at once, each of which is
 * answered after `answer.ms`, and up to half of it sooner or later where it `varies`, as answers do. Without variation all
 * answers arrive at the same moment, and calls wait for one another. Without a time the interceptor is the only work, and the
 * result shows how long calls wait for one another.
 */
async function measure(parallel: number, answer = { ms: 0, varies: false }): Promise<void> {
  // Made beforehand: with many at once, the time of every call would include the texts of all others.
  const plans = [1, 2, 3, 4].map(plan);
  const outcome = answered();
  const times: number[] = [];
  const before = await scriptsRun();
  let jobs = 0;
  const work = async () => {
    while (times.length < CALLS) {
      jobs += 1;
      const interceptor = await holdJob();
      for (const call of plans) {
        const start = performance.now();
        await interceptor.admit(call);
        const sent = performance.now();
        if (answer.ms > 0) await passes(answer.ms * (answer.varies ? 0.5 + Math.random() : 1));
        const received = performance.now();
        await interceptor.settle(call, outcome);
        times.push(sent - start + performance.now() - received);
      }
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  const trips = ((await scriptsRun()) - before) / times.length;
  times.sort((a, b) => a - b);
  process.stdout.write(
    `${parallel} at once${described(answer)}: p50 ${percentile(times, 0.5)} ms, p99 ${percentile(times, 0.99)} ms added a call; ` +
      `${trips.toFixed(2)} round trips a call (${times.length} calls of ${jobs} jobs; opening a ledger included)\n`,
  );
}

function described({ ms, varies }: { readonly ms: number; readonly varies: boolean }): string {
  if (ms === 0) return '';
  return varies ? `, answered after ${ms / 2} to ${ms * 1.5} ms` : `, all answered after ${ms} ms`;
}

/** How long a job takes to read with and without four answers in its hash. */
async function measureReads(): Promise<void> {
  const queue = new Queue('reads', { connection: client, prefix: PREFIX });
  const job = await queue.add('reads', { solution: words(SCRIPT_BYTES) });
  const key = queue.toKey(job.id ?? '');
  const read = async () => {
    const times: number[] = [];
    for (let round = 0; round < 500; round += 1) {
      const start = performance.now();
      await queue.getJob(job.id ?? '');
      times.push(performance.now() - start);
    }
    return percentile(
      times.sort((a, b) => a - b),
      0.5,
    );
  };
  await read();
  const memory = async () => Number(await client.call('MEMORY', 'USAGE', key, 'SAMPLES', '0'));
  const [bare, bareBytes] = [await read(), await memory()];
  await client.set(`${key}:lock`, 'token');
  const signal = new AbortController().signal;
  const interceptor = new JobInterceptor(control, { key, token: 'token', signal, warn: () => undefined });
  for (let ask = 1; ask <= 4; ask += 1) {
    const call = plan(ask);
    await interceptor.admit(call);
    await interceptor.settle(call, answered());
  }
  const [full, fullBytes] = [await read(), await memory()];
  process.stdout.write(
    `reading a job of ${SCRIPT_BYTES} bytes: p50 ${bare} ms without, ${full} ms with a ledger of 4 answers of ${ANSWER_BYTES} bytes; ` +
      `in Redis ${bareBytes} and ${fullBytes} bytes\n`,
  );
  await queue.close();
}

try {
  await measure(1);
  await measure(10);
  await measure(10, { ms: 50, varies: true });
  await measure(10, { ms: 50, varies: false });
  await measure(50);
  await measure(50, { ms: 250, varies: true });
  await measure(50, { ms: 250, varies: false });
  await measureReads();
} finally {
  client.disconnect();
  await server.stop();
}
