/**
 * Refines a small machine-learning solution with the fleet. See the README beside this file.
 *
 *   npx tsx examples/pipeline-ts/main.ts [--real | --recorded | --record] [--steps N]
 */
import { parseArgs } from 'node:util';
import { FleetClient, loadConfig } from '../../src/index.js';
import {
  acquireThrowawayRedis,
  chooseRunner,
  createLogger,
  createRunner,
  FleetWorker,
} from '../../src/worker.js';
import { startCoder } from './coder.js';
import { startEvaluator } from './evaluation.js';
import { refineSolution } from './outer-loop.js';
import { Report } from './report.js';
import { openScriptRuns, type RunMode } from './script-runs.js';

const DEFAULT_STEPS = '3';
const PREFIX = 'fleet';

async function main(): Promise<void> {
  const report = new Report((text) => process.stdout.write(text));
  const { mode, steps } = readArguments(process.argv.slice(2));
  const runs = await openScriptRuns(mode);
  report.say(runs.description);

  const closers: (() => unknown)[] = [];
  try {
    const redis = await acquireThrowawayRedis();
    closers.push(() => redis.release());

    const config = loadConfig();
    const choice = chooseRunner(config.agent);
    report.say(`${choice.reason.replace(/^a/, 'A')}.`);
    const worker = await FleetWorker.start({
      redisUrl: redis.url,
      prefix: PREFIX,
      runner: await createRunner(config, choice),
      logger: createLogger('fatal'),
      concurrency: 2,
      lockMs: config.lockMs,
    });
    closers.push(() => worker.stop(5_000));
    const evaluator = startEvaluator(redis.url, PREFIX, runs);
    closers.push(() => evaluator.close());
    const coder = startCoder(redis.url, PREFIX);
    closers.push(() => coder.close());
    const fleet = await FleetClient.open({ redisUrl: redis.url, prefix: PREFIX });
    closers.push(() => fleet.close());

    await refineSolution(fleet, runs, report, steps);
    await runs.finish();
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

function readArguments(args: readonly string[]): { mode: RunMode; steps: number } {
  const option = { type: 'boolean', default: false } as const;
  const steps = { type: 'string', default: DEFAULT_STEPS } as const;
  const options = { real: option, recorded: option, record: option, steps };
  const { values } = parseArgs({ args: [...args], options, strict: true });
  const chosen = (['real', 'recorded', 'record'] as const).filter((mode) => values[mode]);
  if (chosen.length > 1) throw new Error(`only one of --${chosen.join(', --')} can be given`);
  if (!/^[1-9]$/.test(values.steps))
    throw new Error(`--steps takes a number from 1 to 9, not ${values.steps}`);
  return { mode: chosen[0] ?? 'auto', steps: Number(values.steps) };
}

await main().catch((thrown: unknown) => {
  process.stderr.write(`${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
  process.exitCode = 1;
});
