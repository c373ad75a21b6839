import type { Costs } from './read-costs.js';

const SUMMED = [
  ...(['spentUsd', 'inDoubtUsd', 'assumedUsd', 'reservedUsd'] as const),
  ...(['calls', 'callsInDoubt', 'unpricedCalls', 'callsUnderWay'] as const),
  ...(['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens'] as const),
];

/** What a part of a run costs besides the rest of it. */
export function addCosts(all: Costs, part: Costs): Costs {
  const models = { ...all.models };
  for (const [model, { calls, spentUsd }] of Object.entries(part.models)) {
    const before = models[model] ?? { calls: 0, spentUsd: 0 };
    models[model] = { calls: before.calls + calls, spentUsd: before.spentUsd + spentUsd };
  }
  const sums = SUMMED.map((name) => [name, all[name] + part[name]]);
  return { ...all, ...Object.fromEntries(sums), models };
}
