import { createHash } from 'node:crypto';
import type { ContentBlockParam, MessageParam } from '@anthropic-ai/sdk/resources/messages';
import type { PlannedCall } from '../calls/call-interceptor.js';
import { costOfOutcome } from '../calls/cost.js';
import { type ContentBlock, type ReceivedMessage, textOf, toolUsesOf } from '../calls/message.js';
import { type CallOutcome, OUTCOMES, type OutcomeClass } from '../calls/outcome.js';
import { type CallSettings, performCall } from '../calls/perform-call.js';
import type { PriceList } from '../calls/prices.js';
import type { CallRequest } from '../calls/transport.js';
import { AgentError, type ErrorCode } from '../errors.js';
import { addUsage, NO_USAGE, type Usage, usageOfCall } from '../queues/usage.js';
import type { RunContext } from './agent-runner.js';
import { type AnswerCheck, isFinal, wholeText } from './check-answer.js';
import { runTools } from './read-tool.js';
import { wellFormed } from './well-formed.js';
import type { RequestFiles } from './workspace/job-files.js';

/**
 * Sums the usage of the calls of one request. A call counts if the provider has said what it used, even if its answer then
 * broke off; a rejected one (429, 5xx, no connection) is not billed and not counted.
 */
class CallUsage {
  #total: Usage = NO_USAGE;
  readonly #prices: PriceList | undefined;

  constructor(prices: PriceList | undefined) {
    this.#prices = prices;
  }

  /** @param model the requested model; the price is that of the model that answered */
  add(outcome: CallOutcome, model: string, reused: boolean): void {
    if (reused) {
      this.#total = addUsage(this.#total, { ...NO_USAGE, reusedCalls: 1 });
    } else if (outcome.tokens) {
      const costUsd = costOfOutcome(outcome, model, this.#prices) ?? null;
      this.#total = addUsage(this.#total, usageOfCall(outcome.tokens, costUsd));
    }
  }

  get total(): Usage {
    return this.#total;
  }
}

/** Bounds of one conversation; each prevents unlimited cost. */
export const MAX_TOOL_TURNS = 10;
export const MAX_PAUSES = 5;

export interface ConversationOptions<Output> {
  readonly step: string;
  /** The request of the first call; its conversation grows from there. */
  readonly request: CallRequest;
  readonly checkAnswer: AnswerCheck<Output>;
  /** How often the request is retried after an answer that does not fit. */
  readonly retries: number;
  /** Whether a later attempt gets even the answers that could not be used, instead of beginning again. */
  readonly once: boolean;
  /** Whether the model itself has to answer, also where another job has asked the same. */
  readonly independent?: boolean;
  /** What the `Read` tool may read; null if no tool is offered. */
  readonly files: RequestFiles | null;
}

export interface ConversationResult<Output> {
  readonly output: Output;
  readonly usage: CallUsage;
  readonly model: string | undefined;
  readonly notes: readonly string[];
  /** Keeps the last answer from other jobs. */
  readonly withdraw: () => Promise<void>;
}

/**
 * Sends one request until there is a usable answer: carries out tool calls, continues after pauses, retries after an
 * answer that was cut off (once, with twice the token limit) or that does not fit.
 */
export class Conversation<Output> {
  readonly #options: ConversationOptions<Output>;
  readonly #settings: CallSettings;
  readonly #context: RunContext;
  readonly #usage: CallUsage;
  readonly #notes: string[] = [];
  readonly #messages: MessageParam[];
  /** Text of the answer before pauses. */
  #parts: string[] = [];
  #maxTokens: number;
  #calls = 0;
  #last: PlannedCall | undefined;
  #retries = 0;
  #toolTurns = 0;
  #pauses = 0;
  #doubled = false;

  constructor(options: ConversationOptions<Output>, settings: CallSettings, context: RunContext) {
    this.#options = options;
    this.#settings = settings;
    this.#context = context;

    this.#usage = new CallUsage(settings.prices);
    this.#messages = [...options.request.messages];
    this.#maxTokens = options.request.max_tokens;
  }

  /** @throws {AgentError} no usable answer; with the usage of all calls, and the answer as it came. */
  async run(): Promise<ConversationResult<Output>> {
    const ends = this.#context.interceptors?.map((interceptor) => interceptor.converse?.()) ?? [];
    try {
      return await this.#untilUsable();
    } finally {
      for (const end of ends) end?.();
    }
  }

  async #untilUsable(): Promise<ConversationResult<Output>> {
    for (;;) {
      const outcome = await this.#call();
      const { message } = outcome;
      if (outcome.class === 'truncated' && !this.#doubled) {
        this.#retryWithMoreTokens();
      } else if (outcome.class === 'schema-invalid' && message && this.#retries < this.#options.retries) {
        this.#retry(message, outcome.detail);
      } else if (outcome.class !== 'answered' || !message) {
        throw this.#failure(outcome);
      } else if (message.stopReason === 'tool_use') {
        await this.#answerTools(message);
      } else if (message.stopReason === 'pause_turn') {
        this.#goOn(message);
      } else {
        return this.#result(message);
      }
    }
  }

