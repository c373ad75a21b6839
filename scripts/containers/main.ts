/**
 * `npm run test:containers`: builds the image from the unchanged Dockerfile, and runs the unchanged Compose file under load. It
 * uses the engine that the `docker` client reaches, or starts `dockerd` itself. Without either it says so and ends with 0.
 */
import { parseArgs } from 'node:util';
import { packagePath } from '../../src/package-root.js';
import { startTraceCollector } from '../../test/support/trace-collector.js';
import { must, Report } from '../testing/checks.js';
import { provideBaseImages } from './base-images.js';
import { checkCommands } from './check-commands.js';
import { FleetCheck } from './check-fleet.js';
import { checkHardening } from './check-hardening.js';
import { checkImage } from './check-image.js';
import { checkObserve } from './check-observe.js';
import { checkPages } from './check-pages.js';
import { checkScaling } from './check-scaling.js';
import { checkSettings } from './check-settings.js';
import { type Engine, NoEngine, openEngine, removeEngineFolder } from './engine.js';
import { Project } from './project.js';
import { addressOfThisMachine, Provider } from './provider.js';

const USAGE = `usage: npm run test:containers -- [--fresh]

  --fresh  without the images and layers of an earlier run
`;
/** How long the provider takes for an answer, at least and at most, in milliseconds. */
const ANSWER_MS = [2_000, 4_000] as const;
/** What the traces are to be found by. */
const SERVICE = 'fleet-in-containers';
const { values } = parseArgs({
  options: { fresh: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
});

async function main(): Promise<number> {
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  if (values.fresh) await removeEngineFolder();
  let engine: Engine;
  try {
    engine = await openEngine();
  } catch (thrown) {
    if (!(thrown instanceof NoEngine)) throw thrown;
    process.stdout.write(`\nSKIPPED: no container was run, since ${thrown.message}.\n`);
    process.stdout.write('docs/containers.md says what is needed.\n\n');
    return 0;
  }
  const report = new Report();
  const began = performance.now();
  // Otherwise an engine of our own, and its containers, would go on.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void engine.stop().finally(() => process.exit(1)));
  }
  try {
    await checkAll(engine, report);
  } finally {
    await engine.stop();
  }
  report.fact(`${Math.round((performance.now() - began) / 1_000)} s in all`);
  process.stdout.write(report.summary());
  return report.failed === 0 ? 0 : 1;
}

async function checkAll({ docker, version, isOwn }: Engine, report: Report): Promise<void> {
  report.fact(`Docker ${version}, ${isOwn ? 'started by this program' : 'which ran before'}`);
  const origins = await provideBaseImages(docker, isOwn);
  for (const [tag, origin] of origins) report.fact(`${tag}: ${origin}`);
  const provider = await Provider.start(docker, ANSWER_MS);
  const collector = await startTraceCollector(await addressOfThisMachine(docker));
  const project = await Project.create(docker, {
    FLEET_AGENT: 'anthropic',
    FLEET_CONCURRENCY: '5',
    ANTHROPIC_API_KEY: 'test-key',
    ANTHROPIC_BASE_URL: provider.url,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_SERVICE_NAME: SERVICE,
  });
  try {
    await project.remove();
    const isBuilt = await report.check('the image is built', async () => {
      const start = performance.now();
      await project.compose(['build'], { cwd: packagePath() });
      report.fact(`docker compose build: ${Math.round((performance.now() - start) / 1_000)} s`);
      return undefined;
    });
    if (!isBuilt) return;
    await checkImage(report, docker);
    await checkCommands(report, docker, provider.url);
    await checkSettings(report, docker);
    await checkProject(report, project, provider, origins);
    await report.check('gateway and workers send traces to the collector', () => {
      const spans = collector.received.filter(({ body }) => body.includes(SERVICE));
      const missing = ['POST /v1/jobs', 'chat '].filter(
        (name) => !spans.some(({ body }) => body.includes(name)),
      );
      must(missing.length === 0, `no span ${missing.join(' and ')} in ${collector.received.length} requests`);
      return undefined;
    });
  } finally {
    await project.remove();
    await provider.close();
    collector.close();
  }
}

async function checkProject(
  report: Report,
  project: Project,
  provider: Provider,
  origins: Awaited<ReturnType<typeof provideBaseImages>>,
): Promise<void> {
  let token = '';
  const isUp = await report.check('the fleet starts: a token, then `up` with four workers', async () => {
    token = await project.addToken('test', 'admin');
    const start = performance.now();
    await project.compose(['up', '-d', '--wait', '--scale', 'worker=4']);
    report.fact(
      `docker compose up --wait with 4 workers: ${((performance.now() - start) / 1_000).toFixed(1)} s`,
    );
    return undefined;
  });
  if (!isUp) return;
  await checkHardening(report, project);
  await checkPages(report, project, token);
  await new FleetCheck(report, project, provider, token).run();
  await checkObserve(report, project, origins);
  await checkScaling(report, project, token);
}

process.exitCode = await main();
