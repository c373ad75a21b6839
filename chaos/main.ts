/**
 * `npm run chaos -- --minutes 5 --seed N`: injects planned faults into a fleet and reports for every guarantee whether it was
 * kept: three quarters of the time with a single Redis, then with a node of a Redis Cluster. Exit code 1 if one was not.
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

function render(report: ChaosReport, where: string): string {
  const { accepted, completed, failed, requests, faults, recoveryMs } = report;
  const list = (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ');
  return [
    `seed ${report.seed}, ${where}: ${accepted} jobs accepted, ${completed} completed, ${report.verified} second checks of corrected scripts, ${report.followUps} follow-ups; failed: ${list(failed) || 'none'}`,
    `${requests} requests at the provider, ${report.batched} of them in batches; ${report.refusedSubmissions} submissions sent again`,
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

/** The part of the time with a cluster. */
const CLUSTER_PART = 0.25;

const say = (line: string) => process.stderr.write(`${line}\n`);
const durationMs = minutes * 60_000;
const single = await runChaos({ seed, appendfsync, say, durationMs: (1 - CLUSTER_PART) * durationMs });
if (!values.json) process.stdout.write(render(single, 'a single Redis'));
const cluster = await runChaos({
  seed,
  appendfsync,
  say,
  durationMs: CLUSTER_PART * durationMs,
  cluster: true,
});
process.stdout.write(
  values.json ? `${JSON.stringify({ single, cluster }, null, 2)}\n` : render(cluster, 'a node of a cluster'),
);
process.exitCode = single.kept && cluster.kept ? 0 : 1;
