import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ephemeralPrefix, holdPrefix, removePrefix, sweepOwnPrefixes } from '../../src/cli/own-prefix.js';
import { acquireEmbeddedRedis } from '../../src/fleet/embedded-redis.js';
import { connectProducer } from '../../src/queues/connection.js';
import { leaks } from '../support/agent-answers.js';
import { emptyFolder, fleetCommand, startFleetCommand } from '../support/fleet-command.js';
import { hangReply, type MessagesApi, type Reply, startMessagesApi } from '../support/messages-api.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

/** A process number that no process has: above the largest that Linux gives. */
const NOBODY = 2 ** 22 + 1;

describe('one-shot commands with agents', () => {
  let api: MessagesApi;
  let reply: Reply;
  let cwd: string;
  let keyed: Record<string, string>;
  beforeEach(async () => {
    reply = leaks();
    api = await startMessagesApi({ reply: () => reply });
    keyed = { ANTHROPIC_API_KEY: 'test-key', ANTHROPIC_BASE_URL: api.url };
    cwd = emptyFolder();
    for (const name of ['x.py', 's.py', 'a.py', 'out.txt']) writeFileSync(join(cwd, name), 'print(1)\n');
  });
  afterEach(() => api.close());

  it('leave no keys of their own, also where one was killed; what was spent stays in the books', async () => {
    reply = hangReply;
    const killed = startFleetCommand(['check', 'x.py'], { cwd, env: keyed });
    await api.arrived(1);
    await killed.end('SIGKILL');
    reply = leaks();
    expect((await fleetCommand(['check', 'x.py'], { cwd, env: keyed })).exitCode).toBe(0);

    const redis = await acquireEmbeddedRedis(cwd);
    const client = await connectProducer(redis.url, { waitForSlow: true });
    const keys = await client.keys('*');
    client.disconnect();
    await redis.release();
    expect(keys.filter((key) => key.startsWith('fleet-'))).toEqual([]);
    expect(keys.filter((key) => key.startsWith('fleet::spend'))).not.toEqual([]);
  });
});

describe("an invocation's own prefix", () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startTestRedis();
  });
  afterAll(() => redis.stop());

  it('is swept once its process and its connection are gone, and nothing else is', async () => {
    const shared = 'a*[b]';
    const live = ephemeralPrefix(shared);
    const elsewhere = `${shared}-${NOBODY}-0000000a`;
    const left = `${shared}-${NOBODY}-0000000b`;
    const others = [`${shared}:x`, `${shared}-night:x`, `axxb-${NOBODY}-0000000c:x`];
    const client = await connectProducer(redis.url, { waitForSlow: true });
    const container = await connectProducer(redis.url, { waitForSlow: true });
    await holdPrefix(container, elsewhere);
    const stays = [...others, `${live}:x`, `${elsewhere}:x`].sort();
    for (const key of [...stays, `${left}:x`, `${left}::y`]) await client.set(key, '1');
    await sweepOwnPrefixes(client, shared);
    expect((await client.keys('*')).sort()).toEqual(stays);
    await removePrefix(client, live);
    expect((await client.keys('*')).sort()).toEqual(stays.filter((key) => key !== `${live}:x`));
    client.disconnect();
    container.disconnect();
  });
});
