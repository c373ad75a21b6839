import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BodyRoom, SMALL_BODY_BYTES } from '../../src/gateway/admission/body-room.js';
import { TokenStore } from '../../src/gateway/auth/token-store.js';
import { MAX_VALUES } from '../../src/gateway/http/json-bounds.js';
import { GrowingBuffer } from '../../src/gateway/http/read-json.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { redisOfFile } from '../support/redis.js';
import { startTestGateway, type TestGateway } from './gateway-fixture.js';

const SUBMIT = '/v1/jobs/solution-check';
const BODY = 2 ** 20;
const CHECK = { payload: { solution: { content: 'x = 1\n' } } };
/** Larger than a small body. */
const LARGE = { payload: { solution: { content: `x = 1\n${'# comment\n'.repeat(20_000)}` } } };

const redis = redisOfFile();
let fleet: FleetClient;
let gateway: TestGateway;
let slow: string;
let other: string;
let sockets: Socket[] = [];
let count = 0;

beforeEach(async () => {
  count += 1;
  fleet = await FleetClient.open({ redisUrl: redis.url, prefix: `slow-${count}`, waitForSlow: true });
  const tokens = new TokenStore(fleet.client, fleet.prefix);
  slow = (await tokens.add('slow', 'submit')).token;
  other = (await tokens.add('other', 'submit')).token;
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await gateway.close();
  await fleet.close();
});

