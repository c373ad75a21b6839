import type { z } from 'zod';
import type { BatchProvider } from '../calls/batches/batch-provider.js';
import type { CallInterceptor } from '../calls/call-interceptor.js';
import type { Provider } from '../calls/transport.js';
import type { CorrectionWay, Opinion } from '../queues/solution-check.js';
import type { Usage } from '../queues/usage.js';
import type { PromptVariables, RenderedPrompt } from './prompt-template.js';
import type { ScriptAnalyst } from './script-analyst.js';
import type { JobFiles } from './workspace/job-files.js';

/** Receives the progress and log lines of one piece of work; the processor binds it to the job. */
export interface WorkLog {
  info(message: string): void;
  warn(message: string): void;
}

/** Who is asked: a prompt, its tools, the form of the answer, and a model. */
export interface Agent<Output = unknown> {
  /** Name of the agent. */
  readonly agentType: string;
  readonly variant: string;
  /** null: no tools. */
  readonly tools: readonly string[] | null;
  /** null: the answer is plain text. */
  readonly outputSchema: z.ZodType<Output> | null;
  /** null: the configured one. */
  readonly model: string | null;
  /** The answer without a model, of an agent that is not built in. */
  readonly offline?: (variables: PromptVariables) => Output | Promise<Output>;
  /** @throws {PromptError} a missing, unknown or wrongly typed variable. */
  render(variables: PromptVariables): RenderedPrompt;
}

/** One request to an agent. */
export interface AgentRequest<Output> {
  readonly agent: Agent;
  /** Values of the prompt's variables; the offline runner reads them instead of the prompt. */
  readonly variables: PromptVariables;
  /** Names the request within its job, as in `detect` or `correct-2`; stable over retries. */
  readonly step: string;
  /**
   * The conversation is held once in a job: if it ended without a usable answer, a later attempt does not begin it
   * again. For answers that a job can do without.
   */
  readonly once?: true;
  /** The answer must be the model's own: it is never that of another job, even if the submission allows it. */
  readonly independent?: true;
  /** Structured output: the answer is validated against it. Absent: the answer is plain text. */
  readonly schema?: z.ZodType<Output>;
  /** With a schema: an answer that is no JSON and has fenced code counts too, as its text. */
  readonly orText?: true;
  /** Added after the rendered prompt when a request is retried. */
  readonly addition?: string;
  /** Directory that the `Read` tool may read below; absent: the tool is not offered. */
  readonly workspace?: string;
  /** Overrides the configured model. */
  readonly model?: string;
}

export interface AgentAnswer<Output> {
  /** The validated object, or the whole text of the answer. */
  readonly output: Output;
  readonly usage: Usage;
  readonly model?: string;
  /** SHA-256 of the rendered prompt, hexadecimal. */
  readonly promptDigest?: string;
  readonly notes?: readonly string[];
  /**
   * Says that the answer proved to be unusable, although it has the right form: no other job gets it. Absent where no other job
   * could get it.
   */
  readonly withdraw?: () => Promise<void>;
  /** The reason, if the agent declines to answer with certainty. `output` is then empty. */
  readonly declined?: string;
}

export interface RunContext {
  readonly signal?: AbortSignal;
  readonly log?: WorkLog;
  /** The interceptors of every call of the request: ledger, limiter, budget. */
  readonly interceptors?: readonly CallInterceptor[];
  /** The job's files, for the `Read` tool; default: the workspace of the request, whichever it is. */
  readonly files?: JobFiles;
  /** Computes over whole scripts for the offline runner; default: in the same thread. */
  readonly analyst?: ScriptAnalyst;
}

/**
 * Answers the requests to agents. The runners of providers call a model; the offline runner computes.
 * A call that gives no usable answer throws an `AgentError`; the usage of its calls is in `error.usage`.
 */
export interface AgentRunner {
  readonly name: Provider | 'offline';
  /** Whose findings of leakage count; default: of both. */
  readonly opinion?: Opinion;
  /** With the opinion `static-first`: share of the scripts that the agent is asked about although the analysis is certain. */
  readonly auditFraction?: number;
  /** Where calls of jobs that can wait are sent in batches; default: nowhere. */
  readonly batches?: BatchProvider;
  /** How corrections of leaks are asked for; default: each alone, as a whole block. */
  readonly corrections?: CorrectionWay;
  ask(
    request: AgentRequest<string> & { schema?: undefined },
    context?: RunContext,
  ): Promise<AgentAnswer<string>>;
  ask<Output>(
    request: AgentRequest<Output> & { schema: z.ZodType<Output> },
    context?: RunContext,
  ): Promise<AgentAnswer<Output>>;
}
