import { once } from 'node:events';
import { mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEEPEST_NESTING } from '../../src/gateway/http/json-bounds.js';
import { redisOfFile } from '../support/redis.js';
import { startTestGateway, type TestGateway } from './gateway-fixture.js';

const CHECK = '/v1/jobs/solution-check';
const roots = mkdtempSync(join(tmpdir(), 'roots-'));

const redis = redisOfFile();
let gateway: TestGateway;

beforeAll(async () => {
  mkdirSync(join(roots, 'inside'));
  symlinkSync('/etc', join(roots, 'link'));
  gateway = await startTestGateway(redis, 'refusals', { bodyBytes: 2 ** 20, workspaceRoots: [roots] });
});
afterAll(async () => {
  await gateway.close();
});

function nested(depth: number): string {
  return `{"payload":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
}

/** Sends bytes as they are, and gives what comes back until the server is done. */
function raw(text: string | Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(gateway.port, '127.0.0.1', () => socket.write(text));
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk.toString();
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });
}

describe('bodies that are refused', () => {
  it.each([
    ['no JSON', '{"payload":', 400, 'malformed-request'],
    ['nothing', '', 400, 'malformed-request'],
    ['a list', '[]', 422, 'invalid-payload'],
    ['null', 'null', 422, 'invalid-payload'],
    ['a depth of 10,000', nested(10_000), 400, 'malformed-request'],
    ['a depth just above the limit', nested(DEEPEST_NESTING + 1), 400, 'malformed-request'],
    [
      '__proto__ at the top',
      '{"__proto__":{"x":1},"payload":{"solution":{"content":"x"}}}',
      400,
      'malformed-request',
    ],
    [
      '__proto__ below',
      '{"payload":{"solution":{"content":"x"},"tags":{"__proto__":"x"}}}',
      400,
      'malformed-request',
    ],
    ['an escaped __proto__', '{"payload":{"\\u005f_proto__":1}}', 400, 'malformed-request'],
    ['an unknown field', '{"payload":{"solution":{"content":"x"}},"x":1}', 422, 'invalid-payload'],
    ['a field of the wrong type', '{"payload":{"solution":{"content":7}}}', 422, 'invalid-payload'],
    ['a priority of 0', '{"payload":{"solution":{"content":"x"}},"priority":0}', 422, 'invalid-payload'],
    ['a newer contract', '{"payload":{"v":99,"solution":{"content":"x"}}}', 409, 'newer-contract'],
  ])('%s', async (_name, body, status, code) => {
    const answer = await gateway.send('POST', CHECK, body);
    expect([answer.status, answer.json.code]).toEqual([status, code]);
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(answer.json).toMatchObject({ status, type: `/docs#${code}`, title: expect.any(String) });
  });

  it('allows nesting up to the limit', async () => {
    const answer = await gateway.send('POST', CHECK, nested(DEEPEST_NESTING));
    expect(answer.json.code).toBe('invalid-payload');
  });

  it('names every field at fault', async () => {
    const { json } = await gateway.send('POST', CHECK, { payload: { solution: {} }, delayMs: -1, extra: 1 });
    expect(json.field).toBe('payload.solution.content');
    expect(json.errors.map(({ field }: { field: string }) => field)).toEqual([
      'payload.solution.content',
      'delayMs',
      'extra',
    ]);
  });

  it('a text above the limit is 413 and named, before any job is made', async () => {
    const small = await startTestGateway(redis, 'refusals', { bodyBytes: 4 * 2 ** 20 });
    const answer = await small.send('POST', CHECK, {
      payload: { solution: { content: 'x'.repeat(2 ** 20 + 1) } },
    });
    expect([answer.status, answer.json.code, answer.json.field]).toEqual([
      413,
      'payload-too-large',
      'payload.solution.content',
    ]);
    await small.close();
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1', ''])(
    'the content type %j is 415',
    async (type) => {
      const answer = await gateway.send('POST', CHECK, '{}', { 'content-type': type });
      expect([answer.status, answer.json.field]).toEqual([415, 'content-type']);
    },
  );

  it('a content encoding is 415: nothing is unpacked', async () => {
    const answer = await gateway.send('POST', CHECK, '{}', { 'content-encoding': 'gzip' });
    expect([answer.status, answer.json.field]).toEqual([415, 'content-encoding']);
  });

  it('bytes that are no UTF-8 are 400', async () => {
    const head = `POST ${CHECK} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n`;
    const body = Buffer.from([0x22, 0xff, 0x22]);
    const answer = await raw(Buffer.concat([Buffer.from(`${head}content-length: 3\r\n\r\n`), body]));
    expect(answer).toContain('not UTF-8');
  });
});

