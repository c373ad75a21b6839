import { describe, expect, it } from 'vitest';
import { colorsFor } from '../../src/cli/terminal/colors.js';
import { renderDiff } from '../../src/cli/terminal/render-diff.js';

const colors = colorsFor({ isTTY: false } as NodeJS.WriteStream);
const lines = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => `${line(at)}\n`).join('');

describe('the diff of a correction', () => {
  it('shows each change with two lines around it', () => {
    const before = lines(20, (at) => `a${at}`);
    const after = before.replace('a3\n', 'b3\n').replace('a15\n', '');
    expect(renderDiff(before, after, colors).split('\n')).toEqual([
      ...['@@ line 2 @@', ' a1', ' a2', '-a3', '+b3', ' a4', ' a5'],
      ...['@@ line 14 @@', ' a13', ' a14', '-a15', ' a16', ' a17'],
    ]);
  });

  it('shows the changed block whole where nearly every one of very many lines changed', () => {
    const [old, now] = [lines(30_000, (at) => `a${at}`), lines(30_000, (at) => `b${at}`)];
    const before = `import x\nseed = 1\nfirst\n${old}last\n`;
    const after = `import x\nseed = 1\nfirst\n${now}last\n`;
    const started = process.cpuUsage();
    const shown = renderDiff(before, after, colors).split('\n');
    const { user, system } = process.cpuUsage(started);
    expect(shown.slice(0, 4)).toEqual(['@@ line 2 @@', ' seed = 1', ' first', '-a0']);
    expect(shown.slice(30_002, 30_005)).toEqual(['-a29999', '+b0', '+b1']);
    expect(shown.slice(-2)).toEqual(['+b29999', ' last']);
    expect(shown).toHaveLength(1 + 2 + 60_000 + 1);
    // Comparing line by line takes minutes of processor time.
    expect((user + system) / 1e6).toBeLessThan(20);
  });
});
