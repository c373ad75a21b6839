import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SETTINGS } from '../../src/config/settings.js';
import { packagePath } from '../../src/package-root.js';
import { must, type Report } from '../testing/checks.js';
import type { Docker } from './docker.js';
import { writeEnvFile } from './project.js';

/** Settings that the Compose file or the image sets. */
const FIXED = ['redisUrl', 'drainSeconds', 'dataDirectory', 'embeddedRedis', 'healthFile'];
const SECRETS = [
  ...['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL', 'ANTHROPIC_CUSTOM_HEADERS'],
  ...['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'OPENAI_CUSTOM_HEADERS', 'OPENAI_ORG_ID', 'OPENAI_PROJECT_ID'],
];

type Environment = Readonly<Record<string, string | null>>;

/** What Compose makes of a file with every setting, by its own account. */
export async function checkSettings(report: Report, docker: Docker): Promise<void> {
  await report.check(
    'every setting of docs/configuration.md gets from the env file into gateway and worker',
    async () => {
      const names = Object.entries(SETTINGS)
        .filter(([name]) => !FIXED.includes(name))
        .map(([, { variable }]) => variable);
      const envFile = join(mkdtempSync(join(tmpdir(), 'compose-')), '.env');
      writeEnvFile(
        envFile,
        Object.fromEntries([...names, ...SECRETS].map((name) => [name, `value-of-${name}`])),
      );
      const text = await docker.run([
        ...['compose', '--file', packagePath('docker-compose.yml'), '--env-file', envFile],
        ...['config', '--format', 'json'],
      ]);
      const { services } = JSON.parse(text) as {
        services: Record<string, { environment: Environment }>;
      };
      const lost = (service: string, wanted: readonly string[]) =>
        wanted.filter((name) => services[service]?.environment[name] !== `value-of-${name}`);
      const missing = [...lost('gateway', names), ...lost('worker', [...names, ...SECRETS])];
      must(missing.length === 0, `not passed on: ${missing.join(', ')}`);
      const leaked = SECRETS.filter((name) => name in (services.gateway?.environment ?? {}));
      must(leaked.length === 0, `the gateway gets ${leaked.join(', ')}`);
      return `${names.length} settings`;
    },
  );
}
