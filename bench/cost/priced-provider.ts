import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BATCH_PRICE, costOf } from '../../src/calls/cost.js';
import type { TokenCounts } from '../../src/calls/message.js';
import { BatchesApi } from '../../test/support/batches-api.js';
import { type MessageReply, textReply } from '../../test/support/messages-api-replies.js';
import { streamEvents, wholeMessage } from '../../test/support/messages-api-stream.js';
import type { ModelRequest } from './labeled-model.js';

/** Characters of a token: code and English are near it. No tokenizer is needed to compare ways of asking. */
const CHARACTERS_A_TOKEN = 3.5;

/** Default of `firstTokenMs`. */
const FIRST_TOKEN_MS = 40;

/** Tokens of the shortest prefix that is cached, by model. */
const MIN_PREFIX: readonly (readonly [model: RegExp, tokens: number])[] = [
  [/opus|haiku/, 4_096],
  [/./, 1_024],
];

const FIVE_MINUTES_MS = 300_000;
const HOUR_MS = 3_600_000;

interface CacheControl {
  readonly ttl?: '5m' | '1h';
}

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly cache_control?: CacheControl;
}

interface RequestBody {
  readonly model: string;
  readonly stream?: boolean;
  readonly tools?: unknown;
  readonly system?: string | readonly Block[];
  readonly messages: readonly { readonly content: string | readonly Block[] }[];
  readonly output_config?: { readonly format?: { readonly schema: unknown } };
}

/** What all requests so far cost. */
export interface Bill {
  readonly calls: number;
  /** Calls that were answered in batches: a part of `calls`. */
  readonly batchCalls: number;
  readonly usd: number;
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
}

const NOTHING: Bill = {
  calls: 0,
  batchCalls: 0,
  usd: 0,
  inputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
};

export interface PricedProvider {
  readonly url: string;
  readonly bill: Bill;
  /** Starts a new bill with an empty cache. */
  reset(): void;
  close(): Promise<void>;
}

interface CacheEntry {
  /** When the answer of the request that wrote it began, in milliseconds. */
  readonly readableAt: number;
  expiresAt: number;
}

const tokensOf = (text: string) => Math.ceil(text.length / CHARACTERS_A_TOKEN);

/**
 * A Messages API that counts tokens, caches prefixes as the provider does and writes a bill: 1.25 times the input price for what
 * is cached for five minutes, twice for an hour, a tenth or less for what is read from it. A prefix is cached from the model's
 * minimum on, and can be read once the first answer has begun. Batches cost half. The requests of one are processed at the same
 * time, so that none of them reads what another one has written to the cache: the provider promises no hits there.
 *
 * @param firstTokenMs Milliseconds until an answer begins: only then can others read what the request wrote to the cache.
 */
