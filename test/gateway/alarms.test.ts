import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { AgentRunner } from '../../src/agents/agent-runner.js';
import { packagePath } from '../../src/package-root.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { leaks, runnerFor } from '../support/agent-answers.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import {
  errorReply,
  refusalReply,
  resetReply,
  startMessagesApi,
  textReply,
  truncatedReply,
} from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';
import { WAIT_LIMIT_MS } from '../support/wait-limit-ms.js';
import { startTestGateway, type TestGateway } from './gateway-fixture.js';

const script = (name: string) => ({ solution: { content: `name = '${name}'\n` } });

interface Alert {
  readonly alert: string;
  readonly expr: string;
}

const { groups } = parse(readFileSync(packagePath('deploy', 'prometheus', 'alerts.yml'), 'utf8')) as {
  readonly groups: readonly { readonly rules: readonly Alert[] }[];
};
const ALERTS = new Map(groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => [alert, expr])));

const redis = redisOfFile();
let test: TestFleet;
let gateway: TestGateway;
let fleets = 0;

beforeEach(async () => {
  fleets += 1;
  test = await startTestFleet(redis, `alarms-${fleets}`);
  gateway = await startTestGateway(redis, `alarms-${fleets}`);
});
afterEach(async () => {
  await gateway.close();
  await test.close();
});

/** The value of a sample by its whole name with labels; undefined where it is not served. */
async function sample(name: string): Promise<number | undefined> {
  const { text } = await gateway.send('GET', '/metrics');
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}

describe('an alert for dead letters', () => {
  it('goes by a metric that counts what failed for good, until it is dropped, and nothing that was cancelled', async () => {
    expect(ALERTS.get('FleetDeadLetters')).toBe('max by (kind) (fleet_dead_letters) > 0');
    const api = await startMessagesApi({ reply: () => errorReply(401) });
    const dead = 'fleet_dead_letters{kind="solution-check"}';
    try {
      expect(await sample(dead)).toBe(0);
      const cancelled = await addSolutionCheck(test.fleet, script('cancelled'));
      await cancelled.cancel();
      await test.worker(runnerFor(api));
      await cancelled.wait();
      const failing = await addSolutionCheck(test.fleet, script('failing'));
      expect((await failing.wait()).state).toBe('failed');
      await expect.poll(() => test.fleet.queue('solution-check').getFailedCount()).toBe(2);
      expect(await sample(dead)).toBe(1);
      await gateway.send('POST', '/v1/dead-letters:drop', { ids: [failing.id] });
      expect(await sample(dead)).toBe(0);
    } finally {
      await api.close();
    }
  });
});

describe('an alert for handlers that do not stop', () => {
  it('goes by the reason of the jobs whose slots were freed', async () => {
    expect(ALERTS.get('FleetJobsIgnoreAbort')).toContain('fleet_jobs_total{reason="handler-ignored-abort"}');
    const runner = { name: 'anthropic', ask: () => new Promise(() => undefined) } as unknown as AgentRunner;
    await test.worker(runner, { jobTimeoutMs: 200, abortGraceMs: 50 });
    await (await addSolutionCheck(test.fleet, script('deaf'))).wait();
    const ended = 'outcome="failed",reason="handler-ignored-abort"';
    await expect.poll(() => sample(`fleet_jobs_total{kind="solution-check",${ended}}`)).toBe(1);
  });
});

describe('an alert for an account without credit', () => {
  it('goes by the open circuit, also of a model that was never paid for today', async () => {
    expect(ALERTS.get('FleetNoCredit')).toBe(
      'max by (model) (fleet_model_blocked_seconds{why="no-credit"}) > 0',
    );
    const api = await startMessagesApi({ reply: () => errorReply(402) });
    try {
      await test.worker(runnerFor(api));
      await addSolutionCheck(test.fleet, script('unpaid'));
      const blocked = 'fleet_model_blocked_seconds{model="claude-test",why="no-credit"}';
      await expect.poll(() => sample(blocked)).toBeGreaterThan(0);
    } finally {
      await api.close();
    }
  });
});

describe('an alert for a Redis that is nearly full', () => {
  it('goes by its memory and its limit, and comes before the gateway refuses anything', async () => {
    expect(ALERTS.get('FleetRedisNearlyFull')).toBe(
      'min(fleet_redis_room_bytes) < 0.2 * max(fleet_redis_limit_bytes)',
    );
    const limit = 8 * 2 ** 20;
    const { client } = test.fleet;
    await client.config('SET', 'maxmemory', limit);
    try {
      expect(await sample('fleet_redis_limit_bytes')).toBe(limit);
      const fractions: number[] = [];
      for (let status = 202; status === 202; ) {
        fractions.push(((await sample('fleet_redis_room_bytes')) ?? 0) / limit);
        // Text that does not compress.
        const payload = { solution: { content: randomBytes(150_000).toString('base64') } };
        status = (await gateway.send('POST', '/v1/jobs/solution-check', { payload })).status;
      }
      expect(fractions[0]).toBeGreaterThan(0.2);
      // Accepted although the alert's bound was passed: there was time to do something.
      expect(fractions.filter((fraction) => fraction < 0.2).length).toBeGreaterThan(0);
    } finally {
      await client.config('SET', 'maxmemory', 0);
    }
  });

  it('is silent where there is no limit', async () => {
    expect(await sample('fleet_redis_used_bytes')).toBeGreaterThan(0);
    expect(await sample('fleet_redis_limit_bytes')).toBeUndefined();
  });
});

it('every ended call counts by its outcome class, what is tried again and what is not', async () => {
  const replies = [
    errorReply(500),
    truncatedReply('{'),
    refusalReply(),
    resetReply,
    textReply('no JSON'),
    leaks(),
    errorReply(401),
  ];
  const api = await startMessagesApi({ reply: replies });
  try {
    await test.worker(runnerFor(api));
    for (const name of ['first', 'second', 'third']) {
      await (await addSolutionCheck(test.fleet, script(name))).wait({ timeout: WAIT_LIMIT_MS });
    }
    expect(api.requests).toHaveLength(replies.length);
    const { text } = await gateway.send('GET', '/metrics');
    const counted = [...text.matchAll(/^fleet_agent_call_outcomes_today\{outcome="([^"]+)"\} (\d+)$/gm)];
    expect(Object.fromEntries(counted.map(([, outcome, count]) => [outcome, Number(count)]))).toEqual({
      answered: 1,
      overloaded: 1,
      refused: 1,
      'schema-invalid': 1,
      truncated: 1,
      unauthorized: 1,
      unreachable: 1,
    });
  } finally {
    await api.close();
  }
});
