import { pino } from 'pino';
import { startWorker } from '../../src/cli/start-worker.js';
import { loadConfig } from '../../src/config/load-config.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import type { SolutionCheckResult } from '../../src/queues/solution-check.js';
import { type CostCase, costCases } from '../cost/cases.js';
import { LabeledModel } from '../cost/labeled-model.js';
import { type Bill, type PricedProvider, startPricedProvider } from '../cost/priced-provider.js';
import { referenceLoop } from '../cost/reference-loop.js';
import { ALL, AS_IT_IS, WAYS, type Way } from '../cost/ways.js';
import type { RowContext, RowGroup, RowHead, Sample } from '../harness/row.js';

const CONCURRENCY = 10;
/** As long as a model usually takes until its answer begins: only then can others read what a request wrote to the cache. */
const FIRST_TOKEN_MS = 1_000;

/** What one way said of all scripts, and its bill. */
interface Outcome {
  readonly bill: Bill;
  /** Whether it found a leak, by script. */
  readonly leaky: readonly boolean[];
  /** Scripts that a model was asked about. */
  readonly asked: number;
}

const REFERENCE = 'cost reference';
const rowName = ({ name }: Way) => `cost ${name}`;

const rows: readonly RowHead[] = [
  {
    name: REFERENCE,
    work: 'the loop as the specification has it: the whole script for the detection and for each correction, without a cache',
    against: 'itself',
    target: null,
  },
  ...WAYS.map((way) => ({
    name: rowName(way),
    work: way.work,
    against: 'dollars of the loop as the specification has it',
    target: way === ALL ? ({ atMost: 1 / 3 } as const) : null,
  })),
];

async function reference(provider: PricedProvider, cases: readonly CostCase[]): Promise<Outcome> {
  provider.reset();
  const leaky = new Array<boolean>(cases.length).fill(false);
  const left = [...cases.entries()];
  const work = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift())
      leaky[next[0]] = await referenceLoop(provider.url, next[1].script);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return { bill: provider.bill, leaky, asked: cases.length };
}

/** Checks all scripts by a worker with the settings of a way. */
async function checked(
  context: RowContext,
  provider: PricedProvider,
  { settings, again = false }: Way,
  cases: readonly CostCase[],
): Promise<Outcome> {
  provider.reset();
  const prefix = context.prefix();
  const environment = { FLEET_AGENT: 'anthropic', FLEET_PREFIX: prefix, ...settings };
  const worker = await startWorker(loadConfig(environment), context.redis.url, pino({ level: 'silent' }), {
    kinds: ['solution-check'],
    concurrency: CONCURRENCY,
  });
  const fleet = await FleetClient.open({ redisUrl: context.redis.url, prefix });
  try {
    const checkAll = async (): Promise<SolutionCheckResult[]> => {
      const handles = await Promise.all(
        cases.map(({ script }) => addSolutionCheck(fleet, { solution: { content: script } })),
      );
      return Promise.all(handles.map((handle): Promise<SolutionCheckResult> => handle.result()));
    };
    if (again) {
      await checkAll();
      provider.reset();
    }
    const results = await checkAll();
    return {
      bill: provider.bill,
      leaky: results.map(({ status }) => status !== 'clean'),
      asked: results.filter(({ usage }) => usage.calls > 0).length,
    };
  } finally {
    await worker.stop(5_000);
    await fleet.close();
  }
}

function sample(outcome: Outcome, cases: readonly CostCase[], first: Outcome, fleet: Outcome): Sample {
  const { bill, leaky, asked } = outcome;
  const right = cases.filter((one, at) => one.leaky === leaky[at]).length;
  const differ = leaky.filter((value, at) => value !== fleet.leaky[at]).length;
  const count = cases.length;
  const tokens = bill.inputTokens + bill.cacheReadTokens + bill.cacheWriteTokens + bill.outputTokens;
  return {
    ratio: bill.usd / first.bill.usd,
    numbers: {
      scripts: count,
      usd: bill.usd,
      calls: bill.calls,
      batchCalls: bill.batchCalls,
      asked,
      right,
      differ,
      tokens,
      outputTokens: bill.outputTokens,
      cacheReadTokens: bill.cacheReadTokens,
    },
    details: {
      'a script': dollars(bill.usd / count),
      'a right result': dollars(bill.usd / right),
      right: `${right} of ${count}`,
      calls: String(bill.calls),
      'of these in batches': String(bill.batchCalls),
      'tokens a script': Math.round(tokens / count).toLocaleString('en'),
      'other results than the fleet': `${((100 * differ) / count).toFixed(0)} %`,
    },
  };
}

function dollars(usd: number): string {
  return `$${usd.toFixed(5)}`;
}

async function measure(context: RowContext): Promise<Readonly<Record<string, readonly Sample[]>>> {
  const all = costCases();
  const cases = context.short ? all.slice(0, 10) : all;
  const model = new LabeledModel(cases);
  const provider = await startPricedProvider((request) => model.answer(request), FIRST_TOKEN_MS);
  process.env.ANTHROPIC_BASE_URL = provider.url;
  process.env.ANTHROPIC_API_KEY = 'bench';
  try {
    const first = await reference(provider, cases);
    const outcomes = new Map<Way, Outcome>();
    for (const way of WAYS) outcomes.set(way, await checked(context, provider, way, cases));
    const fleet = outcomes.get(AS_IT_IS) ?? first;
    return Object.fromEntries([
      [REFERENCE, [sample(first, cases, first, fleet)]],
      ...[...outcomes].map(
        ([way, outcome]) => [rowName(way), [sample(outcome, cases, first, fleet)]] as const,
      ),
    ]);
  } finally {
    await provider.close();
  }
}

/** Dollars of 100 checks by each way of asking. */
export const cost: RowGroup = { rows, shortSeconds: null, measure };
