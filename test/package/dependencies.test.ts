import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { packagePath } from '../../src/package-root.js';

interface Row {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly reason: string;
}

const document = readFileSync(packagePath('docs', 'dependencies.md'), 'utf8');
const { dependencies, optionalDependencies, devDependencies } = JSON.parse(
  readFileSync(packagePath('package.json'), 'utf8'),
) as {
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};

/** The rows of the table below a heading. */
function rows(heading: string): Row[] {
  const section = document.split(/^## /m).find((part) => part.startsWith(heading)) ?? '';
  return [
    ...section.matchAll(/^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \| [^|]+ \| \d+ \| ([^|]+) \| [^|]+ \|$/gm),
  ].map(([, name = '', version = '', license = '', reason = '']) => ({ name, version, license, reason }));
}

describe.each([
  ['Needed to run', dependencies],
  ['Needed to send traces', optionalDependencies],
  ['Needed to work on it', devDependencies],
])('docs/dependencies.md, "%s"', (heading, expected) => {
  it('lists exactly the packages and versions of package.json', () => {
    expect(Object.fromEntries(rows(heading).map(({ name, version }) => [name, version]))).toEqual(expected);
  });

  it('gives the license that each package itself gives', () => {
    for (const { name, license } of rows(heading)) {
      const manifest = readFileSync(packagePath('node_modules', name, 'package.json'), 'utf8');
      expect([name, license]).toEqual([name, (JSON.parse(manifest) as { license: string }).license]);
    }
  });

  it('gives a reason for each, and keeps to exact versions', () => {
    for (const { name, version, reason } of rows(heading)) {
      expect([name, reason.length > 10, /^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)]).toEqual([
        name,
        true,
        true,
      ]);
    }
  });
});
