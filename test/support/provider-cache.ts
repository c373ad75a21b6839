import type { RecordedRequest, Reply } from './messages-api.js';
import { textReply } from './messages-api-replies.js';

/** What a request did to the cache. */
export type CacheUse = 'write' | 'read';

/**
 * The prompt cache of a provider: an entry can be read once the answer to a request that wrote it has begun. `reply` answers
 * requests whose instructions are all cacheable.
 */
export class ProviderCache {
  /** What each request did, in the order of their arrival. */
  readonly uses: CacheUse[] = [];
  readonly #entries = new Set<string>();
  readonly #answer: (request: RecordedRequest, index: number) => Reply | Promise<Reply>;

  /** @param answer Answers each request, by default at once; the answer begins when this has returned. */
  constructor(
    answer: (request: RecordedRequest, index: number) => Reply | Promise<Reply> = () => textReply('yes'),
  ) {
    this.#answer = answer;
  }

  readonly reply = async (request: RecordedRequest, index: number): Promise<Reply> => {
    const { model, tools, system } = request.body;
    const prefix = JSON.stringify([model, tools, system]);
    const use = this.#entries.has(prefix) ? 'read' : 'write';
    this.uses.push(use);
    const reply = await this.#answer(request, index);
    if (reply.kind !== 'message') return reply;
    this.#entries.add(prefix);
    const counted = use === 'read' ? 'cache_read_input_tokens' : 'cache_creation_input_tokens';
    return { ...reply, usage: { ...reply.usage, [counted]: 5_000 } };
  };

  count(use: CacheUse): number {
    return this.uses.filter((each) => each === use).length;
  }
}
