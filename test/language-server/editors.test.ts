import { readFileSync } from 'node:fs';
import { Script } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.js';
import { packagePath } from '../../src/package-root.js';

const read = (...path: string[]) => readFileSync(packagePath(...path), 'utf8');

interface Manifest {
  readonly main: string;
  readonly contributes: { readonly configuration: { readonly properties: Record<string, unknown> } };
  readonly dependencies: Record<string, string>;
}

/** The arguments after `fleet` are those of a command with these options. */
async function expectRuns(words: readonly string[]): Promise<void> {
  const [name, ...options] = words.slice(words.indexOf('fleet') + 1);
  const command = (await createProgram([name ?? ''])).commands.find((one) => one.name() === name);
  expect(options.filter((option) => !command?.options.some(({ long }) => long === option))).toEqual([]);
  expect(name).toBe('lsp');
}

describe('editors/vscode', () => {
  const manifest = JSON.parse(read('editors', 'vscode', 'package.json')) as Manifest;
  const extension = read('editors', 'vscode', manifest.main);

  it('is a script that reads the settings which it declares, and needs the packages which it declares', () => {
    expect(() => new Script(extension)).not.toThrow();
    const settings = [...extension.matchAll(/settings\.get\('(\w+)'\)/g)].map(
      ([, name]) => `solutionFleet.${name}`,
    );
    expect(settings.sort()).toEqual(Object.keys(manifest.contributes.configuration.properties).sort());
    const packages = [...extension.matchAll(/require\('([^'/]+)/g)].map(([, name]) => name);
    expect(packages.sort()).toEqual(['vscode', ...Object.keys(manifest.dependencies)]);
  });

  it('speaks the version of the protocol that the server has', () => {
    const { dependencies } = JSON.parse(read('package.json')) as Manifest;
    expect(manifest.dependencies['vscode-languageclient']).toBe(dependencies['vscode-languageserver']);
  });
});

describe('docs/editors.md', () => {
  const page = read('docs', 'editors.md');

  it('starts the server by its command in every editor', async () => {
    const [, json = ''] = /^```json\n([\s\S]*?)^```$/m.exec(page) ?? [];
    const jupyter = JSON.parse(json) as {
      LanguageServerManager: { language_servers: Record<string, { argv: string[] }> };
    };
    await expectRuns(jupyter.LanguageServerManager.language_servers['solution-fleet']?.argv ?? []);
    const [, neovim = ''] = /cmd = \{ (.*) \}/.exec(page) ?? [];
    await expectRuns(neovim.split(', ').map((word) => word.slice(1, -1)));
  });
});