  #call(): Promise<CallOutcome> {
    const request = this.#request();
    this.#calls += 1;
    const { signal, interceptors, log } = this.#context;
    const { transport, prices } = this.#settings;
    this.#last = {
      step: this.#options.step,
      turn: this.#calls,
      model: request.model,
      request,
      provider: transport.provider,
      ...(transport.server === undefined ? {} : { server: transport.server }),
      ...(prices === undefined ? {} : { prices }),
      ...(this.#options.once ? { once: true } : {}),
      ...(this.#options.independent ? { independent: true } : {}),
      digest: createHash('sha256').update(JSON.stringify(request), 'utf8').digest('hex'),
    };
    return performCall(this.#last, this.#settings, {
      ...(signal ? { signal } : {}),
      ...(interceptors ? { interceptors } : {}),
      checkAnswer: (message) => this.#checkAnswer(message),
      onOutcome: (outcome, reused) => this.#usage.add(outcome, request.model, reused),
      onRetry: (outcome, waitMs, retry) =>
        log?.warn(
          `${this.#options.step}: ${outcome.class}, ${outcome.detail}; retry ${retry} in ${waitMs} ms`,
        ),
    });
  }

  #request(): CallRequest {
    const base = { ...this.#options.request, messages: this.#messages, max_tokens: this.#maxTokens };
    // The last turn must bring an answer: the tool calls so far are paid for.
    return this.#toolTurns >= MAX_TOOL_TURNS && base.tools
      ? { ...base, tool_choice: { type: 'none' } }
      : base;
  }

  #checkAnswer(message: ReceivedMessage): { class: OutcomeClass; detail: string } | undefined {
    if (message.stopReason === 'tool_use') {
      return this.#toolTurns < MAX_TOOL_TURNS
        ? undefined
        : { class: 'tool-loop', detail: `tools were called ${MAX_TOOL_TURNS} times without an answer` };
    }
    if (message.stopReason === 'pause_turn') {
      return this.#pauses < MAX_PAUSES
        ? undefined
        : { class: 'tool-loop', detail: `the turn was paused ${MAX_PAUSES} times without an answer` };
    }
    const checked = this.#options.checkAnswer(wholeText(this.#parts, message));
    return checked.ok ? undefined : { class: 'schema-invalid', detail: checked.problem };
  }

  #retryWithMoreTokens(): void {
    this.#doubled = true;
    this.#maxTokens *= 2;
    this.#note(`an answer was cut off; retried once with ${this.#maxTokens} tokens`);
  }

  #retry(message: ReceivedMessage, problem: string): void {
    this.#retries += 1;
    this.#parts = [];
    this.#note(`an answer did not fit; retried (${this.#retries} of ${this.#options.retries})`);
    this.#repeat(message);
    this.#messages.push({
      role: 'user',
      content: `Your answer cannot be used. ${wellFormed(problem)}\nAnswer the question again, in whole, and only in the form that was asked for.`,
    });
  }

  async #answerTools(message: ReceivedMessage): Promise<void> {
    this.#toolTurns += 1;
    this.#parts = [];
    const results = await runTools(toolUsesOf(message), this.#options.files, this.#context.log);
    this.#repeat(message);
    this.#messages.push({
      role: 'user',
      content: results.length > 0 ? results : 'No tool was named. Answer the question.',
    });
  }

  #goOn(message: ReceivedMessage): void {
    this.#pauses += 1;
    this.#parts.push(textOf(message));
    this.#repeat(message);
  }

  /** Adds the agent's message to the conversation, unchanged except for blocks that the API does not accept. */
  #repeat(message: ReceivedMessage): void {
    const content = message.content.filter(isRepeatable);
    if (content.length > 0) {
      this.#messages.push({ role: 'assistant', content: content as unknown as ContentBlockParam[] });
    }
  }

  #result(message: ReceivedMessage): ConversationResult<Output> {
    const checked = this.#options.checkAnswer(wholeText(this.#parts, message));
    if (!checked.ok) throw this.#failure({ class: 'schema-invalid', detail: checked.problem, message });
    if (checked.note !== undefined) this.#note(checked.note);
    return {
      output: checked.output,
      usage: this.#usage,
      model: message.model,
      notes: this.#notes,
      withdraw: () => this.#withdraw(),
    };
  }

  async #withdraw(): Promise<void> {
    const call = this.#last;
    if (call === undefined) return;
    for (const interceptor of this.#context.interceptors ?? []) await interceptor.withdraw?.(call);
  }

  #failure(outcome: CallOutcome): AgentError {
    const code: ErrorCode = OUTCOMES[outcome.class].error ?? 'answer-invalid';
    const callNumber = this.#calls === 1 ? '' : ` (call ${this.#calls} of the request)`;
    const limit = outcome.class === 'truncated' ? `, cut off at ${this.#maxTokens} tokens` : '';
    const rawAnswer =
      outcome.message && isFinal(outcome.message) ? wholeText(this.#parts, outcome.message) : undefined;
    return new AgentError(code, `${this.#options.step}${callNumber}: ${outcome.detail}${limit}.`, {
      usage: this.#usage.total,
      ...(rawAnswer === undefined ? {} : { rawAnswer }),
    });
  }

  #note(note: string): void {
    this.#notes.push(note);
    this.#context.log?.warn(`${this.#options.step}: ${note}`);
  }
}

/** The API rejects empty text in a conversation. */
function isRepeatable(block: ContentBlock): boolean {
  return block.type !== 'text' || (typeof block.text === 'string' && block.text.trim() !== '');
}
