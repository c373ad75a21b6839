import { expect, it } from 'vitest';
import type { NotebookDocument } from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { codeOfNotebook } from '../../src/language-server/open-code.js';

/** Cells after a text of their joined source was replaced, as an editor applies it: by lines and UTF-16 units. */
function replaced(cells: readonly string[], old: string, text: string): string[] {
  const documents = cells.map((code, at) => TextDocument.create(`cell:${at}`, 'python', 1, code));
  const notebook: NotebookDocument = {
    uri: 'file:///a.ipynb',
    notebookType: 'jupyter-notebook',
    version: 1,
    cells: documents.map(({ uri }) => ({ kind: 2, document: uri })),
  };
  const code = codeOfNotebook(notebook, ({ document }) => documents.find(({ uri }) => uri === document));
  const start = code.source.indexOf(old);
  const edits = code.replacing({ start, end: start + old.length }, text);
  return documents.map((document) => {
    const own = edits
      .filter((edit) => edit.document === document)
      .map((edit) => ({
        range: { start: document.positionAt(edit.start), end: document.positionAt(edit.end) },
        newText: edit.text,
      }));
    // No range ends within a character, which editors would round.
    for (const { newText } of own) expect(newText).not.toMatch(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/);
    return TextDocument.applyEdits(document, own);
  });
}

it.each<[string, readonly string[], string, string, readonly string[]]>([
  ['a character whose first half stays', ['a = "🚢"\nb = 1'], '"🚢"', '"🚣"', ['a = "🚣"\nb = 1']],
  ['a character whose second half stays', ['a = "\u{1F6A2}"'], '\u{1F6A2}', '\u{1F2A2}', ['a = "\u{1F2A2}"']],
  [
    'a line that gets another line ending',
    ['a = 1\r\nb = 2\r\nc = 3'],
    'a = 1\r\n',
    'x = 1\n',
    ['x = 1\nb = 2\r\nc = 3'],
  ],
  ['a line that goes, of two that begin alike', ['a = 1\r\na = 2\r\n'], 'a = 1\r\n', '', ['a = 2\r\n']],
  [
    'lines of two cells',
    ['a = 1\r\nb = 2', 'c = 3\r\nd = 4'],
    'b = 2\nc = 3',
    'b = 5\nc = 6',
    ['a = 1', 'b = 5\nc = 6\r\nd = 4'],
  ],
])('an edit of a cell is what an editor can apply: %s', (_what, cells, old, text, expected) => {
  expect(replaced(cells, old, text)).toEqual(expected);
});
