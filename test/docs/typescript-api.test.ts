import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { format } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { packagePath } from '../../src/package-root.js';
import { startTestGateway, type TestGateway } from '../gateway/gateway-fixture.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';

const ENTRY_POINTS: Readonly<Record<string, string>> = {
  'solution-fleet': 'src/index.ts',
  'solution-fleet/worker': 'src/worker.ts',
  'solution-fleet/contamination': 'src/contamination/index.ts',
  'solution-fleet/http': 'src/http-client/index.ts',
  'solution-fleet/testing': 'src/testing/index.ts',
};
const PAGES = ['typescript-api.md', 'typescript-api/without-a-queue.md', 'typescript-api/workers.md']
  .map((page) => readFileSync(packagePath('docs', page), 'utf8'))
  .join('\n');

/** Names that a module exports, types among them. */
function exportsOf(file: string): string[] {
  const text = readFileSync(packagePath(file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const all = [...text.matchAll(/^export (?:type )?\* from '(.+)\.js'/gm)].flatMap(([, other]) =>
    exportsOf(join(dirname(file), `${other}.ts`)),
  );
  const lists = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names = '']) =>
    names.split(',').map((name) =>
      name
        .trim()
        .replace(/^type /, '')
        .replace(/^.* as /, ''),
    ),
  );
  const here = [
    ...text.matchAll(/^export (?:async )?(?:abstract )?(?:class|const|function|interface|type) (\w+)/gm),
  ].map(([, name = '']) => name);
  return [...new Set([...all, ...lists, ...here])].filter((name) => name !== '').sort();
}

/** The sections of an entry point on all pages. */
function sectionsOf(entryPoint: string): string {
  return PAGES.split(/^## /m)
    .filter((section) => section.startsWith(`\`${entryPoint}\`\n`))
    .join('');
}

/** Names in the first cells of the tables of sections. */
function documentedIn(section: string): string[] {
  const cells = [...section.matchAll(/^\| (`[^|]+) \|/gm)].map(([, cell = '']) => cell);
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name)).sort();
}

const EXAMPLES = [...PAGES.matchAll(/^##+ (.+)$|^```ts\n([\s\S]*?)^```$/gm)].reduce<[string, string][]>(
  (found, [, title, code]) => {
    if (title !== undefined) found.push([title, '']);
    else if (code !== undefined) found.push([`${found.at(-1)?.[0]}`, code]);
    return found;
  },
  [],
);

const redis = redisOfFile();
let fleet: TestFleet;
let gateway: TestGateway;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(packagePath('test', 'docs'), '.example-'));
  fleet = await startTestFleet(redis, 'fleet');
  gateway = await startTestGateway(redis, 'fleet');
  await fleet.worker(createOfflineRunner());
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await gateway.close();
  await fleet.close();
});

describe('docs/typescript-api', () => {
  it('has a section for every entry point of the package', () => {
    const { exports } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as {
      exports: Record<string, unknown>;
    };
    const code = Object.keys(exports).filter((path) => !path.endsWith('.json'));
    expect(code.map((path) => path.replace(/^\./, 'solution-fleet'))).toEqual(Object.keys(ENTRY_POINTS));
  });

  it.each(Object.entries(ENTRY_POINTS))('lists every export of %s once, and no other', (name, file) => {
    const names = exportsOf(file);
    expect(names.length).toBeGreaterThan(4);
    expect(documentedIn(sectionsOf(name))).toEqual(names);
  });

  it('has an example for every group of exports', () => {
    const groups = PAGES.split(/^##+ /m).filter((section) => section.includes('\n| export |'));
    expect(groups.filter((group) => !group.includes('```ts')).map((group) => group.split('\n')[0])).toEqual(
      [],
    );
  });

  it.each(EXAMPLES.filter(([, code]) => code !== ''))('the example of “%s” runs', async (_title, code) => {
    const file = join(folder, `example-${EXAMPLES.findIndex(([, other]) => other === code)}.ts`);
    writeFileSync(file, runnable(code));
    const printed: string[] = [];
    const log = vi
      .spyOn(console, 'log')
      .mockImplementation((...values) => void printed.push(format(...values)));
    onTestFinished(() => log.mockRestore());
    await import(pathToFileURL(file).href);
    const promised = [...code.matchAll(/console\.log\(.*\); \/\/ (.+)$/gm)].map(([, text]) => text);
    expect(promised.length).toBeGreaterThan(0);
    expect(printed).toEqual(promised);
  });
});

/** An example with the sources instead of the package, and the servers of this test. */
function runnable(code: string): string {
  const imported = Object.entries(ENTRY_POINTS).reduce(
    (text, [name, file]) => text.replaceAll(`from '${name}'`, `from '${packagePath(file)}'`),
    code,
  );
  return imported
    .replaceAll('redis://127.0.0.1:6379', redis.url)
    .replaceAll('http://127.0.0.1:8080', gateway.url);
}
