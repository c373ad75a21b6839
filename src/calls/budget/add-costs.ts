import type { Costs } from './read-costs.js';

/** What a part of a run costs besides the rest of it. */
export function addCosts(all: Costs, part: Costs): Costs {
  const models = { ...all.models };
  for (const [model, { calls, spentUsd }] of Object.entries(part.models)) {
    const before = models[model] ?? { calls: 0, spentUsd: 0 };
    models[model] = { calls: before.calls + calls, spentUsd: before.spentUsd + spentUsd };
  }
  return {
    ...all,
    spentUsd: all.spentUsd + part.spentUsd,
    unknownUsd: all.unknownUsd + part.unknownUsd,
    assumedUsd: all.assumedUsd + part.assumedUsd,
    reservedUsd: all.reservedUsd + part.reservedUsd,
    calls: all.calls + part.calls,
    unknownCalls: all.unknownCalls + part.unknownCalls,
    unpricedCalls: all.unpricedCalls + part.unpricedCalls,
    callsUnderWay: all.callsUnderWay + part.callsUnderWay,
    inputTokens: all.inputTokens + part.inputTokens,
    outputTokens: all.outputTokens + part.outputTokens,
    cacheReadTokens: all.cacheReadTokens + part.cacheReadTokens,
    cacheWriteTokens: all.cacheWriteTokens + part.cacheWriteTokens,
    models,
  };
}