export async function startPricedProvider(
  answer: (request: ModelRequest) => string,
  firstTokenMs: number = FIRST_TOKEN_MS,
): Promise<PricedProvider> {
  let bill = NOTHING;
  const cache = new Map<string, CacheEntry>();

  function count(body: RequestBody, text: string, now: number): TokenCounts {
    const schema = body.output_config?.format?.schema;
    const tools = body.tools === undefined ? '' : JSON.stringify(body.tools);
    const system =
      typeof body.system === 'string' ? [{ type: 'text', text: body.system }] : (body.system ?? []);
    const all = [tools, ...system.map((block) => block.text ?? '')].join('');
    const last = system.findLastIndex((block: Block) => block.cache_control !== undefined);
    const prefix = [tools, ...system.slice(0, last + 1).map((block) => block.text ?? '')].join('');
    const rest = tokensOf(
      [
        all.slice(prefix.length),
        ...body.messages.map(contentOf),
        schema === undefined ? '' : JSON.stringify(schema),
      ].join(''),
    );
    const none = {
      inputTokens: rest,
      outputTokens: tokensOf(text),
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      cacheWrite1hTokens: 0,
    };
    if (last === -1) return none;
    const prefixTokens = tokensOf(prefix);
    const minimum = MIN_PREFIX.find(([model]) => model.test(body.model))?.[1] ?? 0;
    if (prefixTokens < minimum) return { ...none, inputTokens: rest + prefixTokens };
    const isLong = (system[last] as Block).cache_control?.ttl === '1h';
    const key = createHash('sha256').update(`${body.model}\n${prefix}`).digest('hex');
    const entry = cache.get(key);
    const expiresAt = now + (isLong ? HOUR_MS : FIVE_MINUTES_MS);
    if (entry !== undefined && entry.readableAt <= now && now < entry.expiresAt) {
      entry.expiresAt = expiresAt;
      return { ...none, cacheReadTokens: prefixTokens };
    }
    if (entry === undefined || entry.expiresAt <= now)
      cache.set(key, { readableAt: now + firstTokenMs, expiresAt });
    return { ...none, cacheWriteTokens: prefixTokens, cacheWrite1hTokens: isLong ? prefixTokens : 0 };
  }

  function charge(model: string, tokens: TokenCounts, inBatch: boolean): void {
    bill = {
      calls: bill.calls + 1,
      batchCalls: bill.batchCalls + (inBatch ? 1 : 0),
      usd: bill.usd + (costOf(model, tokens) ?? Number.NaN) * (inBatch ? BATCH_PRICE : 1),
      inputTokens: bill.inputTokens + tokens.inputTokens,
      cacheReadTokens: bill.cacheReadTokens + tokens.cacheReadTokens,
      cacheWriteTokens: bill.cacheWriteTokens + tokens.cacheWriteTokens,
      outputTokens: bill.outputTokens + tokens.outputTokens,
    };
  }

  /** Answers a request that is read at a time, and charges for it. */
  function billed(body: RequestBody, now: number, inBatch: boolean): MessageReply {
    const system =
      typeof body.system === 'string'
        ? body.system
        : (body.system ?? []).map((block) => block.text).join('\n');
    const text = [system, ...body.messages.map(contentOf)].join('\n\n');
    const said = answer({ text, fields: fieldsOf(body.output_config?.format?.schema) });
    const tokens = count(body, said, now);
    charge(body.model, tokens, inBatch);
    return textReply(said, {
      usage: {
        input_tokens: tokens.inputTokens,
        output_tokens: tokens.outputTokens,
        cache_creation_input_tokens: tokens.cacheWriteTokens,
        cache_read_input_tokens: tokens.cacheReadTokens,
      },
    });
  }

  const batchStarts = new WeakMap<object, number>();
  const batches = new BatchesApi((line) => {
    const batch = batches.batches.find(({ lines }) => lines.includes(line)) ?? line;
    const start = batchStarts.get(batch) ?? performance.now();
    batchStarts.set(batch, start);
    return billed(line.params as RequestBody, start, true);
  });
  batches.endAtOnce();

  const server = createServer((incoming, response) => {
    const handled = (async () => {
      const sent = await textOf(incoming);
      if (incoming.url?.startsWith('/v1/messages/batches')) {
        await batches.handle(incoming, sent, response);
        return;
      }
      const body = JSON.parse(sent) as RequestBody;
      const reply = billed(body, performance.now(), false);
      await new Promise((resolve) => setTimeout(resolve, firstTokenMs));
      if (body.stream !== true) {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(wholeMessage(reply, body.model)));
        return;
      }
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
      for (const { event, data } of streamEvents(reply, body.model))
        response.write(`event: ${event}\ndata: ${data}\n\n`);
      response.end();
    })();
    handled.catch((error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      response.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get bill() {
      return bill;
    },
    reset: () => {
      bill = NOTHING;
      cache.clear();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function contentOf({ content }: RequestBody['messages'][number]): string {
  return typeof content === 'string' ? content : content.map((block) => block.text ?? '').join('\n');
}

/** Names of all fields in a JSON schema, at any depth. */
function fieldsOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([name, value]) =>
    name === 'properties' ? [...Object.keys(value as object), ...fieldsOf(value)] : fieldsOf(value),
  );
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
