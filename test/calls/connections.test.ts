import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/calls/clock.js';
import type { CallOutcome } from '../../src/calls/outcome.js';
import { sdkTransport } from '../../src/calls/sdk-transport.js';
import { DEFAULT_CALL_LIMITS, sendCall } from '../../src/calls/send-call.js';
import { textReply } from '../support/messages-api.js';
import { streamEvents, wholeMessage } from '../support/messages-api-stream.js';

const REQUEST = {
  model: 'claude-sonnet-5-5',
  max_tokens: 100,
  messages: [{ role: 'user' as const, content: 'hello' }],
};

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** A separate server, and calls to it over one transport. */
async function serve(
  listener: RequestListener,
): Promise<{ server: Server; url: string; call: () => Promise<CallOutcome> }> {
  const started = createServer(listener);
  server = started;
  await once(started.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(started.address() as AddressInfo).port}`;
  const transport = sdkTransport({ apiKey: 'k', baseURL: url });
  const call = () => sendCall(REQUEST, transport, DEFAULT_CALL_LIMITS, systemClock);
  return { server: started, url, call };
}

/** A whole message, except for the end of the body. */
function writeMessage(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const { event, data } of streamEvents(textReply('hello'), REQUEST.model)) {
    response.write(`event: ${event}\ndata: ${data}\n\n`);
  }
}

it('a connection is used again, also where the end of the body comes after the last event', async () => {
  let open: ServerResponse | undefined;
  let connections = 0;
  const { server, call } = await serve((_, response) => {
    open = response;
    writeMessage(response);
  });
  server.on('connection', () => {
    connections += 1;
  });
  for (let calls = 0; calls < 20; calls += 1) {
    expect(await call()).toMatchObject({ class: 'answered' });
    open?.end();
  }
  // The end of one body may be on its way when the next call leaves, which then takes another connection.
  expect(connections).toBeLessThan(10);
});

it('a body that never ends takes nothing from the answer, and its connection is closed', async () => {
  let closed: Promise<unknown> | undefined;
  const { call } = await serve((_, response) => {
    closed = once(response, 'close');
    writeMessage(response);
  });
  expect(await call()).toMatchObject({ class: 'answered' });
  await closed;
});

it('a body that continues without end after the last event is not read for long', async () => {
  let closed: Promise<unknown> | undefined;
  const { call } = await serve((_, response) => {
    writeMessage(response);
    const more = () => {
      while (!response.destroyed && response.write(': '.padEnd(4_096, 'x')));
    };
    response.on('drain', more);
    closed = once(response, 'close');
    more();
  });
  expect(await call()).toMatchObject({ class: 'answered' });
  await closed;
});

it('asks for an answer that is not compressed, and follows a redirect with its body', async () => {
  const encodings: unknown[] = [];
  const bodies: string[] = [];
  const { call } = await serve((request, response) => {
    encodings.push(request.headers['accept-encoding']);
    request.setEncoding('utf8').on('data', (text: string) => bodies.push(text));
    request.once('end', () => {
      if (request.url?.startsWith('/moved')) {
        writeMessage(response);
        response.end();
      } else {
        response.writeHead(307, { location: '/moved' }).end();
      }
    });
  });
  expect(await call()).toMatchObject({ class: 'answered' });
  expect(encodings).toEqual(['identity', 'identity']);
  expect(bodies[1]).toBe(bodies[0]);
});

it.each([
  ['another host', (port: number) => `http://localhost:${port}/v1/messages`],
  ['another port', (port: number) => `http://127.0.0.1:${port}/`],
  ['another port, without a scheme', (port: number) => `//127.0.0.1:${port}/`],
])('follows no redirect to %s: no byte of the request goes there', async (_what, location) => {
  let received = 0;
  const elsewhere = createServer((request, response) => {
    received += 1;
    request.resume();
    response.end('{}');
  });
  await once(elsewhere.listen(0), 'listening');
  const { port } = elsewhere.address() as AddressInfo;
  const { call } = await serve((request, response) => {
    request.resume();
    response.writeHead(307, { location: location(port) }).end();
  });
  expect(await call()).toMatchObject({
    class: 'unreachable',
    detail: expect.stringContaining('which is not followed'),
  });
  expect(received).toBe(0);
  elsewhere.close();
});

it('follows redirects without end not for long', async () => {
  let requests = 0;
  const { call } = await serve((request, response) => {
    requests += 1;
    request.resume();
    response.writeHead(308, { location: `/${requests}` }).end();
  });
  expect(await call()).toMatchObject({ class: 'unreachable' });
  expect(requests).toBe(6);
});

describe('an answer that is no message', () => {
  it.each([
    ['a page', 200, { 'content-type': 'text/html' }],
    ['a body of no type', 200, {}],
    ['a redirect that is not followed', 307, { location: 'http://localhost:1/' }],
  ])('%s, without an end: its connection is closed', async (_what, status, headers) => {
    let closed: Promise<unknown> | undefined;
    const { call } = await serve((request, response) => {
      request.resume();
      closed = once(response, 'close');
      response.writeHead(status, headers).write('x');
    });
    expect(await call()).toMatchObject({ class: 'unreachable' });
    await closed;
  });

  it('whose connection breaks in its middle does not end the process', async () => {
    const errors: unknown[] = [];
    const note = (error: unknown) => errors.push(error);
    process.on('uncaughtException', note);
    try {
      const { call } = await serve((request, response) => {
        request.resume();
        response.writeHead(200, { 'content-type': 'text/html', 'content-length': '10' }).write('x');
        setImmediate(() => response.socket?.resetAndDestroy());
      });
      for (let calls = 0; calls < 5; calls += 1) expect(await call()).toMatchObject({ class: 'unreachable' });
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      process.off('uncaughtException', note);
    }
    expect(errors).toEqual([]);
  });
});

it.each([
  ['of megabytes', 'm'.repeat(5_000_000), 'm'.repeat(200)],
  ['with control characters', 'm\u001b[2J\n\u202ex', 'm?[2J??x'],
])('a name of a model %s is one short line', async (_what, model, expected) => {
  const { call } = await serve((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(wholeMessage(textReply('hello', { model }), model)));
  });
  expect((await call()).message?.model).toBe(expected);
});

it('counts of tokens that nothing could have are no counts', async () => {
  const usage = { input_tokens: 1e300, output_tokens: 1 };
  const { call } = await serve((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(wholeMessage(textReply('hello', { usage }), REQUEST.model)));
  });
  expect(await call()).toMatchObject({ class: 'incomplete' });
});

it.each([
  [
    'hundreds of thousands of tool calls',
    () => `[${Array(200_000).fill('{"type":"tool_use","id":"a","name":"Read","input":{}}')}]`,
  ],
  [
    'a path of megabytes',
    () => `[{"type":"tool_use","id":"a","name":"Read","input":{"file_path":"${'x'.repeat(7_000_000)}"}}]`,
  ],
  ['values nested without end', () => `[{"type":"x","a":${'['.repeat(50_000)}${']'.repeat(50_000)}}]`],
])('an answer of %s goes into no conversation', async (_what, content) => {
  const { call } = await serve((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'application/json' });
    const rest = '"stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":2}';
    response.end(`{"type":"message","model":"m","content":${content()},${rest}}`);
  });
  const outcome = await call();
  expect(outcome).toMatchObject({ class: 'schema-invalid', tokens: { inputTokens: 3 } });
  expect(outcome.message).toBeUndefined();
});
