import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readKnownSolutions, readPairs } from '../../scripts/evaluation/read-pairs.js';
import { readKnownFile } from '../../src/known/read-known-file.js';
import { knownLines } from '../inputs/grammars.js';
import { KNOWN_FILE } from '../inputs/kinds.js';
import { mustHold, type Target } from '../target.js';

export const knownFile: Target = {
  name: 'known-file',
  about: 'a JSONL file of known solutions, and of labeled pairs',
  generate: (source) => [source.chance(0.5) ? source.value(knownLines) : source.text(KNOWN_FILE)],
  open: () => {
    const folder = mkdtempSync(join(tmpdir(), 'fleet-fuzz-known-'));
    const file = join(folder, 'known.jsonl');
    return {
      run: async ([text = '']) => {
        writeFileSync(file, text);
        const { solutions, broken } = await readKnownFile(file).catch((thrown: unknown) => {
          throw new Error('a file that is there is read to its end', { cause: thrown });
        });
        for (const { hash, solution } of solutions) {
          mustHold(/^[0-9a-f]{64}$/.test(hash) && solution !== '', 'a solution has its text and digest');
        }
        for (const { line, reason } of broken) mustHold(line >= 1 && reason !== '', 'a broken line says why');
        // The time at which a solution was read is not in the file.
        return [
          solutions.map(({ hash, testCaseId }) => [hash, testCaseId]),
          broken,
          readPairs(text),
          readKnownSolutions(text),
        ];
      },
      close: async () => rmSync(folder, { recursive: true, force: true }),
    };
  },
};
