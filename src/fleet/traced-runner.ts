import { type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { z } from 'zod';
import type { AgentRequest, AgentRunner, RunContext } from '../agents/agent-runner.js';
import type { CallInterceptor, PlannedCall } from '../calls/call-interceptor.js';
import type { CallOutcome } from '../calls/outcome.js';

/**
 * An interceptor that admits every call and writes a span for each send, by OpenTelemetry's conventions for generative AI.
 * It receives no prompts and no answers, so it writes none.
 */
function tracingInterceptor(): CallInterceptor {
  const tracer = trace.getTracer('solution-fleet');
  const spans = new Map<PlannedCall, Span>();
  return {
    name: 'traces',
    record: async (call) => {
      const span = tracer.startSpan(`chat ${call.model}`, {
        kind: SpanKind.CLIENT,
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.provider.name': call.provider ?? 'anthropic',
          'gen_ai.request.model': call.model,
          'fleet.call.step': call.step,
          'fleet.call.turn': call.turn,
        },
      });
      spans.set(call, span);
    },
    release: async (call) => {
      spans.get(call)?.end();
      spans.delete(call);
    },
    settle: async (call, outcome) => {
      const span = spans.get(call);
      spans.delete(call);
      if (span === undefined) return;
      describe(span, outcome);
      span.end();
    },
  };
}

function describe(span: Span, { class: outcomeClass, message }: CallOutcome): void {
  span.setAttribute('fleet.call.outcome', outcomeClass);
  if (outcomeClass !== 'answered') {
    span.setAttribute('error.type', outcomeClass);
    span.setStatus({ code: SpanStatusCode.ERROR, message: outcomeClass });
  }
  if (message === undefined) return;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = message.tokens;
  span.setAttributes({
    'gen_ai.response.finish_reasons': [message.stopReason],
    // The convention counts cached input as input; the provider does not.
    'gen_ai.usage.input_tokens': inputTokens + cacheReadTokens + cacheWriteTokens,
    'gen_ai.usage.output_tokens': outputTokens,
    'gen_ai.usage.cache_read.input_tokens': cacheReadTokens,
    'gen_ai.usage.cache_creation.input_tokens': cacheWriteTokens,
  });
  if (message.id !== undefined) span.setAttribute('gen_ai.response.id', message.id);
  if (message.model !== undefined) span.setAttribute('gen_ai.response.model', message.model);
}

/** A runner whose calls are traced as children of the job's span. */
export function tracedRunner(runner: AgentRunner): AgentRunner {
  const ask = (request: AgentRequest<unknown> & { schema: z.ZodType }, context?: RunContext) =>
    runner.ask(request, {
      ...context,
      interceptors: [...(context?.interceptors ?? []), tracingInterceptor()],
    });
  // Requests and answers pass unchanged, so the overloads of the runner are valid for this one too.
  return { ...runner, ask: ask as AgentRunner['ask'] };
}
