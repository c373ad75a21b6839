import { cellOfLine, readNotebook, replaceInNotebook } from '../../src/leakage/index.js';
import { notebookText } from '../inputs/grammars.js';
import { NOTEBOOK } from '../inputs/kinds.js';
import { mustHold, type Target } from '../target.js';

const countLines = (text: string) => text.split('\n').length;

export const notebook: Target = {
  name: 'notebook',
  about: 'reading a notebook, and writing a correction back into its cells',
  generate: (source) => [
    // Most mutated texts are not JSON, and rejected at once.
    source.chance(0.7) ? source.value(notebookText) : source.text(NOTEBOOK),
    String(source.below(1_000)),
    String(source.below(1_000)),
  ],
  open: () => ({
    run: ([text = '', at = '0', length = '0']) => {
      const code = readNotebook(text);
      for (const { start, end, firstLine } of code.cells) {
        mustHold(start <= end && end <= code.source.length, 'a cell lies within the joined source');
        mustHold(countLines(code.source.slice(0, start)) === firstLine, 'a cell begins on its line');
        mustHold(cellOfLine(code, firstLine)?.line === 1, 'the first line of a cell is its line 1');
      }
      const start = Number(at) % (code.source.length + 1);
      const end = Math.min(code.source.length, start + (Number(length) % 200));
      // A block replaced with its own text.
      const same = replaceInNotebook(text, { start, end }, code.source.slice(start, end));
      const before: { cells: { cell_type: string }[] } = JSON.parse(text);
      const after: { cells: { cell_type: string; source: unknown }[] } = JSON.parse(same);
      mustHold(before.cells.length === after.cells.length, 'no cell is lost');
      const touched = code.cells.filter((cell) => !(cell.end < start || cell.start >= end));
      if (touched.length === 1) {
        mustHold(readNotebook(same).source === code.source, 'a block that replaces itself changes no code');
      }
      const untouched = new Set(touched.map(({ cell }) => cell));
      for (const [index, cell] of before.cells.entries()) {
        if (untouched.has(index + 1)) continue;
        mustHold(JSON.stringify(cell) === JSON.stringify(after.cells[index]), 'other cells stay as they are');
      }
      return [code, same];
    },
  }),
};
