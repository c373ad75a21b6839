/**
 * `npm run fuzz`: gives generated inputs to every parser of outside text, and reports which violated a guarantee. Exit code 1
 * if one did. docs/fuzzing.md describes the targets and the guarantees.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { messageOf } from '../src/errors.js';
import { Executor } from './harness/executor.js';
import { crashFolder, fuzzTarget, type TargetReport } from './harness/fuzz-target.js';
import { renderReports } from './harness/report.js';
import { findTarget, TARGETS } from './targets/index.js';

const USAGE =
  'usage: npm run fuzz -- [--only NAME[,NAME…]] [--minutes N (per target)] [--seed N] [--replay FILE] [--list]\n';
const say = (line: string) => void process.stderr.write(`${line}\n`);

/** Runs the input of a file once and reports the result. */
async function replay(file: string): Promise<boolean> {
  const [name, ...input] = z.tuple([z.string()], z.string()).parse(JSON.parse(readFileSync(file, 'utf8')));
  const executor = new Executor(findTarget(name).name);
  const result = await executor.run(input);
  await executor.close();
  process.stdout.write(`${name}: ${result.kind === 'failed' ? result.signature : result.kind}\n`);
  process.stdout.write(
    `${result.kind === 'failed' ? result.detail : `${result.cpuMs} ms of processor time`}\n`,
  );
  return result.kind !== 'failed';
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      minutes: { type: 'string', default: '10' },
      seed: { type: 'string', default: '1' },
      replay: { type: 'string' },
      list: { type: 'boolean', default: false },
    },
  });
  const minutes = Number(values.minutes);
  const seed = Number(values.seed);
  if (!(minutes > 0 && minutes <= 1_440) || !Number.isSafeInteger(seed)) {
    process.stderr.write(USAGE);
    return 2;
  }
  if (values.list) {
    for (const { name, about } of TARGETS) process.stdout.write(`${name.padEnd(22)} ${about}\n`);
    return 0;
  }
  if (values.replay !== undefined) return (await replay(values.replay)) ? 0 : 1;
  const targets =
    values.only === undefined ? TARGETS : values.only.split(',').map((name) => findTarget(name));
  const folder = crashFolder();
  const reports: TargetReport[] = [];
  for (const target of targets) {
    say(`${target.name}: ${target.about}`);
    const durationMs = minutes * 60_000;
    const report = await fuzzTarget(target, { seed, durationMs, minimizeMs: 60_000, folder, say });
    reports.push(report);
    say(`  ${Math.round(report.inputs / (report.durationMs / 1_000))} inputs a second`);
  }
  process.stdout.write(renderReports(reports, seed));
  return reports.some(({ findings }) => findings.length > 0) ? 1 : 0;
}

try {
  process.exitCode = await main();
} catch (thrown) {
  process.stderr.write(`${messageOf(thrown)}\n${USAGE}`);
  process.exitCode = 2;
}
