import { z } from 'zod';

/** What the agent calls of a job used. Tokens are counts; `costUsd` is null if a price is not known. */
export const UsageSchema = z.strictObject({
  calls: z.int().nonnegative(),
  reusedCalls: z.int().nonnegative(),
  inputTokens: z.int().nonnegative(),
  outputTokens: z.int().nonnegative(),
  cacheReadTokens: z.int().nonnegative(),
  cacheWriteTokens: z.int().nonnegative(),
  costUsd: z.number().nonnegative().nullable(),
});
export type Usage = z.infer<typeof UsageSchema>;

export const NO_USAGE: Usage = Object.freeze({
  calls: 0,
  reusedCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costUsd: 0,
});

type TokensOfCall = Pick<Usage, 'inputTokens' | 'outputTokens' | 'cacheReadTokens' | 'cacheWriteTokens'>;

/** What one call used. */
export function usageOfCall(tokens: TokensOfCall, costUsd: number | null): Usage {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = tokens;
  return { calls: 1, reusedCalls: 0, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, costUsd };
}

/** Sum of two usages; an unknown price makes the sum unknown. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    calls: a.calls + b.calls,
    reusedCalls: a.reusedCalls + b.reusedCalls,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    costUsd: a.costUsd === null || b.costUsd === null ? null : a.costUsd + b.costUsd,
  };
}