describe('bodies that are too large', () => {
  it('are rejected by their declared length, and the answer arrives although the client keeps sending', async () => {
    const answers = await Promise.all(
      [2, 10, 40].map((megabytes) =>
        gateway.send('POST', CHECK, Buffer.alloc(megabytes * 2 ** 20, 32).toString()),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([413, 413, 413]);
    expect(answers[0]?.json.detail).toContain(`${2 ** 20} bytes`);
  });

  it('are refused by the headers alone: no byte of the body is waited for', async () => {
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write(
      `POST ${CHECK} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100000000\r\n\r\n`,
    );
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
  });

  it('are refused without a declared length once the limit has come', async () => {
    const chunk = Buffer.alloc(300_000, 32);
    let sent = 0;
    const body = new ReadableStream({
      pull(controller) {
        sent += 1;
        if (sent > 20) controller.close();
        else controller.enqueue(chunk);
      },
    });
    const response = await fetch(`${gateway.url}${CHECK}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      duplex: 'half',
    } as RequestInit);
    expect(response.status).toBe(413);
  });

  it('are refused before they are sent, where the client asks first', async () => {
    const answer = await raw(
      `POST ${CHECK} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nexpect: 100-continue\r\n` +
        `content-type: application/json\r\ncontent-length: 100000000\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  });
});

describe('routes and parameters', () => {
  it('another method is 405 and lists those there are', async () => {
    const answer = await gateway.send('PUT', '/v1/jobs:batch', {});
    expect([answer.status, answer.headers.get('allow'), answer.json.code]).toEqual([
      405,
      'POST',
      'method-not-allowed',
    ]);
  });

  it.each([
    ['GET', '/v1/nothing', 404, 'route-not-found'],
    ['GET', '/V1/jobs', 404, 'route-not-found'],
    ['GET', '/v1/jobs/', 404, 'route-not-found'],
    ['POST', '/v1/jobs/unknown', 404, 'unknown-kind'],
    ['GET', '/v1/jobs/%E0%A4%A', 400, 'malformed-request'],
    ['GET', '/v1/jobs/solution-check-meta', 404, 'job-not-found'],
    ['GET', '/v1/jobs?state=odd', 400, 'malformed-request'],
    ['GET', '/v1/jobs?limit=0', 400, 'malformed-request'],
    ['GET', '/v1/jobs?color=red', 400, 'malformed-request'],
    ['GET', '/v1/runs/r?limit=-1', 400, 'malformed-request'],
    ['GET', `/v1/runs/${'r'.repeat(513)}`, 400, 'malformed-request'],
    [
      'GET',
      '/v1/jobs/solution-check-00000000-0000-4000-8000-000000000000?wait=soon',
      400,
      'malformed-request',
    ],
  ])('%s %s is %i', async (method, path, status, code) => {
    const answer = await gateway.send(method, path);
    expect([answer.status, answer.json.code]).toEqual([status, code]);
  });

  it('headers that are too large are 431, and the gateway continues', async () => {
    const answer = await gateway.send('GET', '/healthz', undefined, { 'x-large': 'x'.repeat(20_000) });
    expect(answer.status).toBe(431);
    expect((await gateway.send('GET', '/healthz')).status).toBe(200);
  });

  it('what is no HTTP is 400', async () => {
    expect(await raw('hello\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe('workspaces', () => {
  it.each([
    ['inside', join(roots, 'inside'), 202],
    ['the root itself', roots, 202],
    ['not there yet', join(roots, 'later'), 202],
    ['up and out', `${roots}/inside/../../etc`, 422],
    ['a name that only begins like a root', `${roots}-other`, 422],
    ['a symbolic link out', join(roots, 'link'), 422],
    ['relative', 'inside', 422],
    ['elsewhere', '/etc', 422],
    ['with a NUL', `${roots}/in\0side`, 422],
  ])('%s', async (_name, workspace, status) => {
    const answer = await gateway.send('POST', CHECK, { payload: { solution: { content: 'x' }, workspace } });
    expect(answer.status).toBe(status);
    if (status === 422) expect(answer.json.field).toBe('payload.workspace');
  });
});
