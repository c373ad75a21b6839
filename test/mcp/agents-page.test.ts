import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.js';
import { TOOLS } from '../../src/mcp/tools/all.js';
import { packagePath } from '../../src/package-root.js';

const page = readFileSync(packagePath('docs', 'agents.md'), 'utf8');

describe('docs/agents.md', () => {
  it('lists each tool with the role that it needs', () => {
    const rows = [...page.matchAll(/^\| `(\w+)` \|.*\| `(\w+)` \|$/gm)].map(([, name, role]) => [name, role]);
    const listed = Object.fromEntries(rows);
    expect(listed).toEqual(Object.fromEntries(TOOLS.map(({ name, role }) => [name, role])));
  });

  it('registers the command with options that it has', async () => {
    const command = (await createProgram(['mcp'])).commands.find((one) => one.name() === 'mcp');
    const lines = page.split('\n').filter((line) => /fleet.*\bmcp\b.*--root/.test(line));
    expect(lines.length).toBeGreaterThanOrEqual(5);
    for (const line of lines) {
      const after = line.slice(line.search(/\bmcp\b[^\w]+--root/));
      const options = after.match(/--[a-z]+/g) ?? [];
      const unknown = options.filter((option) => !command?.options.some(({ long }) => long === option));
      expect({ line, unknown }).toEqual({ line, unknown: [] });
    }
  });
});
