import type { Redis } from 'ioredis';
import { inFlightKey, spendBase } from '../../queues/redis-keys.js';
import { replyList, replyText, runScript, type ScriptReply, script } from '../../queues/run-script.js';
import { PRICE_LIST } from '../prices.js';
import { fromNano } from './estimate.js';
import { runAccount } from './run-account.js';

const SUMMED = [
  ...(['spentUsd', 'inDoubtUsd', 'assumedUsd', 'reservedUsd'] as const),
  ...(['calls', 'callsInDoubt', 'unpricedCalls', 'callsUnderWay', 'callsInBatches'] as const),
  ...(['batchCalls', 'batchUsd', 'reusedCalls', 'reusedUsd'] as const),
  ...(['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens'] as const),
];

/** What a part of a run costs besides the rest of it. */
function addCosts(all: Costs, part: Costs): Costs {
  const models = { ...all.models };
  for (const [model, { calls, spentUsd }] of Object.entries(part.models)) {
    const before = models[model] ?? { calls: 0, spentUsd: 0 };
    models[model] = { calls: before.calls + calls, spentUsd: before.spentUsd + spentUsd };
  }
  const sums = SUMMED.map((name) => [name, all[name] + part[name]]);
  const summed: Costs = { ...all, ...Object.fromEntries(sums), models };
  return { ...summed, cacheReadFraction: cacheReadFraction(summed) };
}

type InputCounts = Pick<Costs, 'inputTokens' | 'cacheReadTokens' | 'cacheWriteTokens'>;

function cacheReadFraction({ inputTokens, cacheReadTokens, cacheWriteTokens }: InputCounts): number | null {
  const all = inputTokens + cacheReadTokens + cacheWriteTokens;
  return all === 0 ? null : cacheReadTokens / all;
}

/** What the agent calls of a day or a run cost. */
export interface Costs {
  /** The UTC day, as in `2026-11-20`, or the name of the run. */
  readonly name: string;
  /** Calls that ended, at the list prices. */
  readonly spentUsd: number;
  /** Calls in doubt (nobody knows whether they were billed), at their likely price. */
  readonly inDoubtUsd: number;
  /** The most that calls under way can cost. */
  readonly reservedUsd: number;
  /** What it may cost; null where there is no limit. */
  readonly budgetUsd: number | null;
  readonly calls: number;
  readonly callsInDoubt: number;
  readonly callsUnderWay: number;
  /** Calls in batches, or waiting for one; `reservedUsd` includes the most that they can cost. */
  readonly callsInBatches: number;
  /** Calls that were answered in batches, at half the price: a part of `calls`. */
  readonly batchCalls: number;
  /** What these cost: a part of `spentUsd`. */
  readonly batchUsd: number;
  /** Calls that were answered from the ledgers of other jobs; they are no part of `calls`. */
  readonly reusedCalls: number;
  /** What these answers had cost when they were asked for; nothing counts for those of models without a known price. */
  readonly reusedUsd: number;
  /** Calls whose cost is not known: of models without a known price, or without a count of what they used. */
  readonly unpricedCalls: number;
  /** What budgets count for these: their tokens at the dearest price, or the most that they could cost. */
  readonly assumedUsd: number;
  /** Input that was neither read from the provider's prompt cache nor written to it. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** Part of all input that was read from the prompt cache, from 0 to 1; null without input. */
  readonly cacheReadFraction: number | null;
  readonly models: Readonly<Record<string, { readonly calls: number; readonly spentUsd: number }>>;
  /** How the sends of a day ended whose end was seen, by outcome class; nothing of a run. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Day of the price list. */
  readonly pricesAsOf: string;
}

/**
 * KEYS: 1 sums, 2 calls under way. ARGV: 1 'day' or 'run', 2 its name in the keys.
 * Returns {sums as alternating fields and values, calls under way, calls whose worker crashed, what these reserved, what
 * they likely cost}. It changes nothing: the next attempt of the job records a call whose worker crashed.
 */
const READ_COSTS = script(`
local under, gone, reserved, likely = 0, 0, 0, 0
local all = redis.call('HGETALL', KEYS[2])
for index = 1, #all, 2 do
  local reservation = cjson.decode(all[index + 1])
  if reservation[ARGV[1]] == ARGV[2] then
    local job = string.match(all[index], '^%d+ (.*)$')
    if redis.call('GET', job .. ':lock') == reservation.token then
      under = under + 1
    else
      gone, reserved, likely = gone + 1, reserved + tonumber(reservation.amount), likely + tonumber(reservation.likely)
    end
  end
end
return {redis.call('HGETALL', KEYS[1]), under, gone, string.format('%.0f', reserved), string.format('%.0f', likely)}`);

