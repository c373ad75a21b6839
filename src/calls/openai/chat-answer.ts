import {
  type ContentBlock,
  parseToolInput,
  type ReceivedMessage,
  shortName,
  type TokenCounts,
} from '../message.js';
import { CallFault } from '../outcome.js';
import { type ChatChunk, chatTokens, type ToolCallPiece } from './chat-chunk.js';

interface OpenToolCall {
  id: string | undefined;
  name: string;
  readonly pieces: string[];
  extra: unknown;
}

/** Stop reasons by their names in the Chat Completions API; any other is kept, and is then unknown. */
const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'refusal',
};

/** Assembles an answer of the Chat Completions API from its chunks, in the form of the Messages API. */
export class ChatAnswer {
  #id: string | undefined;
  #model: string | undefined;
  #finish: string | undefined;
  #tokens: TokenCounts | undefined;
  readonly #text: string[] = [];
  readonly #refusal: string[] = [];
  readonly #calls = new Map<number, OpenToolCall>();

  /** What the server has counted: it says so once, at the end. */
  get tokens(): TokenCounts | undefined {
    return this.#tokens;
  }

  accept({ id, model, choices, usage }: ChatChunk): void {
    this.#id ??= id ?? undefined;
    this.#model ??= model ?? undefined;
    if (usage != null) this.#tokens = chatTokens(usage);
    for (const { index, delta, message, finish_reason } of choices) {
      // One answer is asked for.
      if ((index ?? 0) !== 0) continue;
      const { content, refusal, tool_calls } = delta ?? message ?? {};
      if (content != null) this.#text.push(content);
      if (refusal != null) this.#refusal.push(refusal);
      for (const piece of tool_calls ?? []) this.#addToCall(piece);
      if (finish_reason != null) this.#finish = finish_reason;
    }
  }

  /** @throws {CallFault} `incomplete`: no reason to stop has come. */
  finish(): ReceivedMessage {
    if (this.#finish === undefined) {
      throw new CallFault({
        class: 'incomplete',
        detail: 'the answer ended without a finish reason',
        ...(this.#tokens === undefined ? {} : { tokens: this.#tokens }),
      });
    }
    const refusal = this.#refusal.join('');
    return {
      id: this.#id,
      model: this.#model === undefined ? undefined : shortName(this.#model),
      content: this.#content(),
      stopReason: this.#stopReason(this.#finish, refusal),
      refusal: refusal === '' ? undefined : refusal,
      tokens: this.#tokens ?? NO_TOKENS,
    };
  }

  #stopReason(finish: string, refusal: string): string {
    if (refusal !== '') return 'refusal';
    // Some servers end an answer that calls tools with `stop`.
    if (finish === 'stop' && this.#calls.size > 0) return 'tool_use';
    return Object.hasOwn(STOP_REASONS, finish) ? (STOP_REASONS[finish] ?? finish) : finish;
  }

  #content(): ContentBlock[] {
    const text = this.#text.join('');
    const calls = [...this.#calls].map(([index, { id, name, pieces, extra }]): ContentBlock => {
      const input = parseToolInput(pieces.join(''));
      const block = { type: 'tool_use', id: id ?? `${this.#id ?? 'call'}_${index}`, name, input };
      return extra == null ? block : { ...block, extra_content: extra };
    });
    return [...(text === '' ? [] : [{ type: 'text', text }]), ...calls];
  }

  #addToCall(piece: ToolCallPiece): void {
    const index = piece.index ?? this.#calls.size;
    const call = this.#calls.get(index) ?? { id: undefined, name: '', pieces: [], extra: undefined };
    this.#calls.set(index, call);
    call.id ??= piece.id ?? undefined;
    // A name comes whole; a server that repeats it in every chunk means the same call.
    if (call.name === '') call.name = piece.function?.name ?? '';
    if (piece.function?.arguments != null) call.pieces.push(piece.function.arguments);
    call.extra ??= piece.extra_content;
  }
}

/** The cost of a call without counts is not known. */
const NO_TOKENS: TokenCounts = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
};