async function start(limits = {}, settings = {}): Promise<void> {
  gateway = await startTestGateway(redis, fleet.prefix, { bodyBytes: BODY, ...settings }, { limits });
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function open(): Promise<Socket & { answer: string }> {
  const socket = Object.assign(connect(gateway.port, '127.0.0.1'), { answer: '' });
  socket
    .on('error', () => undefined)
    .on('data', (chunk) => {
      socket.answer += chunk.toString();
    });
  sockets.push(socket);
  await once(socket, 'connect');
  return socket;
}

/** Begins a submission, and sends so much of it. */
async function begin(length: string, sent: string): Promise<Socket & { answer: string }> {
  const socket = await open();
  const head = `POST ${SUBMIT} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nauthorization: Bearer ${slow}\r\n`;
  socket.write(`${head}${length}\r\n\r\n${sent}`);
  return socket;
}

describe('slow senders of large bodies', () => {
  const forms: [string, number, (chunk: string) => [string, string]][] = [
    ['eight that declare their length', 8, (text) => [`content-length: ${BODY - 1}`, text]],
    ['forty that declare their length', 40, (text) => [`content-length: ${BODY - 1}`, text]],
    [
      'forty in chunks',
      40,
      (text) => ['transfer-encoding: chunked', `${text.length.toString(16)}\r\n${text}\r\n`],
    ],
    ['forty that send nothing', 40, () => [`content-length: ${BODY - 1}`, '']],
  ];
  it.each(forms)('%s keep nobody else from submitting, and are ended with 408', async (_name, many, form) => {
    await start({ bodyRate: { windowMs: 1_500, minBytes: 1_000 } });
    const senders: (Socket & { answer: string })[] = [];
    for (let sender = 0; sender < many; sender += 1) senders.push(await begin(...form(' '.repeat(100_000))));
    for (const body of [CHECK, LARGE, CHECK, LARGE]) {
      expect((await gateway.send('POST', SUBMIT, body, bearer(other))).status).toBe(202);
    }
    // Small bodies of the same token do not wait for its large ones.
    expect((await gateway.send('POST', SUBMIT, CHECK, bearer(slow))).status).toBe(202);
    await vi.waitFor(() =>
      expect(senders.some(({ answer }) => answer.includes('request-too-slow'))).toBe(true),
    );
    expect(senders.filter(({ answer }) => / 50\d /.test(answer))).toEqual([]);
  });

  it('that send steadily are let finish, however slow', async () => {
    await start({ bodyRate: { windowMs: 2_500, minBytes: 10 } });
    const text = JSON.stringify(CHECK);
    const socket = await begin(`content-length: ${text.length}`, '');
    // All of it takes longer than a window; a machine that pauses for a second changes nothing.
    for (let at = 0; at < text.length; at += 4) {
      socket.write(text.slice(at, at + 4));
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    await vi.waitFor(() => expect(socket.answer).toContain(' 202 '));
  });

  it('that are many wait within their token', async () => {
    await start();
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => gateway.send('POST', SUBMIT, LARGE, bearer(slow))),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
  });

  it('a slow login form is ended with 408 too', async () => {
    await start({ bodyRate: { windowMs: 200, minBytes: 1_000 } });
    const socket = await open();
    socket.write(
      `POST /login HTTP/1.1\r\nhost: 127.0.0.1:${gateway.port}\r\norigin: ${gateway.url}\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: 100\r\n\r\ntoken=`,
    );
    await vi.waitFor(() => expect(socket.answer).toContain(' 408 '));
  });
});

describe('a request that waits', () => {
  it('holds no body while it waits', async () => {
    await start({}, { bodyBytes: 300_000 });
    const wait = () => gateway.send('POST', `${SUBMIT}?wait=300s`, LARGE, bearer(slow));
    // Two large bodies are what a token may have: all of these wait for their jobs at the same time.
    const answers = Promise.all(Array.from({ length: 8 }, wait));
    const queue = fleet.queue('solution-check');
    await vi.waitFor(async () => expect(await queue.getJobCountByTypes('wait', 'prioritized')).toBe(8));
    expect(gateway.openRequests).toBe(8);
    await gateway.close();
    expect(new Set((await answers).map(({ status }) => status))).toEqual(new Set([202]));
  });
});

describe('slow readers', () => {
  it('of answers that are ready are cut off', async () => {
    await start({ sendIdleMs: 300 });
    const socket = await open();
    socket.pause();
    const request = `GET /v1/openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n`;
    socket.write(request.repeat(120));
    await vi.waitFor(async () => expect(await gateway.connections()).toBe(1));
    await vi.waitFor(async () => expect(await gateway.connections()).toBe(0));
    // A connection no longer counts just before its requests notice its end.
    await vi.waitFor(() => expect(gateway.openRequests).toBe(0));
  });
});

describe('connections', () => {
  it('without a token are closed, the oldest first, and one with a token is served', async () => {
    await start({}, { maxConnections: 40 });
    const idle: Socket[] = [];
    for (let connection = 0; connection < 60; connection += 1) idle.push(await open());
    expect((await gateway.send('GET', '/v1/jobs', undefined, bearer(other))).status).toBe(200);
    await vi.waitFor(() => expect(idle.filter(({ closed }) => closed).length).toBeGreaterThanOrEqual(49));
    expect(idle[0]?.closed).toBe(true);
  });

  it('with a wrong token are closed too', async () => {
    await start({}, { maxConnections: 40 });
    const wrong: Socket[] = [];
    const request = `GET /v1/jobs HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${slow.slice(0, -4)}AAAA\r\n\r\n`;
    for (let connection = 0; connection < 30; connection += 1) {
      const socket = await open();
      socket.write(request);
      wrong.push(socket);
    }
    await vi.waitFor(() => expect(wrong.filter(({ closed }) => closed)).toHaveLength(20));
  });

  it('of one token are half of all at most, also where its check takes long', async () => {
    // None is ended for being slow before the last one is there.
    await start({ bodyRate: { windowMs: 600_000, minBytes: 1 } }, { maxConnections: 60 });
    const senders: (Socket & { answer: string })[] = [];
    redis.pause();
    try {
      for (let sender = 0; sender < 34; sender += 1) senders.push(await begin('content-length: 1000', '{'));
    } finally {
      redis.resume();
    }
    await vi.waitFor(() =>
      expect(senders.filter(({ answer }) => answer.includes('too-many-open'))).toHaveLength(4),
    );
    expect((await gateway.send('GET', '/v1/jobs', undefined, bearer(other))).status).toBe(200);
  });
});

describe('room for bodies', () => {
  const never = new AbortController().signal;

  it('counts small ones for their token alone, and large ones once their token has room', async () => {
    const room = new BodyRoom(BODY);
    const reservations = Array.from({ length: 3 }, () => room.open('a'));
    await Promise.all(reservations.slice(0, 2).map((reservation) => reservation.reserve(BODY, never)));
    let third = false;
    const waiting = reservations[2]?.reserve(BODY, never).then(() => {
      third = true;
    });
    await room.open('b').reserve(BODY, never);
    expect(third).toBe(false);
    reservations[0]?.hold(1_000);
    expect(room.largeBytes).toBe(1_000);
    reservations[0]?.release();
    await waiting;
    expect([third, room.largeBytes]).toEqual([true, 0]);
  });

  it('is refused where a token has too much, and comes back', async () => {
    const room = new BodyRoom(BODY);
    const reservations = Array.from({ length: 256 }, () => room.open('a'));
    for (const reservation of reservations) reservation.hold(SMALL_BODY_BYTES);
    const more = room.open('a');
    expect(() => more.hold(1)).toThrow('request bodies in memory');
    room.open('b').hold(SMALL_BODY_BYTES);
    reservations[0]?.release();
    more.hold(SMALL_BODY_BYTES);
    for (const reservation of [...reservations, more]) reservation.release();
    expect(room.tokenCount).toBe(1);
  });

  it('releases a body whose client leaves just when it gets room', async () => {
    const room = new BodyRoom(BODY);
    const [first, second, third] = [room.open('a'), room.open('a'), room.open('a')];
    await first.reserve(2 * BODY, never);
    const left = new AbortController();
    const refused = expect(second.reserve(BODY, left.signal)).rejects.toThrow();
    left.abort();
    await refused;
    second.release();
    const late = third.reserve(BODY, never);
    first.release();
    third.release();
    await late;
    expect([room.tokenCount, room.largeBytes]).toEqual([0, 0]);
  });
});

describe('bodies in memory', () => {
  it('that come in pieces of a byte take no more than twice their size', () => {
    const buffer = new GrowingBuffer();
    for (let index = 0; index < 100_000; index += 1) buffer.append(Buffer.from([index % 256]));
    expect(buffer.bytes().subarray(0, 3)).toEqual(Buffer.from([0, 1, 2]));
    expect(buffer.bytes().length).toBe(100_000);
    expect(buffer.bytes().buffer.byteLength).toBeLessThanOrEqual(200_000);
  });

  it('with millions of values are refused before they are parsed', async () => {
    await start({}, { bodyBytes: 16 * BODY });
    const body = `{"payload":[${'[],'.repeat(MAX_VALUES / 2)}[]]}`;
    const answer = await gateway.send('POST', SUBMIT, body, bearer(other));
    expect([answer.status, answer.json.detail]).toEqual([400, `the body has more than ${MAX_VALUES} values`]);
  });
});
