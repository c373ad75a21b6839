import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { safeNext } from '../../src/gateway/auth/login.js';
import { RequestRate } from '../../src/gateway/auth/request-rate.js';
import type { Role } from '../../src/gateway/auth/roles.js';
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
let gateway: TestGateway | undefined;
let count = 0;

beforeEach(async () => {
  count += 1;
  fleet = await FleetClient.open({ redisUrl: redis.url, prefix: `auth-${count}`, waitForSlow: true });
  tokens = new TokenStore(fleet.client, fleet.prefix);
});
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
  await fleet.close();
});

async function start(settings = {}, options = {}): Promise<TestGateway> {
  gateway = await startTestGateway(redis, fleet.prefix, settings, options);
  return gateway;
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const newToken = async (role: Role) => (await tokens.add(`a ${role}`, role)).token;

/** Logs a browser in; returns its cookie header. */
async function logIn(server: TestGateway, token: string): Promise<{ cookie: string }> {
  const answer = await server.send('POST', '/login', `token=${token}&next=%2Fdocs`, {
    'content-type': 'application/x-www-form-urlencoded',
    origin: server.url,
  });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/docs']);
  return { cookie: (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '' };
}

describe('starting', () => {
  it('on loopback without tokens says loudly that everybody may do everything', async () => {
    const server = await start();
    expect(server.announcements.join()).toContain('NO LOGIN');
    expect((await server.send('POST', SUBMIT, CHECK)).status).toBe(202);
  });

  it('anywhere else without tokens is refused, and says how to make one', async () => {
    await expect(start({}, { host: '0.0.0.0' })).rejects.toMatchObject({
      code: 'invalid-configuration',
      message: expect.stringContaining('fleet token add'),
    });
    await expect(start({ auth: 'required' })).rejects.toMatchObject({ code: 'invalid-configuration' });
  });

  it.each(['127.0.0.1', '::1', 'localhost'])('%s is loopback', async (host) => {
    const server = await start({}, { host });
    expect((await server.send('GET', '/v1/jobs')).status).toBe(200);
  });

  it('with a token asks for it, on loopback too', async () => {
    await newToken('admin');
    const server = await start();
    expect(server.announcements).toEqual([]);
    expect((await server.send('POST', SUBMIT, CHECK)).status).toBe(401);
  });
});

describe('tokens', () => {
  it('each role may do what it names and no more', async () => {
    const [read, submit, admin] = await Promise.all([
      newToken('read'),
      newToken('submit'),
      newToken('admin'),
    ]);
    const server = await start();
    const statuses = async (method: string, path: string, body?: unknown) =>
      Promise.all(
        [read, submit, admin].map(
          async (token) => (await server.send(method, path, body, bearer(token))).status,
        ),
      );
    expect(await statuses('GET', '/v1/jobs')).toEqual([200, 200, 200]);
    expect(await statuses('GET', '/metrics')).toEqual([200, 200, 200]);
    expect(await statuses('GET', '/board/api/queues')).toEqual([200, 200, 200]);
    expect(await statuses('POST', SUBMIT, CHECK)).toEqual([403, 202, 202]);
    expect(await statuses('POST', '/v1/evaluations/claim', { queue: 'q' })).toEqual([403, 204, 204]);
    expect(await statuses('PUT', '/board/api/queues/summarize/pause')).toEqual([403, 403, 200]);
  });

  it('are refused when missing, wrong, cut, of another form, or revoked', async () => {
    const { token, record } = await tokens.add('gone', 'admin');
    const kept = await newToken('read');
    const server = await start();
    const status = async (headers: Record<string, string>) =>
      (await server.send('GET', '/v1/jobs', undefined, headers)).status;
    expect(await status(bearer(token))).toBe(200);
    await tokens.revoke(record.id);
    const wrong = [
      token,
      `${kept}x`,
      kept.slice(0, -1),
      kept.toUpperCase(),
      'x',
      'fleet_000000000000_'.padEnd(62, 'a'),
    ];
    for (const text of wrong) expect(await status(bearer(text)), text).toBe(401);
    expect(await status({})).toBe(401);
    expect(await status({ authorization: `Basic ${Buffer.from(`:${kept}`).toString('base64')}` })).toBe(401);
    const answer = await server.send('GET', '/v1/jobs');
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
    expect(answer.json.code).toBe('unauthenticated');
  });

  it('that are revoked end the event streams that were opened with them', async () => {
    const { token, record } = await tokens.add('x', 'submit');
    await newToken('read');
    const server = await start({ streamPingMs: 20 });
    const { json } = await server.send('POST', SUBMIT, CHECK, bearer(token));
    const client = new SseClient(`${server.url}/v1/jobs/${json.id}/events`, bearer(token));
    await client.seen('state');
    await tokens.revoke(record.id);
    await client.ended;
    expect(client.events.map(({ event }) => event)).toEqual(['state']);
  });

  it('are in Redis as digests only', async () => {
    const token = await newToken('admin');
    const secret = token.split('_').slice(2).join('_');
    expect(JSON.stringify(await fleet.client.hgetall(`${fleet.prefix}::tokens`))).not.toContain(secret);
    expect(JSON.stringify(await tokens.list())).not.toContain('digest');
  });

  it('are limited in how often they ask', async () => {
    const [busy, calm] = [await newToken('read'), await newToken('read')];
    const server = await start({ requestsPerMinute: 5 });
    const ask = (token: string) => server.send('GET', '/v1/jobs', undefined, bearer(token));
    for (let request = 0; request < 5; request += 1) expect((await ask(busy)).status).toBe(200);
    const refused = await ask(busy);
    expect([refused.status, refused.json.code]).toEqual([429, 'too-many-requests']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect((await ask(calm)).status).toBe(200);
  });

  it('the limit refills over the minute', () => {
    let now = 0;
    const rate = new RequestRate(60, 'requests', () => now);
    for (let request = 0; request < 60; request += 1) rate.take('a');
    expect(() => rate.take('a')).toThrow('more than 60');
    now = 999;
    expect(() => rate.take('a')).toThrow('more than 60');
    now = 1_001;
    rate.take('a');
    expect(() => rate.take('a')).toThrow('more than 60');
  });
});

describe('browsers', () => {
  it('are led to the login and back, and stay logged in by a cookie no script can read', async () => {
    const token = await newToken('read');
    const server = await start();
    const page = await server.send('GET', '/', undefined, { accept: 'text/html' });
    expect([page.status, page.headers.get('location')]).toEqual([303, '/login?next=%2F']);
    expect((await server.send('GET', '/login')).text).toContain('name="token"');
    const { cookie } = await logIn(server, token);
    expect((await server.send('GET', '/', undefined, { cookie })).status).toBe(200);
    expect((await server.send('GET', '/v1/jobs', undefined, { cookie })).status).toBe(200);
    const form = { 'content-type': 'application/x-www-form-urlencoded', origin: server.url };
    const again = await server.send('POST', '/login', `token=${token}`, form);
    expect(again.headers.get('set-cookie')).toMatch(/HttpOnly/);
    expect(again.headers.get('set-cookie')).toMatch(/SameSite=Strict/);
    expect(again.headers.get('set-cookie')).not.toContain(token);
    const wrong = await server.send('POST', '/login', 'token=wrong', form);
    expect([wrong.status, wrong.headers.get('set-cookie')]).toEqual([401, null]);
  });

  it('are logged out by logging out, and when their token is revoked', async () => {
    const { token, record } = await tokens.add('x', 'admin');
    await newToken('read');
    const server = await start();
    const [one, two] = [await logIn(server, token), await logIn(server, token)];
    await server.send('POST', '/logout', '', { ...one, origin: server.url });
    expect((await server.send('GET', '/v1/jobs', undefined, one)).status).toBe(401);
    expect((await server.send('GET', '/v1/jobs', undefined, two)).status).toBe(200);
    await tokens.revoke(record.id);
    expect((await server.send('GET', '/v1/jobs', undefined, two)).status).toBe(401);
  });

  it('change nothing for another site', async () => {
    const token = await newToken('admin');
    const guarded = await start();
    const { cookie } = await logIn(guarded, token);
    const attempts: [string, Record<string, string>, number][] = [
      ['its own page', { origin: guarded.url }, 202],
      ['its own page, by fetch metadata', { 'sec-fetch-site': 'same-origin' }, 202],
      ['another site', { origin: 'https://evil.example' }, 403],
      ['another port', { origin: 'http://127.0.0.1:1' }, 403],
      ['a sandboxed page', { origin: 'null' }, 403],
      ['a sibling site', { 'sec-fetch-site': 'same-site', origin: guarded.url }, 403],
      ['nobody says who', {}, 403],
    ];
    for (const [who, headers, status] of attempts) {
      const answer = await guarded.send('POST', SUBMIT, CHECK, { cookie, ...headers });
      expect([who, answer.status]).toEqual([who, status]);
    }
    const board = await guarded.send('PUT', '/board/api/queues/summarize/pause', undefined, {
      cookie,
      origin: 'https://evil.example',
    });
    expect(board.status).toBe(403);
    const program = await guarded.send('POST', SUBMIT, CHECK, {
      ...bearer(token),
      origin: 'https://evil.example',
    });
    expect(program.status).toBe(202);
  });

  it('change nothing for another site where there is no login either', async () => {
    const server = await start();
    const evil = { origin: 'https://evil.example' };
    expect((await server.send('POST', SUBMIT, CHECK, evil)).status).toBe(403);
    expect((await server.send('POST', SUBMIT, CHECK)).status).toBe(202);
    expect((await server.send('DELETE', '/v1/jobs/x', undefined, evil)).status).toBe(403);
    const form = await server.send('POST', '/login', 'token=x', {
      'content-type': 'application/x-www-form-urlencoded',
      ...evil,
    });
    expect(form.status).toBe(403);
  });

  it('a foreign name for this machine is refused where there is no login', async () => {
    const server = await start({ trustedHosts: ['fleet.local'] });
    const status = async (host: string) => {
      const { request } = await import('node:http');
      return new Promise((resolve, reject) => {
        request(`${server.url}/v1/jobs`, { headers: { host } }, (response) => {
          response.resume();
          resolve(response.statusCode);
        })
          .on('error', reject)
          .end();
      });
    };
    expect(await status('evil.example')).toBe(403);
    expect(await status(`localhost:${server.port}`)).toBe(200);
    expect(await status(`[::1]:${server.port}`)).toBe(200);
    expect(await status('fleet.local')).toBe(200);
  });

  it.each([
    ['/board/queue/x?a=b', '/board/queue/x?a=b'],
    ['//evil.example', '/'],
    ['/\\evil.example', '/'],
    ['https://evil.example', '/'],
    ['javascript:alert(1)', '/'],
    ['/"><script>', '/'],
    [['/a', '/b'], '/'],
    [undefined, '/'],
  ])('after the login %j leads to %s', (next, target) => {
    expect(safeNext(next)).toBe(target);
  });
});

describe('headers and logs', () => {
  it('every answer carries the security headers', async () => {
    const server = await start();
    for (const path of ['/', '/docs', '/board/', '/v1/jobs', '/nothing', '/login']) {
      const { headers } = await server.send('GET', path);
      const policy = headers.get('content-security-policy') ?? '';
      expect([path, policy]).toEqual([path, expect.stringContaining("default-src 'none'")]);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toMatch(/script-src 'self'(;|$)/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-powered-by')).toBeNull();
    }
  });

  it('no token, cookie, key or payload is logged, whatever happens', async () => {
    const token = await newToken('admin');
    const server = await start();
    const { cookie } = await logIn(server, token);
    const secret = { payload: { solution: { content: 'SECRET_SCRIPT = 1\n' } }, key: 'SECRET_KEY' };
    await server.send('POST', SUBMIT, secret, bearer(token));
    await server.send('POST', SUBMIT, { ...secret, extra: 'SECRET_EXTRA' }, bearer(token));
    await server.send('POST', SUBMIT, '{"SECRET_BROKEN', bearer(token));
    await server.send('GET', '/v1/runs/SECRET_RUN?limit=SECRET_QUERY', undefined, { cookie });
    await server.send('GET', '/v1/jobs', undefined, bearer(`${token}x`));
    const log = server.log();
    expect(log).toContain('"route":"/v1/jobs/solution-check"');
    expect(log).not.toMatch(/SECRET/);
    // The secret may contain underscores.
    expect(log).not.toContain(token.split('_').slice(2).join('_'));
    expect(log).not.toContain(cookie.split('=')[1]);
  });
});
