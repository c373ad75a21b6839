import type { EventSourceMessage } from 'eventsource-parser';
import type OpenAI from 'openai';
import { rememberAddress, rememberSecrets } from '../../config/redact.js';
import { NO_TIMEOUT_MS, sdkFault, wireResponse } from '../sdk-parts.js';
import type { Transport } from '../transport.js';
import { undiciFetch } from '../undici-fetch.js';
import { parseJson } from '../wire-response.js';
import { chatError, errorIn } from './chat-error.js';
import { type ChatDialect, chatRequest } from './chat-request.js';
import { readChat } from './read-chat.js';

export interface ChatTransportOptions extends Partial<ChatDialect> {
  /** Default: `OPENAI_API_KEY`; none for a server that asks for none. */
  readonly apiKey?: string;
  /** Default: `OPENAI_BASE_URL`, else OpenAI's own. */
  readonly baseURL?: string;
}

type Sdk = typeof import('openai');

interface Loaded {
  readonly sdk: Sdk;
  readonly undici: Parameters<typeof undiciFetch>[0];
  readonly createParser: typeof import('eventsource-parser').createParser;
}

/** The SDK wants a key even for a server on this machine that asks for none. */
const NO_KEY = 'none';

/** Sends calls through the OpenAI SDK, which is loaded at the first call. Retries of the SDK are off. */
export function chatTransport(options: ChatTransportOptions = {}): Transport {
  rememberSecrets(options.apiKey);
  if (options.baseURL !== undefined) rememberAddress(options.baseURL);
  const { tokenLimit = 'max_completion_tokens', format = 'json_schema' } = options;
  let loading: Promise<Loaded> | undefined;
  let client: OpenAI | undefined;
  return {
    provider: 'openai',
    server: JSON.stringify([options.baseURL ?? process.env.OPENAI_BASE_URL ?? '', tokenLimit, format]),
    async send(request, signal) {
      loading ??= load();
      const loaded = await loading;
      const { sdk, createParser } = loaded;
      try {
        client ??= createClient(loaded, options);
        const response = await client.chat.completions
          .create(chatRequest(request, { tokenLimit, format }), {
            signal,
            maxRetries: 0,
            timeout: NO_TIMEOUT_MS,
          })
          .asResponse();
        const wire = wireResponse(response, () => eventsOf(response, createParser));
        return { ...wire, message: (onEvent) => readChat(wire, onEvent) };
      } catch (thrown) {
        throw sdkFault(thrown, { ...sdk, SdkError: sdk.OpenAIError }, chatError);
      }
    },
  };
}

async function load(): Promise<Loaded> {
  const [sdk, { createParser }, undici] = await Promise.all([
    import('openai'),
    import('eventsource-parser'),
    import('undici'),
  ]);
  return { sdk, createParser, undici };
}

/** @throws OpenAIError without any credential. */
function createClient({ sdk, undici }: Loaded, { apiKey, baseURL }: ChatTransportOptions): OpenAI {
  const ownServer = baseURL ?? process.env.OPENAI_BASE_URL;
  const key = apiKey ?? (process.env.OPENAI_API_KEY || (ownServer ? NO_KEY : undefined));
  return new sdk.OpenAI({
    ...(key === undefined ? {} : { apiKey: key }),
    ...(baseURL === undefined ? {} : { baseURL }),
    maxRetries: 0,
    // At its debug level the SDK writes to standard output, which belongs to the command's own output.
    logLevel: 'off',
    fetch: withWholeErrors(undiciFetch(undici)),
  });
}

/** The SDK keeps of an error's body only its field `error`, which other servers than OpenAI's may not have. */
function withWholeErrors(send: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (url, init) => {
    const response = await send(url, init);
    if (response.ok) return response;
    const read = response.text;
    const text = async () => {
      const body = await read();
      const json = parseJson(body);
      return json === undefined ? body : JSON.stringify({ error: errorIn(json) });
    };
    return Object.assign(response, { text });
  };
}

/** Events as they come, without web streams (see `undiciFetch`). */
async function* eventsOf(
  response: Response,
  createParser: Loaded['createParser'],
): AsyncGenerator<{ event: string | null; data: string }> {
  const ready: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => ready.push(event) });
  const decoder = new TextDecoder();
  for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
    parser.feed(decoder.decode(bytes, { stream: true }));
    for (const { event, data } of ready.splice(0)) yield { event: event ?? null, data };
  }
  // Some servers leave out the empty line after the last event.
  parser.feed('\n\n');
  for (const { event, data } of ready) yield { event: event ?? null, data };
}
