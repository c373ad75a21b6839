import { request as httpRequest, type OutgoingHttpHeaders } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TokenStore } from '../../src/gateway/auth/token-store.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { redisOfFile } from '../support/redis.js';
import { startTestGateway, type TestGateway } from './gateway-fixture.js';
import { SseClient } from './sse-client.js';

const CHECK = { payload: { solution: { content: 'x = 1\n' } } };
const SUBMIT = '/v1/jobs/solution-check';

const redis = redisOfFile();
let fleet: FleetClient;
let tokens: TokenStore;
const gateways: TestGateway[] = [];
let count = 0;

beforeEach(async () => {
  count += 1;
  fleet = await FleetClient.open({ redisUrl: redis.url, prefix: `open-${count}`, waitForSlow: true });
  tokens = new TokenStore(fleet.client, fleet.prefix);
});
afterEach(async () => {
  for (const gateway of gateways.splice(0)) await gateway.close();
  await fleet.close();
});

async function start(settings = {}): Promise<TestGateway> {
  const gateway = await startTestGateway(redis, fleet.prefix, settings);
  gateways.push(gateway);
  return gateway;
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** Status of `GET /v1/jobs`. */
async function status(gateway: TestGateway, headers: Record<string, string> = {}): Promise<number> {
  return (await gateway.send('GET', '/v1/jobs', undefined, headers)).status;
}

/** Status with headers that `fetch` does not send. */
function rawStatus(
  gateway: TestGateway,
  headers: OutgoingHttpHeaders | readonly string[],
  path = '/v1/jobs',
): Promise<number> {
  return new Promise((resolve, reject) => {
    httpRequest(gateway.url, { headers, path }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}

describe('a gateway without tokens', () => {
  it('asks for one once there is one, and all roles are in force', async () => {
    const gateway = await start();
    expect(await status(gateway)).toBe(200);
    const { token } = await tokens.add('reader', 'read');
    await expect.poll(() => status(gateway)).toBe(401);
    expect(await status(gateway, bearer('garbage'))).toBe(401);
    expect(await status(gateway, bearer(token))).toBe(200);
    const drop = await gateway.send('POST', '/v1/dead-letters:drop', { ids: ['x'] }, bearer(token));
    expect(drop.status).toBe(403);
    const board = await gateway.send('PUT', '/board/api/queues/pause', undefined, bearer(token));
    expect(board.status).toBe(403);
  });

  it('ends what was opened without a token, though nobody asks again', async () => {
    const gateway = await start();
    const { json } = await gateway.send('POST', SUBMIT, CHECK);
    const streams = [
      new SseClient(`${gateway.url}/v1/jobs/${json.id}/events`),
      new SseClient(`${gateway.url}/live`),
    ];
    expect(await Promise.all(streams.map((stream) => stream.opened))).toEqual([200, 200]);
    const waits = [
      gateway.send('GET', `/v1/jobs/${json.id}?wait=60s`),
      gateway.send('POST', '/v1/evaluations/claim?wait=60s', { queue: 'q' }),
    ];
    await expect.poll(() => gateway.openRequests).toBe(4);
    await tokens.add('first', 'admin');
    await Promise.all(streams.map((stream) => stream.ended));
    expect((await Promise.all(waits)).map((answer) => answer.status)).toEqual([401, 401]);
  });

  it('is not opened by revoking the last token, nor by a lost Redis while it runs', async () => {
    const gateway = await start();
    const { record } = await tokens.add('only', 'admin');
    await expect.poll(() => status(gateway)).toBe(401);
    await tokens.revoke(record.id);
    expect(await status(gateway)).toBe(401);
    await fleet.client.del(`${fleet.prefix}::tokens`, `${fleet.prefix}::tokens-used`);
    expect(await status(gateway)).toBe(401);
  });

  it('does not open again at a restart after the last token was revoked, unless the setting says so', async () => {
    const { record } = await tokens.add('only', 'admin');
    await tokens.revoke(record.id);
    const gateway = await start();
    expect(gateway.announcements.join()).toContain('FLEET_AUTH=open');
    expect(await status(gateway)).toBe(401);
    const opened = await start({ auth: 'open' });
    expect(opened.announcements.join()).toContain('NO LOGIN');
    expect(await status(opened)).toBe(200);
    await tokens.add('another', 'admin');
    await expect.poll(() => status(opened)).toBe(401);
  });

  it('recognizes tokens of a version that did not record them', async () => {
    const { record } = await tokens.add('old', 'admin');
    await fleet.client.del(`${fleet.prefix}::tokens-used`);
    await start();
    await tokens.revoke(record.id);
    expect(await status(await start())).toBe(401);
  });

  it('takes no token, since it has none: garbage must not be an administrator', async () => {
    const gateway = await start();
    for (const token of ['garbage', `fleet_${'0'.repeat(12)}_${'a'.repeat(43)}`]) {
      expect(await status(gateway, bearer(token))).toBe(401);
    }
  });

  it('refuses a request that a proxy passed on, whatever header says so', async () => {
    const headers = [
      ['x-forwarded-for', '127.0.0.1'],
      ['X-Forwarded-Proto', 'https'],
      ['x-forwarded-host', 'localhost'],
      ['Forwarded', 'for=127.0.0.1'],
      ['Via', '1.1 proxy'],
      ['X-Real-IP', '127.0.0.1'],
      ['cf-connecting-ip', '127.0.0.1'],
      ['x-envoy-external-address', '127.0.0.1'],
      ['x-original-forwarded-for', '127.0.0.1'],
      ['CDN-Loop', 'cdn.example'],
      ['Client-IP', '127.0.0.1'],
      ['Tailscale-User-Login', 'somebody'],
    ] as const;
    const gateway = await start();
    for (const [name, value] of headers) {
      const { status, json } = await gateway.send('GET', '/v1/jobs', undefined, { [name]: value });
      expect([status, json.field]).toEqual([403, name.toLowerCase()]);
    }
    const { token } = await tokens.add('x', 'read');
    for (const [name, value] of headers)
      await expect.poll(() => status(gateway, { ...bearer(token), [name]: value })).toBe(200);
  });

  it('sees the header of a proxy after thousands of others', async () => {
    const gateway = await start();
    const many = Array.from({ length: 2_400 }, () => ['a', 'b']).flat();
    const forwarded = ['host', 'localhost', ...many, 'x-forwarded-for', '192.0.2.1'];
    expect(await rawStatus(gateway, forwarded)).toBe(403);
    expect(await rawStatus(gateway, ['host', 'localhost', ...many])).toBe(200);
  });

  it('refuses a request that names a whole address', async () => {
    const gateway = await start();
    for (const path of ['http://fleet.example/v1/jobs', `${gateway.url}/v1/jobs`]) {
      expect([path, await rawStatus(gateway, { host: 'localhost' }, path)]).toEqual([path, 403]);
    }
  });

  it('refuses other names of this machine', async () => {
    const gateway = await start();
    expect(await rawStatus(gateway, ['host', 'localhost', 'host', 'evil.example'])).toBe(403);
    for (const host of [
      'fleet.example',
      '127.0.0.1.evil.example',
      'localhost.',
      'localhost.evil.example:80',
    ]) {
      expect([host, await rawStatus(gateway, { host })]).toEqual([host, 403]);
    }
  });
});

describe('tokens', () => {
  it('count in one form only, and once', async () => {
    const { token } = await tokens.add('x', 'read');
    const gateway = await start();
    for (const authorization of [
      token,
      `Bearer ${token},${token}`,
      `Bearer "${token}"`,
      `Bearer ${token}\u00a0`,
      `Bearer\t${token}`,
      `Token ${token}`,
      `Bearer ${token.slice(0, -1)}${token.at(-1)?.toUpperCase() === token.at(-1) ? 'a' : 'A'}`,
    ]) {
      expect([authorization, await rawStatus(gateway, { authorization })]).toEqual([authorization, 401]);
    }
    expect(
      await rawStatus(gateway, [
        'host',
        'localhost',
        'authorization',
        `Bearer ${token}`,
        'authorization',
        'Bearer x',
      ]),
    ).toBe(401);
    expect(await rawStatus(gateway, { authorization: `bearer  ${token} ` })).toBe(200);
    const query = await gateway.send('GET', `/v1/jobs?token=${token}&access_token=${token}`);
    expect(query.status).toBe(401);
    for (const method of ['HEAD', 'OPTIONS']) {
      expect([method, (await gateway.send(method, '/board/')).status]).toEqual([method, 401]);
    }
    expect((await gateway.send('HEAD', '/v1/jobs')).status).toBe(401);
  });

  it('that are wrong cost one reading for many, and a new one is let in at once', async () => {
    await tokens.add('x', 'read');
    const gateway = await start();
    const wrong = (index: number) => bearer(`fleet_${String(index).padStart(12, '0')}_${'a'.repeat(43)}`);
    await status(gateway, wrong(0));
    const readings = async () => {
      const info = await fleet.client.info('commandstats');
      return ['hget', 'hgetall'].reduce(
        (sum, name) => sum + Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(info)?.[1] ?? 0),
        0,
      );
    };
    const before = await readings();
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, index) => status(gateway, wrong(index))),
    );
    expect(new Set(answers)).toEqual(new Set([401]));
    expect((await readings()) - before).toBeLessThan(100);
    const { token } = await tokens.add('new', 'read');
    expect(await status(gateway, bearer(token))).toBe(200);
  });

  it('that are wrong are limited by address, and right ones go on', async () => {
    const { token } = await tokens.add('x', 'read');
    const gateway = await start({ requestsPerMinute: 5 });
    for (let request = 0; request < 5; request += 1) expect(await status(gateway)).toBe(401);
    expect(await status(gateway)).toBe(429);
    expect(await status(gateway, bearer(token))).toBe(200);
  });

  it('that are revoked receive no more events of a job, even before the next ping', async () => {
    const { token, record } = await tokens.add('x', 'read');
    const own = bearer((await tokens.add('y', 'submit')).token);
    const gateway = await start({ streamPingMs: 600_000 });
    const { json } = await gateway.send('POST', SUBMIT, CHECK, own);
    const events = `${gateway.url}/v1/jobs/${json.id}/events`;
    const [revoked, other] = [new SseClient(events, bearer(token)), new SseClient(events, own)];
    await Promise.all([revoked.seen('state'), other.seen('state')]);
    await tokens.revoke(record.id);
    await gateway.send('DELETE', `/v1/jobs/${json.id}`, undefined, own);
    expect((await other.seen('end')).data.state).toBe('cancelled');
    await revoked.ended;
    expect(revoked.events.map(({ event }) => event)).toEqual(['state']);
  });

  it.each([
    ['a submission', SUBMIT, JSON.stringify(CHECK)],
    ['a change on the board', '/board/api/queues/solution-check/pause', '{}'],
  ])('that are revoked before the body of %s has come do nothing', async (_, path, body) => {
    const { token, record } = await tokens.add('x', 'admin');
    const own = bearer((await tokens.add('y', 'admin')).token);
    const gateway = await start();
    const method = path === SUBMIT ? 'POST' : 'PUT';
    const headers = { ...bearer(token), 'content-type': 'application/json', 'content-length': body.length };
    const request = httpRequest(gateway.url + path, { method, headers });
    const answered = new Promise<number>((resolve, reject) => {
      request.on('response', (response) => resolve(response.resume().statusCode ?? 0)).on('error', reject);
    });
    request.write(body.slice(0, 1));
    await expect.poll(() => gateway.openRequests).toBe(1);
    // The gateway reads tokens in the order of their requests: the first one is let in before this one is answered.
    expect(await status(gateway, bearer(token))).toBe(200);
    await tokens.revoke(record.id);
    request.end(body.slice(1));
    expect(await answered).toBe(401);
    expect((await gateway.send('GET', '/v1/jobs', undefined, own)).json.jobs).toEqual([]);
    expect(await fleet.client.hexists(`${fleet.prefix}:solution-check:meta`, 'paused')).toBe(0);
  });

  it('whose role is lowered end the streams that need more', async () => {
    const { token, record } = await tokens.add('x', 'read');
    const gateway = await start({ streamPingMs: 20 });
    const stream = new SseClient(`${gateway.url}/live`, bearer(token));
    await stream.seen('overview');
    const key = `${fleet.prefix}::tokens`;
    const stored = JSON.parse((await fleet.client.hget(key, record.id)) ?? '') as object;
    await fleet.client.hset(key, record.id, JSON.stringify({ ...stored, digest: '0'.repeat(64) }));
    expect(await status(gateway, bearer(token))).toBe(401);
    await stream.ended;
  });
});

describe('what needs no token', () => {
  it('does not reveal its version', async () => {
    const gateway = await start({ auth: 'auto' });
    const { version } = (await import('../../package.json')).default;
    for (const path of ['/healthz', '/readyz', '/docs', '/v1/openapi.json', '/login', '/nothing']) {
      expect([path, (await gateway.send('GET', path)).text.includes(version)]).toEqual([path, false]);
    }
  });
});
