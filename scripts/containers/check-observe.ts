import { must, type Report, until } from '../testing/checks.js';
import type { Origins } from './base-images.js';
import type { Project } from './project.js';

const SCRAPED_MS = 120_000;

/** Prometheus of the profile `observe`, with the token that Compose gives it. */
export async function checkObserve(report: Report, project: Project, origins: Origins): Promise<void> {
  const hasPrometheus = [...origins.keys()].some((tag) => tag.startsWith('prom/prometheus:'));
  if (!hasPrometheus) {
    process.stdout.write(
      'SKIPPED: the profile observe is not started, since there is no image of Prometheus\n',
    );
    return;
  }
  const token = await project.addToken('prometheus', 'read');
  const environment = { FLEET_METRICS_TOKEN: token, GRAFANA_PASSWORD: 'unused' };
  const up = () =>
    project.compose(['--profile', 'observe', 'up', '-d', '--no-recreate', 'prometheus'], {
      env: environment,
    });

  await report.check('Prometheus of the profile "observe" starts and scrapes the gateway', async () => {
    await up();
    await untilScraped(project);
    return undefined;
  });
  await report.check('it still has its token after a second `up`', async () => {
    await up();
    await untilScraped(project);
    return undefined;
  });
}

/** Prometheus is published to nobody; the machine of the engine reaches its network. */
async function untilScraped({ docker, containers }: Project): Promise<void> {
  const [prometheus] = await containers('prometheus');
  must(prometheus !== undefined, 'it does not run');
  const networks = await docker.inspect<Record<string, { IPAddress: string }>>(
    prometheus.id,
    '.NetworkSettings.Networks',
  );
  const address = Object.values(networks)[0]?.IPAddress ?? '';
  await until('Prometheus has scraped the gateway', SCRAPED_MS, async () => {
    const answer = await query(`http://${address}:9090/api/v1/query?query=fleet_workers`);
    return answer?.includes('solution-check') === true ? true : undefined;
  });
}

async function query(url: string): Promise<string | undefined> {
  try {
    return await (await fetch(url)).text();
  } catch (thrown) {
    // It does not listen yet.
    if (thrown instanceof TypeError) return undefined;
    throw thrown;
  }
}
