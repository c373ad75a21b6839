import {
  type ContentBlock,
  parseToolInput,
  type ReceivedMessage,
  shortName,
  type TokenCounts,
} from '../message.js';
import { CallFault } from '../outcome.js';
import { parseJson } from '../wire-response.js';
import { type ChatChunk, chatTokens, moreTokens, type ToolCallPiece } from './chat-chunk.js';

interface OpenToolCall {
  readonly index: number | undefined;
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
  readonly #calls: OpenToolCall[] = [];

  /** Whether something has come that the server bills. */
  get hasBegun(): boolean {
    return this.#text.length > 0 || this.#refusal.length > 0 || this.#calls.length > 0;
  }

  /** Whether a reason to stop has come: after it there are only counts. */
  get isWhole(): boolean {
    return this.#finish !== undefined;
  }

  /** What the server has counted: most say so once, at the end, others in every chunk so far. */
  get tokens(): TokenCounts | undefined {
    return this.#tokens;
  }

  accept({ id, model, choices, usage }: ChatChunk): void {
    this.#id ??= id || undefined;
    this.#model ??= model || undefined;
    if (usage != null) this.#tokens = moreTokens(this.#tokens, chatTokens(usage));
    for (const { index, delta, message, finish_reason } of choices ?? []) {
      // One answer is asked for.
      if ((index ?? 0) !== 0) continue;
      const { content, refusal, tool_calls } = delta ?? message ?? {};
      if (content) this.#text.push(content);
      if (refusal) this.#refusal.push(refusal);
      for (const piece of tool_calls ?? []) this.#addToCall(piece);
      // Some servers send an empty one with every chunk.
      if (finish_reason) this.#finish = finish_reason;
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
    if (finish === 'stop' && this.#calls.length > 0) return 'tool_use';
    return Object.hasOwn(STOP_REASONS, finish) ? (STOP_REASONS[finish] ?? finish) : finish;
  }

  #content(): ContentBlock[] {
    const text = this.#text.join('');
    const calls = this.#calls.map(({ id, name, pieces, extra }, index): ContentBlock => {
      const input = parseToolInput(pieces.join(''));
      const block = { type: 'tool_use', id: id ?? `${this.#id ?? 'call'}_${index}`, name, input };
      return extra == null ? block : { ...block, extra_content: extra };
    });
    return [...(text === '' ? [] : [{ type: 'text', text }]), ...calls];
  }

  #addToCall(piece: ToolCallPiece): void {
    const call = this.#callOf(piece) ?? this.#newCall(piece.index ?? undefined);
    call.id ??= piece.id || undefined;
    // A name comes whole; a server that repeats it in every chunk means the same call.
    if (call.name === '') call.name = piece.function?.name ?? '';
    if (piece.function?.arguments != null) call.pieces.push(piece.function.arguments);
    call.extra ??= piece.extra_content;
  }

  #newCall(index: number | undefined): OpenToolCall {
    const call = { index, id: undefined, name: '', pieces: [], extra: undefined };
    this.#calls.push(call);
    return call;
  }

  /** The call that a piece continues, if it does: the last one of its index, of its id, or of all. */
  #callOf({ index, id, function: named }: ToolCallPiece): OpenToolCall | undefined {
    const last = this.#calls.findLast((call) =>
      index == null ? !id || call.id === id : call.index === index,
    );
    // Gemini gives every call the index 0, and some servers give none. A name after whole arguments then begins another call.
    const isOther = index == null ? !id : id && id !== last?.id;
    return isOther && named?.name && isWholeJson(last?.pieces ?? []) ? undefined : last;
  }
}

function isWholeJson(pieces: readonly string[]): boolean {
  return parseJson(pieces.join('')) !== undefined;
}

/** The cost of a call without counts is not known. */
const NO_TOKENS: TokenCounts = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
};
