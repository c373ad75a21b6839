/**
 * `npm run test:prometheus`: promtool checks the shipped rules and configuration, and a real Prometheus scrapes a real gateway
 * while the cause of each alert is made. Without Prometheus on this machine it says so and ends with 0.
 */
import { readFileSync } from 'node:fs';
import { execa } from 'execa';
import { isProgram } from '../../src/config/find-program.js';
import { packagePath } from '../../src/package-root.js';
import { must, Report, until } from '../testing/checks.js';
import { CAUSES, LAST_CAUSE } from './causes.js';
import { Fleet } from './fleet.js';
import { alertNames, CONFIGURATION, Prometheus, RULES } from './prometheus.js';

const FIRES_MS = 120_000;
const EXPRESSION_MS = 20_000;

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

async function checkFiles(report: Report): Promise<void> {
  const promtool = async (args: readonly string[]) => {
    const { exitCode, all } = await execa('promtool', args, { reject: false, all: true, cwd: packagePath() });
    must(exitCode === 0, String(all));
    return undefined;
  };
  await report.check('promtool check rules', () => promtool(['check', 'rules', RULES]));
  // The file with the token is in the container alone.
  await report.check('promtool check config', () =>
    promtool(['check', 'config', '--syntax-only', CONFIGURATION]),
  );
  await report.check('promtool test rules', () =>
    promtool(['test', 'rules', packagePath('test', 'deploy', 'alerts.promtool.yml')]),
  );
}

async function checkAlerts(report: Report, fleet: Fleet, prometheus: Prometheus): Promise<void> {
  await report.check('no alert fires while there is nothing to do', async () => {
    const firing = await prometheus.firing();
    must(firing.length === 0, JSON.stringify(firing.map(({ labels }) => labels)));
    return undefined;
  });
  await report.check('there is a cause for every alert', () => {
    const made = [...CAUSES, LAST_CAUSE].map(({ alert }) => alert);
    const missing = alertNames().filter((name) => !made.includes(name));
    must(missing.length === 0, missing.join(', '));
    return `${made.length} alerts`;
  });
  for (const cause of CAUSES) await checkCause(report, fleet, prometheus, cause);
  await checkDashboard(report, prometheus);
  await checkCause(report, fleet, prometheus, LAST_CAUSE);
}

async function checkCause(
  report: Report,
  fleet: Fleet,
  prometheus: Prometheus,
  { alert, make, fits = () => true, end }: (typeof CAUSES)[number],
): Promise<void> {
  await report.check(`${alert} fires`, async () => {
    const isFiring = async () => {
      const firing = await prometheus.firing();
      return firing.some((active) => active.labels.alertname === alert && fits(active)) ? true : undefined;
    };
    // Some fire only while their cause lasts.
    await Promise.all([make(fleet, prometheus), until('it fires', FIRES_MS, isFiring, 200)]);
    return undefined;
  });
  await end?.(fleet);
}

async function checkDashboard(report: Report, prometheus: Prometheus): Promise<void> {
  const text = readFileSync(packagePath('deploy', 'grafana', 'solution-fleet.json'), 'utf8');
  const { panels } = JSON.parse(text) as { panels: readonly Panel[] };
  for (const { title, targets = [] } of panels) {
    if (targets.length === 0) continue;
    await report.check(`the panel "${title}" shows something`, async () => {
      for (const { expr } of targets) {
        const query = expr.replaceAll('$kind', '.*');
        await until(query, EXPRESSION_MS, async () =>
          (await prometheus.seriesOf(query)) > 0 ? true : undefined,
        );
      }
      return undefined;
    });
  }
}

async function main(): Promise<number> {
  const missing = ['promtool', 'prometheus'].filter((program) => !isProgram(program));
  if (missing.length > 0) {
    process.stdout.write(
      `\nSKIPPED: no alert was tried, since there is no ${missing.join(' and no ')} here.\n\n`,
    );
    return 0;
  }
  const report = new Report();
  const began = performance.now();
  await checkFiles(report);
  const fleet = await Fleet.start();
  try {
    const prometheus = await Prometheus.start(fleet.gatewayUrl, fleet.token);
    try {
      await checkAlerts(report, fleet, prometheus);
    } finally {
      await prometheus.stop();
    }
  } finally {
    await fleet.stop();
  }
  report.fact(`${Math.round((performance.now() - began) / 1_000)} s in all`);
  process.stdout.write(report.summary());
  return report.failed === 0 ? 0 : 1;
}

process.exitCode = await main();
