/**
 * `npm run chaos -- --minutes 5 --seed N`: injects planned faults into a fleet and reports for every guarantee whether it was
 * kept. Exit code 1 if one was not.
 */
import { parseArgs } from 'node:util';
import { type ChaosReport, runChaos } from './run-chaos.js';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: '1' },
    appendfsync: { type: 'string', default: 'always' },
    json: { type: 'boolean', default: false },
  },
});
const minutes = Number(values.minutes);
const seed = Number(values.seed);
const { appendfsync } = values;
if (
  !(minutes > 0 && minutes <= 600) ||
  !Number.isInteger(seed) ||
  (appendfsync !== 'always' && appendfsync !== 'everysec')
) {
  process.stderr.write(
    'usage: npm run chaos -- [--minutes M (up to 600)] [--seed N] [--appendfsync always|everysec] [--json]\n',
  );
  process.exit(2);
}

function render(report: ChaosReport): string {
  const { accepted, completed, failed, requests, faults, recoveryMs } = report;
  const list = (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ');
  return [
    `seed ${report.seed}: ${accepted} jobs accepted, ${completed} completed, ${report.verified} second checks of corrected scripts, ${report.followUps} follow-ups; failed: ${list(failed) || 'none'}`,
    `${requests} requests at the provider; ${report.refusedSubmissions} submissions sent again`,
    `faults: ${list(faults)}; Redis refused by ${list(report.refusals) || 'none'}; ${report.inFlightAtFaults} calls were in flight at them; the provider broke ${report.brokenByProvider} off`,
    `calls in doubt: ${report.callsInDoubt}; answers paid for again: ${report.paidAgain}`,
    ...(report.forgottenJobs === 0
      ? []
      : [`jobs that Redis had accepted and not written: ${report.forgottenJobs}`]),
    `next call after a fault: p50 ${recoveryMs.p50} ms, p99 ${recoveryMs.p99} ms`,
    ...report.promises.map(
      ({ promise, found, allowed, examples }) =>
        `${found <= allowed ? 'kept  ' : 'BROKEN'} ${promise}: ${found} (at most ${allowed})${examples.map((example) => `\n         ${example}`).join('')}`,
    ),
    '',
  ].join('\n');
}

const report = await runChaos({
  seed,
  durationMs: minutes * 60_000,
  appendfsync,
  say: (line) => process.stderr.write(`${line}\n`),
});
process.stdout.write(values.json ? `${JSON.stringify(report, null, 2)}\n` : render(report));
process.exitCode = report.kept ? 0 : 1;
