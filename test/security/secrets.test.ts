import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FleetConnection } from '../../src/producers/fleet-connection.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { connectProducer } from '../../src/queues/connection.js';
import { fleetCommand, type RunningCommand, startFleetCommand } from '../support/fleet-command.js';
import { errorReply, type MessagesApi, startMessagesApi } from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';

const API_KEY = 'sk-ant-very-secret-key';
const PASSWORD = 'redis-very-secret-password';

const redis = redisOfFile();
let url: string;
let api: MessagesApi;
let worker: RunningCommand | undefined;
beforeAll(async () => {
  const client = await connectProducer(redis.url);
  await client.config('SET', 'requirepass', PASSWORD);
  client.disconnect();
  url = `unix://:${PASSWORD}@${redis.socketPath}`;
  api = await startMessagesApi({ reply: () => errorReply(401, 'invalid x-api-key') });
});
afterAll(async () => {
  await api.close();
});
afterEach(async () => {
  await worker?.end('SIGTERM');
  worker = undefined;
});

const environment = () => ({
  FLEET_REDIS_URL: url,
  FLEET_PREFIX: 'secrets',
  FLEET_LOG_LEVEL: 'trace',
  ANTHROPIC_API_KEY: API_KEY,
  ANTHROPIC_BASE_URL: api.url,
});

function holdsSecret(text: string): boolean {
  return text.includes(API_KEY) || text.includes(PASSWORD);
}

describe('secrets', () => {
  it('stand in no log line, error, job or key, though everything is logged and the provider refuses the key', async () => {
    worker = startFleetCommand(['worker'], { env: environment() });
    await worker.printed('worker ready');
    const fleet = await FleetConnection.open({ redisUrl: url, prefix: 'secrets' });
    try {
      const job = await addSolutionCheck(fleet, { solution: { content: 'x = 1\n' } });
      expect(await job.wait()).toMatchObject({ state: 'failed', error: { code: 'unauthorised' } });
      expect(holdsSecret(JSON.stringify(await job.view()))).toBe(false);
      const fields = await fleet.client.hgetall(`${fleet.prefix}:solution-check:${job.id}`);
      expect(holdsSecret(JSON.stringify(fields))).toBe(false);
      const shown = await fleetCommand(['dead', 'show', job.id], { env: environment() });
      expect(shown.exitCode).toBe(0);
      expect(holdsSecret(shown.stdout + shown.stderr)).toBe(false);
    } finally {
      await fleet.close();
    }
    await worker.end('SIGTERM');
    expect(worker.lines.length).toBeGreaterThan(3);
    expect(holdsSecret(worker.lines.join('\n'))).toBe(false);
    worker = undefined;
  });

  it('are not shown by the configuration, nor by errors about a Redis that refuses them', async () => {
    const config = await fleetCommand(['config'], { env: environment() });
    expect(holdsSecret(config.stdout + config.stderr)).toBe(false);
    const wrong = `unix://:${PASSWORD}x@${redis.socketPath}`;
    const refused = await fleetCommand(['list'], { env: { ...environment(), FLEET_REDIS_URL: wrong } });
    expect(refused.exitCode).toBe(2);
    expect(holdsSecret(refused.stdout + refused.stderr)).toBe(false);
    const malformed = `redis://:${PASSWORD}@@:x`;
    const unreadable = await fleetCommand(['list'], {
      env: { ...environment(), FLEET_REDIS_URL: malformed },
    });
    expect(unreadable.exitCode).toBe(2);
    expect(holdsSecret(unreadable.stdout + unreadable.stderr)).toBe(false);
  });
});
