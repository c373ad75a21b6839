import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wrapped } from '../../src/cli/terminal/wrapped.js';
import { packagePath } from '../../src/package-root.js';
import { emptyFolder, fleetCommand } from '../support/fleet-command.js';
import { PROGRAM_FLAGS, testProgram } from '../support/programs.js';

describe('wrapped text', () => {
  it('breaks at spaces, and only there', () => {
    expect(wrapped('one two three four five six', '  ', 22)).toEqual(['  one two three four', '  five six']);
    expect(wrapped(`a ${'b'.repeat(40)} c`, '', 20)).toEqual(['a', 'b'.repeat(40), 'c']);
  });

  it('continues after another indentation, and colors take no room', () => {
    const red = `\u001b[31m${'x'.repeat(9)}\u001b[39m`;
    expect(wrapped(`${red} two three four`, '', 20, '    ')).toEqual([`${red} two three`, '    four']);
  });

  it('loses no character and fits, except for long words', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'ü', '𝒳', ' ', '\n') }),
        fc.integer({ min: 20, max: 60 }),
        (text, width) => {
          const lines = wrapped(text, '', width);
          expect(lines.join('\n').replace(/[ \n]/g, '')).toBe(text.replace(/[ \n]/g, ''));
          for (const line of lines)
            if (line.trim().includes(' ')) expect([...line].length).toBeLessThanOrEqual(width);
        },
      ),
    );
  });

  it('stays as it is without a width', () => {
    const text = 'word '.repeat(100);
    expect(wrapped(text, ' ', undefined)).toEqual([` ${text}`]);
  });
});

describe('findings of fleet check', () => {
  const LEAKY = packagePath('examples', 'scripts', 'leaky_scaler.py');
  const reason = (output: string) =>
    output.split(/\r?\n/).filter((line) => line.startsWith('       ') && line.trim() !== '');

  it.runIf(process.platform === 'linux')(
    'are wrapped to the width of a terminal, and not in a pipe',
    async () => {
      const cwd = emptyFolder();
      const main = testProgram('src/cli/main');
      writeFileSync(
        join(cwd, 'run.sh'),
        `stty cols 60; exec '${process.execPath}' ${PROGRAM_FLAGS.join(' ')} '${main}' check '${LEAKY}'\n`,
      );
      const { stdout } = await execa('script', ['-qec', 'sh run.sh', '/dev/null'], {
        cwd,
        env: { NO_COLOR: '1' },
        input: '',
        reject: false,
      });
      const onTerminal = reason(stdout);
      expect(onTerminal.length).toBeGreaterThan(1);
      expect(Math.max(...onTerminal.map((line) => line.length))).toBeLessThanOrEqual(60);
      const inPipe = reason((await fleetCommand(['check', LEAKY])).stdout);
      expect(inPipe[0]?.length).toBeGreaterThan(100);
    },
  );
});
