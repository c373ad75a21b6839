import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAX_SESSIONS } from '../../src/gateway/auth/session-store.js';
import { TokenStore } from '../../src/gateway/auth/token-store.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { redisOfFile } from '../support/redis.js';
import { type Answer, startTestGateway, type TestGateway } from './gateway-fixture.js';

const redis = redisOfFile();
let fleet: FleetClient;
let tokens: TokenStore;
let gateway: TestGateway;
let count = 0;

beforeEach(async () => {
  count += 1;
  fleet = await FleetClient.open({ redisUrl: redis.url, prefix: `sessions-${count}`, waitForSlow: true });
  tokens = new TokenStore(fleet.client, fleet.prefix);
});
afterEach(async () => {
  await gateway.close();
  await fleet.close();
});

async function start(settings = {}): Promise<void> {
  gateway = await startTestGateway(redis, fleet.prefix, settings);
}

const post = (path: string, body: string, cookie = '') =>
  gateway.send('POST', path, body, {
    'content-type': 'application/x-www-form-urlencoded',
    origin: gateway.url,
    ...(cookie === '' ? {} : { cookie }),
  });
const cookieOf = (answer: Answer) => (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
const logIn = async (token: string, cookie = '') => cookieOf(await post('/login', `token=${token}`, cookie));
const status = async (cookie: string) =>
  (await gateway.send('GET', '/v1/jobs', undefined, { cookie })).status;

describe('browser sessions', () => {
  it('end with a new login in the same browser, and by logging out', async () => {
    const { token } = await tokens.add('x', 'read');
    await start();
    const first = await logIn(token);
    const second = await logIn(token, first);
    expect([await status(first), await status(second)]).toEqual([401, 200]);
    await post('/logout', '', second);
    expect(await status(second)).toBe(401);
  });

  it('are limited for each token: one more ends the oldest', async () => {
    const [one, other] = [await tokens.add('x', 'read'), await tokens.add('y', 'read')];
    await start();
    const others = await logIn(other.token);
    const sessions: string[] = [];
    for (let session = 0; session <= MAX_SESSIONS; session += 1) sessions.push(await logIn(one.token));
    const statuses = await Promise.all(sessions.map(status));
    expect(statuses.filter((code) => code === 200)).toHaveLength(MAX_SESSIONS);
    expect(await status(others)).toBe(200);
    expect(await fleet.client.zcard(`${fleet.prefix}::sessions:${one.record.id}`)).toBe(MAX_SESSIONS);
  });

  it('end and leave nothing when their token is revoked', async () => {
    const { token, record } = await tokens.add('x', 'read');
    await tokens.add('y', 'read');
    await start();
    const session = await logIn(token);
    await tokens.revoke(record.id);
    expect(await status(session)).toBe(401);
    expect(await fleet.client.keys(`${fleet.prefix}::session*`)).toEqual([]);
  });

  it('cannot be chosen by setting a cookie, nor set beside the right one', async () => {
    const { token, record } = await tokens.add('x', 'read');
    await start();
    const fixed = `fleet_session=${record.id}.${'a'.repeat(43)}`;
    const session = await logIn(token, fixed);
    expect(session).not.toBe(fixed);
    expect([await status(fixed), await status(session)]).toEqual([401, 200]);
    expect(await status(`${fixed}; ${session}`)).toBe(401);
    expect(await status(`${session}; ${session}`)).toBe(200);
  });

  it('have a cookie that no other host can set, behind HTTPS', async () => {
    const { token } = await tokens.add('x', 'read');
    await start({ secureCookies: true });
    const answer = await post('/login', `token=${token}`);
    expect(answer.headers.get('set-cookie')).toMatch(
      /^__Host-fleet_session=\S+; Max-Age=43200; Path=\/; Expires=[^;]+; HttpOnly; Secure; SameSite=Strict$/,
    );
    const cookie = cookieOf(answer);
    expect(await status(cookie)).toBe(200);
    expect(await status(cookie.replace('__Host-', ''))).toBe(401);
  });

  it('are opened no more often than the limit of logins for every client', async () => {
    const { token } = await tokens.add('x', 'read');
    await start({ loginsPerMinute: 3 });
    const session = await logIn(token);
    expect((await post('/login', 'token=wrong')).status).toBe(401);
    expect((await post('/login', 'token=wrong')).status).toBe(401);
    const refused = await post('/login', `token=${token}`);
    expect([refused.status, refused.json.code]).toEqual([429, 'too-many-requests']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1);
    expect(await status(session)).toBe(200);
  });
});
