import type { Dispatcher } from 'undici';

/** What the SDK gives its `fetch`. */
interface FetchInit {
  readonly method?: string;
  readonly headers?: Headers;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

type Undici = Pick<typeof import('undici'), 'Agent' | 'request'>;
type Body = Dispatcher.ResponseData['body'];

const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 307, 308]);
/** What may follow a complete message if its connection is to be used again: a few bytes, at once. */
const MAX_DRAINED_BYTES = 16 * 1024;
const MAX_DRAIN_MS = 1_000;

/** More than the longest answer of a model, with every token in an event of its own. */
const MAX_ANSWER_BYTES = 64 * 2 ** 20;

/**
 * A `fetch` for the SDK over undici's plain requests: no web streams, which cost a streamed call about as much
 * processor time as all that is done with its answer. It has no time limits of its own.
 *
 * The reader of a message stops at its last event. If the end of the body follows soon, the connection is kept for the
 * next call.
 *
 * @param maxBytes The longest body that is read.
 */
export function undiciFetch(
  { Agent, request }: Undici,
  maxBytes = MAX_ANSWER_BYTES,
): typeof globalThis.fetch {
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  const send = async (url: string, { method, headers, body, signal }: FetchInit): Promise<Response> => {
    let target = new URL(url);
    for (let redirects = 0; ; redirects += 1) {
      const response = await request(target.href, {
        dispatcher,
        method: (method ?? 'GET') as Dispatcher.HttpMethod,
        headers: { ...Object.fromEntries(headers ?? []), 'accept-encoding': 'identity' },
        body: body ?? null,
        ...(signal === undefined ? {} : { signal }),
      });
      // Without a listener, a broken connection under an unread body would end the process.
      response.body.on('error', () => undefined);
      const next = redirectOf(response, target.href);
      if (next === undefined) return asResponse(url, response, maxBytes);
      void readRest(response.body);
      if (!isSameServer(target, next) || redirects === MAX_REDIRECTS)
        throw new Error(`the server redirects to ${next.host}, which is not followed`);
      target = next;
    }
  };
  return send as unknown as typeof globalThis.fetch;
}

function redirectOf({ statusCode, headers }: Dispatcher.ResponseData, from: string): URL | undefined {
  const location = [headers.location].flat()[0];
  if (!REDIRECTS.has(statusCode) || location === undefined) return undefined;
  return URL.canParse(location, from) ? new URL(location, from) : undefined;
}

/**
 * A request holds the script and the headers that a program adds, keys among them, and a provider could send it to any server that this
 * machine reaches. The step from HTTP to HTTPS stays on the same server.
 */
function isSameServer(from: URL, to: URL): boolean {
  return from.origin === to.origin || (from.hostname === to.hostname && to.protocol === 'https:');
}

/** The part of a `Response` that the SDK reads. */
function asResponse(
  url: string,
  { statusCode, headers, body }: Dispatcher.ResponseData,
  maxBytes: number,
): Response {
  const response = {
    url,
    status: statusCode,
    ok: statusCode >= 200 && statusCode < 300,
    headers: new Headers(pairsOf(headers)),
    body: { [Symbol.asyncIterator]: () => chunksOf(body, maxBytes) },
    text: () => textOf(body, maxBytes),
    json: async () => JSON.parse(await textOf(body, maxBytes)) as unknown,
  };
  return response as unknown as Response;
}

async function* chunksOf(body: Body, maxBytes: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false })) {
      bytes += (chunk as Uint8Array).length;
      if (bytes > maxBytes) {
        body.destroy();
        throw new Error(`the answer has more than ${maxBytes} bytes`);
      }
      yield chunk as Uint8Array;
    }
  } finally {
    if (!body.readableEnded && !body.destroyed) void readRest(body);
  }
}

async function textOf(body: Body, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of chunksOf(body, maxBytes)) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/** Reads a body to its end, so that its connection can be used again; closes the connection if that takes long. */
async function readRest(body: Body): Promise<void> {
  const timer = setTimeout(() => body.destroy(), MAX_DRAIN_MS);
  await body.dump({ limit: MAX_DRAINED_BYTES });
  clearTimeout(timer);
}

function pairsOf(headers: Dispatcher.ResponseData['headers']): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((each): [string, string] => [name, each]),
  );
}