const MS_A_DAY = 86_400_000;

/** Costs of the UTC day of a time (ms since 1970). */
export function costsOfDay(client: Redis, prefix: string, at: number): Promise<Costs> {
  const name = new Date(at).toISOString().slice(0, 10);
  return readCosts(client, prefix, 'day', String(Math.floor(at / MS_A_DAY)), name);
}

/**
 * Costs of a pipeline run (`tags.run`), including the parts of bound tenants; its budget is that of jobs without a bound
 * tenant. A run that does not exist has cost nothing.
 */
export async function costsOfRun(client: Redis, prefix: string, run: string): Promise<Costs> {
  const { costs, tenants } = await readAccount(client, prefix, 'run', run, run);
  const parts = await Promise.all(tenants.map((tenant) => costsOfTenant(client, prefix, run, tenant)));
  return parts.reduce(addCosts, costs);
}

/** Costs of a bound tenant's part of a run, with the budget of that part. */
export function costsOfTenant(client: Redis, prefix: string, run: string, tenant: string): Promise<Costs> {
  return readCosts(client, prefix, 'run', runAccount(run, tenant), run);
}

async function readCosts(...account: Parameters<typeof readAccount>): Promise<Costs> {
  return (await readAccount(...account)).costs;
}

async function readAccount(
  client: Redis,
  prefix: string,
  scope: 'day' | 'run',
  id: string,
  name: string,
): Promise<{ readonly costs: Costs; readonly tenants: readonly string[] }> {
  const keys = [`${spendBase(prefix)}:${scope}:${id}`, inFlightKey(prefix)];
  const [sums, underWay, gone, goneReserved, goneLikely] = replyList(
    await runScript(client, READ_COSTS, keys, [scope, id]),
  );
  const fields = fieldsOf(sums ?? []);
  const amount = (field: string) => Number(fields.get(field) ?? 0);
  const input = {
    inputTokens: amount('input'),
    cacheReadTokens: amount('cacheRead'),
    cacheWriteTokens: amount('cacheWrite'),
  };
  const costs = {
    name,
    spentUsd: fromNano(amount('spent')),
    inDoubtUsd: fromNano(amount('inDoubt') + Number(replyText(goneLikely))),
    reservedUsd: fromNano(amount('reserved') - Number(replyText(goneReserved))),
    budgetUsd: fields.has('budget') ? fromNano(amount('budget')) : null,
    calls: amount('calls'),
    callsInDoubt: amount('callsInDoubt') + Number(gone),
    callsUnderWay: Number(underWay),
    callsInBatches: amount('inBatch'),
    batchCalls: amount('batchCalls'),
    batchUsd: fromNano(amount('batchSpent')),
    reusedCalls: amount('reusedCalls'),
    reusedUsd: fromNano(amount('reusedSpent')),
    unpricedCalls: amount('unpricedCalls'),
    assumedUsd: fromNano(amount('assumed')),
    ...input,
    outputTokens: amount('output'),
    cacheReadFraction: cacheReadFraction(input),
    models: modelsOf(fields),
    outcomes: outcomesOf(fields),
    pricesAsOf: PRICE_LIST.asOf,
  };
  return { costs, tenants: [...fields.keys()].flatMap((field) => /^tenant:(.*)$/s.exec(field)?.[1] ?? []) };
}

function fieldsOf(reply: ScriptReply): Map<string, string> {
  const list = replyList(reply);
  const fields = new Map<string, string>();
  for (let at = 0; at < list.length; at += 2) {
    fields.set(replyText(list[at]) ?? '', replyText(list[at + 1]) ?? '');
  }
  return fields;
}

function modelsOf(fields: ReadonlyMap<string, string>): Costs['models'] {
  const models: [string, { calls: number; spentUsd: number }][] = [];
  for (const [field, calls] of fields) {
    const model = /^model:(.*):calls$/s.exec(field)?.[1];
    if (model === undefined) continue;
    const spentUsd = fromNano(Number(fields.get(`model:${model}:spent`) ?? 0));
    models.push([model, { calls: Number(calls), spentUsd }]);
  }
  return Object.fromEntries(models.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function outcomesOf(fields: ReadonlyMap<string, string>): Costs['outcomes'] {
  const outcomes = [...fields].flatMap(([field, count]): [string, number][] =>
    field.startsWith('outcome:') ? [[field.slice('outcome:'.length), Number(count)]] : [],
  );
  return Object.fromEntries(outcomes.sort(([a], [b]) => (a < b ? -1 : 1)));
}
