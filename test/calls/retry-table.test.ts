import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CallDeferred } from '../../src/calls/call-deferred.js';
import { type CallOutcome, OUTCOMES, type OutcomeClass } from '../../src/calls/outcome.js';
import { performCall } from '../../src/calls/perform-call.js';
import { DEFAULT_RETRY_POLICY } from '../../src/calls/retry-policy.js';
import { CALL_RETRIES, RETRY_BOUNDS } from '../../src/calls/retry-table.js';
import { ERROR_TABLE } from '../../src/errors.js';
import { packagePath } from '../../src/package-root.js';
import { HastyClock, ManualClock } from '../support/manual-clock.js';
import {
  cutAfter,
  errorReply,
  hangReply,
  type MessagesApi,
  messageReply,
  overloadedReply,
  type Reply,
  rateLimitReply,
  refusalReply,
  resetReply,
  stalledAfter,
  startMessagesApi,
  textReply,
  truncatedReply,
} from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';
import { type FleetOfCalls, fleetOfCalls, plannedCall, settingsFor } from './calling-job.js';

type TestedClass = Exclude<OutcomeClass, 'timeout'>;
/** A call that takes too long has a separate test, which advances the time itself. */
const CLASSES = (Object.keys(CALL_RETRIES) as OutcomeClass[]).filter(
  (name): name is TestedClass => name !== 'timeout',
);

/** Rows of a table in docs/retries.md, as cells. */
function documented(table: string): string[][] {
  const text = readFileSync(packagePath('docs', 'retries.md'), 'utf8');
  const from = text.indexOf(`<!-- table: ${table} -->`);
  const to = text.indexOf(`<!-- end of table: ${table} -->`);
  const rows = text.slice(from, to).split('\n');
  return rows
    .filter((row) => row.startsWith('| `'))
    .map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replace(/^`([^`]+)`$/, '$1')),
    );
}

describe('docs/retries.md', () => {
  it('lists every outcome with its rule, and no other', () => {
    expect(documented('calls')).toEqual(
      Object.entries(CALL_RETRIES).map(([name, { inPlace, thenJob, why }]) => [name, inPlace, thenJob, why]),
    );
  });

  it('names every bound with its value, and no other', () => {
    expect(documented('bounds').map(([name, value]) => [name, value])).toEqual(
      Object.entries(RETRY_BOUNDS).map(([name, value]) => [name, String(value)]),
    );
  });
});

describe('the retry table', () => {
  it.each([...CLASSES, 'timeout' as const])(
    'says of %s what the error table says about another attempt',
    (name) => {
      const { error } = OUTCOMES[name];
      const expected = error === null ? '-' : ERROR_TABLE[error].retryable ? 'attempt' : 'end';
      expect(CALL_RETRIES[name].thenJob).toBe(expected);
    },
  );
});

interface Situation {
  readonly reply: Reply;
  readonly checkAnswer?: () => Pick<CallOutcome, 'class' | 'detail'>;
  readonly idleMs?: number;
  readonly cancelled?: true;
}

/** What the provider must do so that a call ends in each class. */
const SITUATIONS: Readonly<Record<TestedClass, Situation>> = {
  answered: { reply: textReply('yes') },
  truncated: { reply: truncatedReply('ye') },
  refused: { reply: refusalReply() },
  'schema-invalid': {
    reply: textReply('no JSON'),
    checkAnswer: () => ({ class: 'schema-invalid', detail: 'no JSON' }),
  },
  'tool-loop': {
    reply: textReply('again'),
    checkAnswer: () => ({ class: 'tool-loop', detail: 'without end' }),
  },
  'context-exceeded': { reply: errorReply(413) },
  'unknown-stop': { reply: messageReply([], { stopReason: 'something_new' }) },
  incomplete: { reply: cutAfter(textReply('yes'), 3) },
  idle: { reply: stalledAfter(textReply('yes'), 3), idleMs: 1_000 },
  'rate-limited': { reply: rateLimitReply() },
  'no-credit': { reply: errorReply(402) },
  overloaded: { reply: errorReply(500) },
  unreachable: { reply: resetReply },
  unauthorized: { reply: errorReply(401) },
  'unknown-model': { reply: errorReply(404) },
  'bad-request': { reply: errorReply(400) },
  cancelled: { reply: hangReply, cancelled: true },
};

const redis = redisOfFile();
let fleet: FleetOfCalls;
let api: MessagesApi | undefined;

beforeEach(() => {
  fleet = fleetOfCalls(redis);
});
afterEach(async () => {
  await fleet.close();
  await api?.close();
  api = undefined;
});

async function answering(reply: Reply): Promise<MessagesApi> {
  api = await startMessagesApi({ reply: () => reply });
  return api;
}

const BACK_OFF = [500, 1_000, 2_000, 4_000];

describe('a call that always ends the same', () => {
  it.each(CLASSES)('as %s is sent as often as the table says, at its times', async (name) => {
    const { reply, checkAnswer, idleMs = 90_000, cancelled } = SITUATIONS[name];
    const server = await answering(reply);
    const clock = new HastyClock();
    const settings = { ...settingsFor(server), clock, limits: { idleMs, totalMs: 1_200_000 } };
    const controller = new AbortController();
    if (cancelled) void server.arrived(1).then(() => controller.abort());
    const outcome = await performCall(plannedCall('the same'), settings, {
      signal: controller.signal,
      ...(checkAnswer ? { checkAnswer } : {}),
    });
    expect(outcome.class).toBe(name);
    const again = CALL_RETRIES[name].inPlace !== 'never';
    expect(server.requests).toHaveLength(again ? 1 + RETRY_BOUNDS['calls.retries'] : 1);
    // The silence of a stream is measured on the same clock; the test looks at the waits between calls.
    if (name !== 'idle') expect(clock.waits).toEqual(again ? BACK_OFF : []);
  });

  it('as timeout is sent once', async () => {
    const server = await answering(hangReply);
    const clock = new ManualClock();
    const settings = { ...settingsFor(server), clock, limits: { idleMs: 90_000, totalMs: 1_000 } };
    const running = performCall(plannedCall('too long'), settings);
    await server.arrived(1);
    clock.advance(1_000);
    expect((await running).class).toBe('timeout');
    expect(server.requests).toHaveLength(1);
    expect(CALL_RETRIES.timeout.inPlace).toBe('never');
  });

  it.each(['rate-limited', 'overloaded'] as const)(
    'as %s in a job is left to the limiter if the provider rejects calls',
    async (name) => {
      const server = await answering(name === 'overloaded' ? overloadedReply() : rateLimitReply());
      const job = fleet.job();
      await job.takeOver();
      // Not one retry is allowed, and none is needed.
      const settings = { ...settingsFor(server), retry: { ...DEFAULT_RETRY_POLICY, retries: 0 } };
      const running = performCall(plannedCall(name), settings, {
        interceptors: [job.interceptor({ shortWaitMs: 0 })],
      });
      await expect(running).rejects.toBeInstanceOf(CallDeferred);
      expect(server.requests).toHaveLength(1);
    },
  );

  it('as overloaded by a 500 in a job is tried again in place: the next call may well succeed', async () => {
    const server = await answering(errorReply(500));
    const job = fleet.job();
    const call = plannedCall('500');
    expect((await job.perform(job.interceptor(), call, server)).class).toBe('overloaded');
    expect(server.requests).toHaveLength(1 + RETRY_BOUNDS['calls.retries']);
  });
});
