import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TcpProxy } from './tcp-proxy.js';

let server: Server;
let received: string[];
let proxy: TcpProxy;
/** The server's end of the first connection. */
let accepted: Promise<Socket>;

beforeEach(async () => {
  received = [];
  server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      received.push(chunk.toString());
      socket.write(`echo ${chunk}`);
    });
  });
  accepted = once(server, 'connection').then(([socket]) => socket as Socket);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  proxy = await TcpProxy.start({ host: '127.0.0.1', port: address.port });
});
afterEach(async () => {
  await proxy.stop();
  await new Promise((resolve) => server.close(resolve));
});

async function open(): Promise<Socket> {
  const socket = connect(proxy.port, '127.0.0.1');
  // The end of a test resets what is still open.
  socket.on('error', () => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

async function answerTo(socket: Socket, text: string): Promise<string> {
  socket.write(text);
  const [chunk] = await once(socket, 'data');
  return String(chunk);
}

describe('the TCP proxy of the tests', () => {
  it('passes bytes both ways, in order under delay', async () => {
    const socket = await open();
    expect(await answerTo(socket, 'a')).toBe('echo a');
    proxy.delayMs = 20;
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    for (const part of ['1', '2', '3']) {
      socket.write(part);
      await new Promise(setImmediate);
    }
    await expect.poll(() => text.match(/\d/g)?.join('')).toBe('123');
    expect([proxy.accepted, proxy.openConnections]).toEqual([1, 1]);
  });

  it.each(['request', 'answer'])('a delay that ends keeps the bytes of the %s in order', async (what) => {
    const socket = await open();
    const sender = what === 'request' ? socket : await accepted;
    let answers = '';
    socket.on('data', (chunk) => {
      answers += chunk;
    });
    proxy.delayMs = 500;
    sender.write('first,');
    await expect.poll(() => proxy.incomingBytes).toBe('first,'.length);
    proxy.delayMs = 0;
    sender.write('second');
    const arrived = () => (what === 'request' ? received.join('') : answers);
    await expect.poll(() => arrived().length).toBe('first,second'.length);
    expect(arrived()).toBe('first,second');
  });

  it('what follows swallowed bytes never arrives, whatever the link does next', async () => {
    const socket = await open();
    await answerTo(socket, 'a');
    proxy.mode = 'black-hole';
    socket.write('lost');
    await expect.poll(() => proxy.swallowedBytes).toBe('lost'.length);
    proxy.mode = 'half-open';
    socket.write('after the hole');
    await expect.poll(() => proxy.swallowedBytes).toBe('lostafter the hole'.length);
    expect(received).toEqual(['a']);
  });

  it('half-open: what is sent arrives, no answer comes back', async () => {
    const socket = await open();
    await answerTo(socket, 'a');
    proxy.mode = 'half-open';
    const answers: string[] = [];
    socket.on('data', (chunk) => answers.push(String(chunk)));
    socket.write('b');
    await expect.poll(() => proxy.swallowedBytes).toBe('echo b'.length);
    expect(received).toEqual(['a', 'b']);
    proxy.mode = 'open';
    socket.write('c');
    // A stream with a hole in it does not go on; a new one works.
    expect(await answerTo(await open(), 'd')).toBe('echo d');
    expect(answers).toEqual([]);
    expect(received).not.toContain('c');
  });

  it('black hole: nothing arrives, and neither side gets an error', async () => {
    const socket = await open();
    await answerTo(socket, 'a');
    proxy.mode = 'black-hole';
    socket.write('lost');
    const second = await open();
    second.write('lost too');
    await expect.poll(() => proxy.swallowedBytes).toBe('lost'.length + 'lost too'.length);
    proxy.mode = 'open';
    expect(await answerTo(await open(), 'b')).toBe('echo b');
    expect(received.join('')).not.toContain('lost');
    expect([socket.destroyed, second.destroyed]).toEqual([false, false]);
  });

  it('cut: standing connections are reset, new ones work', async () => {
    const socket = await open();
    await answerTo(socket, 'a');
    const failed = new Promise((resolve) => socket.once('error', resolve));
    proxy.cut();
    expect(await failed).toMatchObject({ code: 'ECONNRESET' });
    expect(await answerTo(await open(), 'b')).toBe('echo b');
  });

  it('refusing: new connections are reset, open ones go on', async () => {
    const socket = await open();
    await answerTo(socket, 'a');
    proxy.mode = 'refusing';
    const refused = connect(proxy.port, '127.0.0.1');
    expect(await new Promise((resolve) => refused.once('error', resolve))).toMatchObject({
      code: 'ECONNRESET',
    });
    expect(await answerTo(socket, 'b')).toBe('echo b');
  });
});
