import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_MODEL } from '../../src/agents/default-model.js';
import { packagePath } from '../../src/package-root.js';
import { addJobs } from '../../src/producers/add-jobs.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { type Bill, type PricedProvider, startPricedProvider } from '../cost/priced-provider.js';
import { untilCompleted } from '../harness/bench-fleet.js';
import type { BenchRow, RowContext } from '../harness/row.js';
import { killAll, startWorkerProcesses } from '../harness/worker-processes.js';

const WORKERS = 4;
const CONCURRENCY = 10;
/** All of them start at once. */
const JOBS = WORKERS * CONCURRENCY;
/** As long as a model usually takes until its answer begins. */
const FIRST_TOKEN_MS = 1_000;
/** Characters of examples in the instructions: about 6,000 tokens. */
const EXAMPLES = 21_000;

/** A folder with the prompt of the kind `summarize`, and many examples in its stable part. */
function promptsWithExamples(): string {
  const folder = mkdtempSync(join(tmpdir(), 'bench-prompts-'));
  const prompt = readFileSync(packagePath('prompts', 'summarize.md'), 'utf8');
  const example = (number: number) =>
    `Example ${number}: without part ${number} the score falls from 0.91 to 0.8${number % 10}, so this part matters.\n`;
  let examples = '';
  for (let number = 1; examples.length < EXAMPLES; number += 1) examples += example(number);
  const end = '<!-- the stable part ends here -->';
  writeFileSync(join(folder, 'summarize.md'), prompt.replace(end, `${examples}\n${end}`));
  return folder;
}

const studies = (model: string) =>
  Array.from({ length: JOBS }, (_, index) => ({
    kind: 'summarize' as const,
    payload: { ablationCode: `run(part=${index})`, rawOutput: `score without part ${index}: 0.8`, model },
  }));

interface Outcome {
  readonly bill: Bill;
  readonly seconds: number;
}

async function summarized(
  context: RowContext,
  provider: PricedProvider,
  settings: Readonly<Record<string, string>>,
): Promise<Outcome> {
  const prefix = context.prefix();
  const fleet = await FleetClient.open({ redisUrl: context.redis.url, prefix });
  const workers = await startWorkerProcesses(context, WORKERS, {
    prefix,
    apiUrl: provider.url,
    kinds: ['summarize'],
    concurrency: CONCURRENCY,
    settings,
  });
  try {
    // The first calls of a process are slower. Those of another model leave nothing in the cache.
    await addJobs(fleet, studies('claude-sonnet-5'));
    await untilCompleted(fleet, 'summarize', JOBS);
    provider.reset();
    const started = performance.now();
    await addJobs(fleet, studies(DEFAULT_MODEL));
    await untilCompleted(fleet, 'summarize', 2 * JOBS);
    return { bill: provider.bill, seconds: (performance.now() - started) / 1_000 };
  } finally {
    await killAll(workers);
    await fleet.close();
  }
}

const dollars = ({ bill }: Outcome) => `$${bill.usd.toFixed(4)}`;
const tokens = ({ bill }: Outcome) =>
  `${bill.cacheWriteTokens.toLocaleString('en')} tokens written to the cache, ${bill.cacheReadTokens.toLocaleString('en')} read`;
const times = ({ seconds }: Outcome) => `${seconds.toFixed(1)} s`;

/** Dollars of jobs that start at once and have the same long instructions, with the order of calls for the prompt cache. */
export const cacheOrder: BenchRow = {
  name: 'cache order',
  work: `dollars of ${JOBS} jobs at once in ${WORKERS} worker processes, instructions of about 6,000 tokens, answers that begin after ${FIRST_TOKEN_MS / 1_000} s`,
  against: 'the same with FLEET_CACHE_WAIT_MS=0',
  target: { atMost: 0.25 },
  runs: 3,
  shortSeconds: null,
  run: async (context) => {
    const folder = promptsWithExamples();
    const provider = await startPricedProvider(() => 'Part 3 matters most.', FIRST_TOKEN_MS);
    try {
      const settings = { FLEET_PROMPTS: folder };
      const ordered = await summarized(context, provider, settings);
      const atOnce = await summarized(context, provider, { ...settings, FLEET_CACHE_WAIT_MS: '0' });
      return {
        ratio: ordered.bill.usd / atOnce.bill.usd,
        numbers: {
          usd: ordered.bill.usd,
          atOnceUsd: atOnce.bill.usd,
          cacheWriteTokens: ordered.bill.cacheWriteTokens,
          cacheReadTokens: ordered.bill.cacheReadTokens,
          seconds: ordered.seconds,
          atOnceSeconds: atOnce.seconds,
        },
        details: {
          'in order': `${dollars(ordered)}, ${tokens(ordered)}, ${times(ordered)}`,
          'at once': `${dollars(atOnce)}, ${tokens(atOnce)}, ${times(atOnce)}`,
        },
      };
    } finally {
      await provider.close();
      rmSync(folder, { recursive: true });
    }
  },
};
