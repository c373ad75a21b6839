import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { unpacked, viewerFiles } from '../../scripts/openapi/swagger-ui.js';
import { packagePath } from '../../src/package-root.js';

const Entry = z.looseObject({
  integrity: z.string().optional(),
  resolved: z.string().optional(),
  link: z.boolean().optional(),
  dev: z.boolean().optional(),
  license: z.string().optional(),
  hasInstallScript: z.boolean().optional(),
});
const { packages } = z
  .object({ packages: z.record(z.string(), Entry) })
  .parse(JSON.parse(readFileSync(packagePath('package-lock.json'), 'utf8')));
const installed = Object.entries(packages).filter(([path]) => path !== '');
const production = installed.filter(([, { dev }]) => dev !== true);
const document = readFileSync(packagePath('docs', 'dependencies.md'), 'utf8');

/** Licenses that ask for no more than their notice. A package under any other needs a decision, and a line here. */
const PERMISSIVE = [
  'MIT',
  'Apache-2.0',
  'ISC',
  'BSD-3-Clause',
  'BSD-2-Clause',
  '0BSD',
  'Unlicense',
  'BlueOak-1.0.0',
];

describe('package-lock.json', () => {
  it('has the hash of every package', () => {
    expect(installed.length).toBeGreaterThan(100);
    expect(
      installed.filter(([, { integrity }]) => !/^sha512-/.test(integrity ?? '')).map(([path]) => path),
    ).toEqual([]);
  });

  it('takes every package from the registry: none from git, an address or a folder', () => {
    const others = installed.filter(([, { resolved, link }]) => resolved !== undefined || link === true);
    expect(others.map(([path]) => path)).toEqual([]);
    const root = Entry.loose().parse(packages['']);
    const wanted = Object.values({
      ...(root.dependencies as object),
      ...(root.optionalDependencies as object),
      ...(root.devDependencies as object),
    });
    expect(wanted.filter((version) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(String(version)))).toEqual([]);
  });

  it('has only packages under permissive licenses in what is needed to run', () => {
    const others = production.filter(([, { license }]) => !PERMISSIVE.includes(license ?? ''));
    expect(others.map(([path, { license }]) => `${path}: ${license}`)).toEqual([]);
  });

  it('has one package with an install script in what is needed to run, and the documents name it', () => {
    const names = production
      .filter(([, { hasInstallScript }]) => hasInstallScript === true)
      .map(([path]) => path.replace(/^.*node_modules\//, ''));
    expect(names).toEqual(['msgpackr-extract']);
    expect(document).toContain('`msgpackr-extract`');
    const setup = readFileSync(packagePath('scripts', 'setup', 'npm-dependencies.mjs'), 'utf8');
    expect(setup.match(/npm (?:ci|install)\b.*/g)).toEqual([expect.stringContaining('--ignore-scripts')]);
  });
});

describe('the compiled grammar', () => {
  it('is described with the checksum that the build compares', () => {
    const [checksum = ''] = readFileSync(packagePath('assets', 'SHA256SUMS'), 'utf8').split(' ');
    expect(checksum).toMatch(/^[0-9a-f]{64}$/);
    expect(document).toContain(checksum);
  });
});

describe('the files of Swagger UI', () => {
  it('are those of the package in the lock file, with checksums that the build compares', () => {
    const sums = readFileSync(packagePath('assets', 'SHA256SUMS'), 'utf8');
    for (const { asset, original } of viewerFiles()) {
      expect([asset, unpacked(asset).equals(original), sums.includes(`  ${asset}\n`)]).toEqual([
        asset,
        true,
        true,
      ]);
    }
  });
});

describe('the image', () => {
  const lines = readFileSync(packagePath('Dockerfile'), 'utf8').split('\n');

  it('is built from bases with a version, installs by the lock file without scripts, and does not run as root', () => {
    const stages = lines.flatMap((line) => / AS (\w+)$/.exec(line)?.[1] ?? []);
    const bases = lines.filter((line) => /^FROM /.test(line) && !stages.includes(line.split(' ')[1] ?? ''));
    expect(bases.filter((line) => !/^FROM [\w./-]+:\d[\w.-]+( AS \w+)?$/.test(line))).toEqual([]);
    expect(
      lines.filter((line) => /npm (ci|install)/.test(line) && !line.includes('--ignore-scripts')),
    ).toEqual([]);
    expect(lines.filter((line) => line.startsWith('USER '))).toEqual(['USER 1000:1000']);
  });

  it('takes no secrets: no argument, and no file that may hold one', () => {
    expect(lines.filter((line) => /^ARG|^ENV .*(KEY|TOKEN|PASSWORD|SECRET)/i.test(line))).toEqual([]);
    expect(readFileSync(packagePath('.dockerignore'), 'utf8').split('\n')).toEqual(
      expect.arrayContaining(['.git', '.env*', '.fleet']),
    );
    expect(readFileSync(packagePath('.npmrc'), 'utf8')).not.toMatch(/_auth|token|password/i);
  });
});
