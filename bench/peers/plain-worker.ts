/**
 * A BullMQ worker process that calls the Messages API without the fleet: the SDK with its own retries, then BullMQ's attempts
 * with exponential back-off. A job is a list of requests, sent one after the other.
 */
import Anthropic from '@anthropic-ai/sdk';
import type { MessageCreateParamsNonStreaming } from '@anthropic-ai/sdk/resources/messages';
import { Worker } from 'bullmq';
import { workerConnection } from '../../src/queues/connection.js';

const { REDIS_URL = '', PREFIX = '', CONCURRENCY = '1', LOCK_MS = '30000' } = process.env;

const client = new Anthropic();
const worker = new Worker<{ readonly requests: MessageCreateParamsNonStreaming[] }>(
  'plain',
  async ({ data }) => {
    for (const request of data.requests) await client.messages.stream(request).finalMessage();
  },
  {
    connection: workerConnection(REDIS_URL),
    prefix: PREFIX,
    concurrency: Number(CONCURRENCY),
    lockDuration: Number(LOCK_MS),
    stalledInterval: Number(LOCK_MS),
  },
);
await worker.waitUntilReady();
process.stdout.write('ready\n');
