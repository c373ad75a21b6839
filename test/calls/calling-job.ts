import { createHash, randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { type CallControlOptions, callControl } from '../../src/calls/call-control.js';
import type { PlannedCall } from '../../src/calls/call-interceptor.js';
import { type CallingJob, JobInterceptor } from '../../src/calls/job-interceptor.js';
import type { CallOutcome } from '../../src/calls/outcome.js';
import { type CallHooks, type CallSettings, performCall } from '../../src/calls/perform-call.js';
import { DEFAULT_RETRY_POLICY } from '../../src/calls/retry-policy.js';
import { sdkTransport } from '../../src/calls/sdk-transport.js';
import { DEFAULT_CALL_LIMITS } from '../../src/calls/send-call.js';
import { type CallRecord, readCallRecords } from '../../src/queues/call-record.js';
import { workerConnection } from '../../src/queues/connection.js';
import { HastyClock } from '../support/manual-clock.js';
import type { MessagesApi } from '../support/messages-api.js';
import type { TestRedis } from '../support/redis.js';

export const MODEL = 'claude-sonnet-5-5';

export function plannedCall(text: string, options: Partial<PlannedCall> = {}): PlannedCall {
  const request = { model: MODEL, max_tokens: 1_000, messages: [{ role: 'user' as const, content: text }] };
  const digest = createHash('sha256').update(JSON.stringify(request), 'utf8').digest('hex');
  return { step: 'detect', turn: 1, model: MODEL, request, digest, ...options };
}

type JobOptions = Pick<CallingJob, 'run' | 'runBudgetUsd' | 'deadline' | 'reuse' | 'namedTenant'>;

export interface FleetOfCalls {
  readonly client: Redis;
  readonly prefix: string;
  /** A job whose lock a worker owns. */
  job(options?: JobOptions): InterceptedTestJob;
  close(): Promise<void>;
}

export interface InterceptedTestJob {
  readonly key: string;
  readonly warnings: readonly string[];
  /** Another attempt of the job, by the owner of its lock. */
  interceptor(options?: CallControlOptions, signal?: AbortSignal, hasBatches?: boolean): JobInterceptor;
  /** Performs a call of an interceptor over real HTTP. */
  perform(
    interceptor: JobInterceptor,
    call: PlannedCall,
    api: MessagesApi,
    hooks?: CallHooks,
  ): Promise<CallOutcome>;
  /** Another worker takes the lock: the former owner's token is no longer valid. */
  takeOver(): Promise<void>;
  /** The lock expires and no worker takes the job. */
  lapse(): Promise<void>;
  /** BullMQ removes the job. */
  remove(): Promise<void>;
  records(): Promise<CallRecord[]>;
}

let fleets = 0;

/** Jobs as BullMQ keeps them (a hash and a lock), without the queue around them. */
export function fleetOfCalls(redis: Pick<TestRedis, 'url'>): FleetOfCalls {
  fleets += 1;
  const prefix = `callingJob-${fleets}`;
  const client = new Redis(workerConnection(redis.url));
  // Tests that break the link do so on purpose.
  client.on('error', () => undefined);
  let jobs = 0;
  return {
    client,
    prefix,
    job: (options = {}) => {
      jobs += 1;
      return testJob(client, prefix, `${prefix}:solution-check:job-${jobs}`, options);
    },
    close: async () => {
      await client.quit();
    },
  };
}

function testJob(client: Redis, prefix: string, key: string, submitted: JobOptions): InterceptedTestJob {
  let token = randomUUID();
  const warnings: string[] = [];
  const takeLock = () => client.multi().hset(key, 'data', '{}').set(`${key}:lock`, token).exec();
  let locked: Promise<unknown> = takeLock();
  return {
    key,
    warnings,
    interceptor: (options = {}, signal = new AbortController().signal, hasBatches = false) =>
      new JobInterceptor(callControl(client, prefix, options, hasBatches), {
        key,
        token,
        signal,
        warn: (message) => warnings.push(message),
        ...submitted,
      }),
    perform: async (interceptor, call, api, hooks = {}) => {
      await locked;
      return performCall(call, settingsFor(api), { interceptors: [interceptor], ...hooks });
    },
    takeOver: async () => {
      token = randomUUID();
      locked = takeLock();
      await locked;
    },
    lapse: async () => {
      await client.del(`${key}:lock`);
    },
    remove: async () => {
      await client.del(key, `${key}:lock`);
    },
    records: () => readCallRecords(client, key),
  };
}

export function settingsFor(api: MessagesApi): CallSettings {
  return {
    transport: sdkTransport({ apiKey: 'k', baseURL: api.url }),
    limits: DEFAULT_CALL_LIMITS,
    retry: DEFAULT_RETRY_POLICY,
    clock: new HastyClock(),
    random: () => 0,
  };
}
