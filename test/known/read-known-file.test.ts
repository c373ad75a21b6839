import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readKnownFile } from '../../src/known/read-known-file.js';
import { emptyFolder } from '../support/fleet-command.js';

it('a known solution of nothing but white space is a broken line, and the lines after it are read', async () => {
  const file = join(emptyFolder(), 'known.jsonl');
  const lines = ['\r', ' \t\n', '\u00a0', '\ufeff', 'print(1)'].map((solution) =>
    JSON.stringify({ testCaseId: 'task', solution }),
  );
  writeFileSync(file, lines.join('\n'));
  const { solutions, broken } = await readKnownFile(file);
  expect(solutions.map(({ solution }) => solution)).toEqual(['print(1)']);
  expect(broken.map(({ line }) => line)).toEqual([1, 2, 3, 4]);
  expect(broken[0]?.reason).toContain('solution: must be more than white space');
});
