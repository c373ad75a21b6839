import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/calls/clock.js';
import { textOf } from '../../src/calls/message.js';
import type { CallOutcome } from '../../src/calls/outcome.js';
import { DEFAULT_CALL_LIMITS, sendCall } from '../../src/calls/send-call.js';
import type { CallRequest } from '../../src/calls/transport.js';
import { ManualClock } from '../support/manual-clock.js';
import {
  cutAfter,
  cutJsonReply,
  errorAfter,
  errorReply,
  hangReply,
  htmlReply,
  type MessagesApi,
  overloadedReply,
  type Reply,
  rateLimitReply,
  refusalReply,
  resetAfter,
  resetReply,
  stalledAfter,
  startMessagesApi,
  textReply,
  truncatedReply,
} from '../support/messages-api.js';
import { PROVIDERS } from '../support/providers.js';

const REQUEST: CallRequest = {
  model: 'claude-sonnet-5-5',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'hello' }],
};

let api: MessagesApi | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
});

async function serve(...reply: Reply[]): Promise<MessagesApi> {
  api = await startMessagesApi({ reply });
  return api;
}

describe.each(PROVIDERS)('$provider', ({ provider, transport: transportTo }) => {
  const isMessages = provider === 'anthropic';

  async function outcomeOf(reply: Reply, key = 'k'): Promise<CallOutcome> {
    const { url } = await serve(reply);
    return sendCall(REQUEST, transportTo({ apiKey: key, baseURL: url }), DEFAULT_CALL_LIMITS, systemClock);
  }

  describe('outcome classes', () => {
    it.each<[string, Reply, string, RegExp]>([
      ['a whole message', textReply('hi'), 'answered', /end_turn/],
      [
        'a stop sequence',
        textReply('hi', { stopReason: 'stop_sequence' }),
        'answered',
        isMessages ? /stop_sequence/ : /end_turn/,
      ],
      ['the token limit', truncatedReply('hal'), 'truncated', /max_tokens/],
      ['a refusal', refusalReply('cyber'), 'refused', /cyber: This request was declined/],
      [
        'a full window',
        textReply('', { stopReason: 'model_context_window_exceeded' }),
        'context-exceeded',
        /window/,
      ],
      [
        'a stop reason of tomorrow',
        textReply('x', { stopReason: 'budget_spent' }),
        'unknown-stop',
        /budget_spent/,
      ],
      [
        'a stop reason like a built-in name',
        textReply('x', { stopReason: 'toString' }),
        'unknown-stop',
        /toString/,
      ],
      [
        'a stream without its end',
        cutAfter(textReply('hi'), 3),
        'incomplete',
        /without (?:its end event|a finish reason)/,
      ],
      [
        'a stream of nothing',
        cutAfter(textReply('hi'), 0),
        'incomplete',
        /without (?:its end event|a finish reason)/,
      ],
      ['a reset in mid-stream', resetAfter(textReply('hi'), 3), 'incomplete', /broke in mid-answer/],
      ['a reset before the headers', resetReply, 'unreachable', /no answer from the server/],
      [
        'an overload inside a 200 stream',
        errorAfter(textReply('hi'), 2),
        'overloaded',
        /inside the stream: Overloaded/,
      ],
      [
        'a rate limit inside a stream',
        errorAfter(textReply('hi'), 1, 'rate_limit_error'),
        'rate-limited',
        /inside/,
      ],
      [
        'an invalid request inside a stream',
        errorAfter(textReply('hi'), 0, 'invalid_request_error', 'no'),
        'bad-request',
        /no/,
      ],
      ['HTML under 200', htmlReply(200), 'unreachable', /text\/html instead of a message/],
      ['HTML under 502', htmlReply(502), 'overloaded', /HTTP 502: .*Bad gateway/],
      ['cut JSON under 200', cutJsonReply(), 'incomplete', /cut or no JSON/],
      [
        'JSON of something else',
        { kind: 'raw', status: 200, headers: { 'content-type': 'application/json' }, body: '{"ok":true}' },
        'incomplete',
        /no (?:message|chat completion)/,
      ],
      ['an error under 200', { ...overloadedReply(), status: 200 }, 'overloaded', /Overloaded/],
      ['an empty 200', { kind: 'raw', status: 200, headers: {}, body: '' }, 'unreachable', /no content type/],
      ['400', errorReply(400, 'messages: too few'), 'bad-request', /HTTP 400: messages: too few/],
      [
        'a prompt that is too long',
        errorReply(400, 'prompt is too long: 210000 tokens > 200000 maximum'),
        'context-exceeded',
        /too long/,
      ],
      ['401', errorReply(401, 'invalid bearer token'), 'unauthorized', /HTTP 401: invalid bearer token/],
      ['402', errorReply(402), 'no-credit', /402/],
      [
        'no credit left',
        errorReply(400, 'Your credit balance is too low to access the Anthropic API', {
          'x-should-retry': 'false',
        }),
        'no-credit',
        /credit balance is too low/,
      ],
      ['403', errorReply(403), 'unauthorized', /403/],
      ['404 of the API', errorReply(404, 'model: nope'), 'unknown-model', /model: nope/],
      ['404 of another server', htmlReply(404), 'bad-request', /404/],
      ['408', errorReply(408), 'overloaded', /408/],
      ['413', errorReply(413), 'context-exceeded', /413/],
      ['429', rateLimitReply('7'), 'rate-limited', /429/],
      ['500', errorReply(500), 'overloaded', /500/],
      ['529', overloadedReply(), 'overloaded', /529: Overloaded/],
    ])('%s', async (_, reply, outcomeClass, detail) => {
      const outcome = await outcomeOf(reply);
      expect(outcome.class).toBe(outcomeClass);
      expect(outcome.detail).toMatch(detail);
    });

    it('a server that is not there is unreachable', async () => {
      const closed = await startMessagesApi({ reply: [] });
      await closed.close();
      const transport = transportTo({ apiKey: 'k', baseURL: closed.url });
      const outcome = await sendCall(REQUEST, transport, DEFAULT_CALL_LIMITS, systemClock);
      expect(outcome).toMatchObject({
        class: 'unreachable',
        detail: expect.stringContaining('ECONNREFUSED'),
      });
    });

    it('a server that speaks no HTTP is unreachable', async () => {
      const server = createServer((socket) => socket.end('SSH-2.0-OpenSSH\r\n'));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const transport = transportTo({ apiKey: 'k', baseURL: `http://127.0.0.1:${port}` });
      expect((await sendCall(REQUEST, transport, DEFAULT_CALL_LIMITS, systemClock)).class).toBe(
        'unreachable',
      );
      server.close();
    });

    it('no key at all is unauthorized, and nothing is sent', async () => {
      const { url, requests } = await serve(textReply('hi'));
      if (isMessages) vi.stubEnv('ANTHROPIC_BASE_URL', url);
      for (const name of ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'OPENAI_API_KEY', 'OPENAI_BASE_URL'])
        vi.stubEnv(name, undefined);
      const outcome = await sendCall(REQUEST, transportTo({}), DEFAULT_CALL_LIMITS, systemClock);
      vi.unstubAllEnvs();
      expect(outcome.class).toBe('unauthorized');
      expect(requests).toHaveLength(0);
    });

    it('no outcome shows the key, and a page of a proxy is cut', async () => {
      const page: Reply = { kind: 'raw', status: 500, headers: {}, body: 'x'.repeat(100_000) };
      const outcome = await outcomeOf(page, 'sk-secret');
      expect(JSON.stringify(outcome)).not.toContain('sk-secret');
      expect(outcome.detail.length).toBeLessThan(600);
    });
  });

  describe('the request', () => {
    it('is streamed, and a server that answers with JSON all the same is understood', async () => {
      const outcome = await outcomeOf(textReply('whole', { asJson: true }));
      expect(outcome.class).toBe('answered');
      expect(outcome.message && textOf(outcome.message)).toBe('whole');
      expect(outcome.tokens).toMatchObject({ inputTokens: 100, outputTokens: 20 });
      expect(api?.requests[0]?.body.stream).toBe(true);
    });

    it('honors the address and the key of the environment', async () => {
      const { url, requests } = await serve(textReply('hi'));
      const prefix = provider.toUpperCase();
      vi.stubEnv(`${prefix}_BASE_URL`, url);
      vi.stubEnv(`${prefix}_API_KEY`, 'from-env');
      const outcome = await sendCall(REQUEST, transportTo({}), DEFAULT_CALL_LIMITS, systemClock);
      vi.unstubAllEnvs();
      expect(outcome.class).toBe('answered');
      expect(requests[0]?.headers.authorization ?? requests[0]?.headers['x-api-key']).toBe('Bearer from-env');
    });

    it('keeps the headers that say when to come back', async () => {
      const reply = errorReply(429, 'slow down', {
        'retry-after': '3',
        'anthropic-ratelimit-requests-remaining': '0',
        'x-other': 'y',
      });
      expect((await outcomeOf(reply)).headers).toEqual({
        'retry-after': '3',
        'anthropic-ratelimit-requests-remaining': '0',
        'request-id': 'req_test',
      });
    });
  });

  describe('timers and abort', () => {
    const limits = { idleMs: 90_000, totalMs: 1_200_000 };

    it('a stream that falls silent is idle; what it had used is known, and the socket is closed', async () => {
      const { url, requests } = await serve(stalledAfter(textReply('hi'), 3));
      const clock = new ManualClock();
      const running = sendCall(REQUEST, transportTo({ apiKey: 'k', baseURL: url }), limits, clock);
      await clock.armed(90_000);
      clock.advance(90_000);
      expect(await running).toMatchObject({
        class: 'idle',
        ...(isMessages ? { tokens: { inputTokens: 100 } } : {}),
      });
      await requests[0]?.aborted;
      expect(clock.pending).toBe(0);
    });

    it('silence before the first event is not idle, but ends with the total time', async () => {
      const { url, requests } = await serve(hangReply);
      const clock = new ManualClock();
      const running = sendCall(REQUEST, transportTo({ apiKey: 'k', baseURL: url }), limits, clock);
      await api?.arrived(1);
      clock.advance(1_199_999);
      clock.advance(1);
      expect(await running).toMatchObject({ class: 'timeout', detail: 'no whole answer within 1200 s' });
      await requests[0]?.aborted;
    });

    // The other API sends none.
    if (isMessages)
      it('pings count as signs of life', async () => {
        const { url } = await serve(textReply('hi', { pings: true }));
        const clock = new ManualClock();
        const outcome = await sendCall(REQUEST, transportTo({ apiKey: 'k', baseURL: url }), limits, clock);
        expect(outcome.class).toBe('answered');
        const events = 6;
        expect(clock.waits.filter((ms) => ms === 90_000)).toHaveLength(2 * events - 1);
      });

    it.each([
      ['before the headers', hangReply],
      ['in mid-stream', stalledAfter(textReply('hi'), 3)],
    ])('an abort %s reaches the socket', async (_, reply) => {
      const { url, requests, arrived } = await serve(reply);
      const controller = new AbortController();
      const transport = transportTo({ apiKey: 'k', baseURL: url });
      const running = sendCall(REQUEST, transport, limits, systemClock, controller.signal);
      await arrived(1);
      controller.abort();
      expect((await running).class).toBe('cancelled');
      await requests[0]?.aborted;
    });

    it('an aborted signal sends nothing', async () => {
      const { url, requests } = await serve(textReply('hi'));
      const transport = transportTo({ apiKey: 'k', baseURL: url });
      const outcome = await sendCall(REQUEST, transport, limits, systemClock, AbortSignal.abort());
      expect(outcome.class).toBe('cancelled');
      expect(requests).toHaveLength(0);
    });

    it('leaves no listener on the signal and no timer', async () => {
      const { url } = await serve(...Array.from({ length: 20 }, () => textReply('hi')));
      const { signal } = new AbortController();
      let listeners = 0;
      const { addEventListener, removeEventListener } = signal;
      signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
        listeners += 1;
        addEventListener.apply(signal, args);
      };
      signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
        listeners -= 1;
        removeEventListener.apply(signal, args);
      };
      const clock = new ManualClock();
      const transport = transportTo({ apiKey: 'k', baseURL: url });
      for (let call = 0; call < 20; call += 1) await sendCall(REQUEST, transport, limits, clock, signal);
      expect(listeners).toBe(0);
      expect(clock.pending).toBe(0);
    });

    it.each([
      ['of success', 200, 'text/event-stream'],
      ['of failure', 400, 'application/json'],
    ])('an answer without end is aborted, one %s', async (_what, status, type) => {
      const megabyte = `event: ping\ndata: ${'x'.repeat(2 ** 20)}\n\n`;
      let sent = 0;
      const endless = createHttpServer((request, response) => {
        request.resume();
        response.writeHead(status, { 'content-type': type });
        const send = () => {
          while (!response.destroyed && response.write(megabyte)) sent += 1;
          sent += 1;
        };
        response.on('drain', send);
        send();
      });
      await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve));
      const { port } = endless.address() as AddressInfo;
      const transport = transportTo({ apiKey: 'k', baseURL: `http://127.0.0.1:${port}` });
      const outcome = await sendCall(REQUEST, transport, limits, systemClock);
      endless.closeAllConnections();
      endless.close();
      expect(outcome).not.toHaveProperty('message');
      expect(sent).toBeLessThan(100);
    });
  });
});
