import { readFileSync } from 'node:fs';
import { packagePath } from '../../src/package-root.js';
import { must, type Report } from '../testing/checks.js';
import type { Docker } from './docker.js';

export const IMAGE = 'solution-fleet';
const MAX_BYTES = 350e6;

/** What is in the image, and what is not. */
export async function checkImage(report: Report, docker: Docker): Promise<void> {
  await report.check(`the image has at most ${MAX_BYTES / 1e6} MB`, async () => {
    const bytes = await docker.inspect<number>(IMAGE, '.Size');
    const base = await docker.inspect<number>('node:20-bookworm-slim', '.Size');
    const size = (count: number) => `${Math.round(count / 1e6)} MB`;
    report.fact(`image ${size(bytes)}, of which ${size(base)} are its base`);
    must(bytes <= MAX_BYTES, size(bytes));
    return undefined;
  });

  await report.check('the labels say name, version and license', async () => {
    const labels = await docker.inspect<Record<string, string>>(IMAGE, '.Config.Labels');
    const { version, license } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as {
      version: string;
      license: string;
    };
    const label = (name: string) => labels[`org.opencontainers.image.${name}`];
    must(
      label('title') === IMAGE && label('version') === version && label('licenses') === license,
      JSON.stringify(labels),
    );
    return undefined;
  });

  await report.check('it has no development packages, sources or types', async () => {
    const found = await inImage(docker, [
      'sh',
      '-c',
      "cd /app; find dist node_modules -name '*.ts' -o -name '*.map'; ls node_modules | grep -E '^(typescript|@typescript|vitest|tsx|knip|execa)$'; ls -d src test docs scripts 2>/dev/null; true",
    ]);
    must(found === '', found);
    return undefined;
  });

  await report.check('it lists its packages with their licenses', async () => {
    const { components } = JSON.parse(await inImage(docker, ['cat', '/app/sbom.cdx.json'])) as {
      components: { name: string; licenses?: unknown[] }[];
    };
    const without = components.filter(({ licenses }) => (licenses ?? []).length === 0);
    must(
      components.length > 50 && without.length === 0,
      `${without.length} of ${components.length} have none`,
    );
    return `${components.length} packages`;
  });

  await report.check('Python judges exactly whether a script parses', async () => {
    // The syntax tree alone takes this for a script.
    const program = `
      const { parsesAsPython } = await import('/app/dist/solution/index.js');
      console.log(JSON.stringify([await parsesAsPython('f(a=1, 2)\\n'), await parsesAsPython('x = 1\\n')]));
      process.exit();`;
    const printed = await inImage(docker, ['node', '--input-type=module', '--eval', program]);
    const [broken, fine] = JSON.parse(printed) as { ok: boolean; exact: boolean }[];
    must(broken?.ok === false && broken.exact && fine?.ok === true && fine.exact, printed);
    return undefined;
  });

  await report.check('the exporter of traces is there', async () => {
    await inImage(docker, [
      'node',
      '--eval',
      "require('/app/node_modules/@opentelemetry/exporter-trace-otlp-proto')",
    ]);
    return undefined;
  });
}

/** Runs another program than `fleet` in the image and returns its standard output. */
async function inImage(docker: Docker, [program = '', ...args]: readonly string[]): Promise<string> {
  return (await docker.run(['run', '--rm', '--entrypoint', program, IMAGE, ...args])).trim();
}
