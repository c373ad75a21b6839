import { physicalLines, pythonLines } from './lines.js';
import { parsePython, type SyntaxNode, type SyntaxTree } from './python-syntax.js';

/** An error in Python source; line and column count from 1, the column in UTF-16 code units. */
export interface SyntaxProblem {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** Statements that the grammar takes for the sake of Python 2. */
const PYTHON_2 = new Map([
  ['print_statement', "missing parentheses in call to 'print'"],
  ['exec_statement', "missing parentheses in call to 'exec'"],
]);

interface FoundAt {
  readonly offset: number;
  readonly message: string;
}

function problemOf(node: SyntaxNode): FoundAt | null {
  if (node.isMissing) return { offset: node.startIndex, message: `expected '${node.type}'` };
  if (node.isError) return { offset: node.startIndex, message: 'invalid syntax' };
  const message = PYTHON_2.get(node.type);
  return message === undefined ? null : { offset: node.startIndex, message };
}

/** The first error in the order of the text. Walks without recursion: nesting may be as deep as the text is long. */
function errorInTree(tree: SyntaxTree): FoundAt | null {
  const { rootNode } = tree;
  if (!rootNode.hasError) {
    // The grammar finds these without a call for each node.
    const [first] = rootNode.descendantsOfType([...PYTHON_2.keys()]);
    return first === undefined ? null : problemOf(first);
  }
  const cursor = tree.walk();
  try {
    for (;;) {
      const found = problemOf(cursor.currentNode);
      if (found !== null) return found;
      if (cursor.gotoFirstChild() || cursor.gotoNextSibling()) continue;
      do {
        if (!cursor.gotoParent()) return null;
      } while (!cursor.gotoNextSibling());
    }
  } finally {
    cursor.delete();
  }
}

/** Errors of indentation, which the grammar takes: Python does not. */
function errorInIndentation(text: string): FoundAt | null {
  const depths = [0];
  let opened = false;
  for (const line of pythonLines(text)) {
    const code = text.slice(line.start, line.comment === -1 ? line.end : line.comment);
    if (code.trim() === '') continue;
    if (line.context === 'code') {
      const indentation = /^[ \t\f]*/.exec(code)?.[0] ?? '';
      const message = indentationError(columns(indentation), opened, depths);
      if (message !== null) return { offset: line.start + indentation.length, message };
    }
    opened = code.trimEnd().endsWith(':');
  }
  return opened ? { offset: text.length, message: 'expected an indented block' } : null;
}

/** Checks the depth of a statement, and keeps the depths of the blocks that are open after it. */
function indentationError(depth: number, opened: boolean, depths: number[]): string | null {
  const current = depths.at(-1) ?? 0;
  if (opened !== depth > current) return opened ? 'expected an indented block' : 'unexpected indent';
  if (opened) depths.push(depth);
  while (depth < (depths.at(-1) ?? 0)) depths.pop();
  return depth === depths.at(-1) ? null : 'unindent matches no outer level';
}

/** Width of indentation as Python counts it: tabs reach to the next multiple of eight. */
function columns(indentation: string): number {
  let width = 0;
  for (const character of indentation) {
    if (character === '\t') width = width - (width % 8) + 8;
    else if (character === '\f') width = 0;
    else width += 1;
  }
  return width;
}

function located(text: string, { offset, message }: FoundAt): SyntaxProblem {
  const lines = physicalLines(text.slice(0, offset));
  const last = lines.at(-1);
  const startsLine = last === undefined || last.next > last.end;
  const line = lines.length + (startsLine ? 1 : 0);
  return { line, column: startsLine ? 1 : offset - last.start + 1, message };
}

/**
 * The first error that the syntax tree or the indentation shows, or null. It is laxer than Python, and refuses
 * one layout that Python takes: lines within brackets that are indented less than their block, after a colon.
 *
 * @throws Error if the grammar that ships with the package cannot be read.
 */
export async function firstSyntaxError(text: string): Promise<SyntaxProblem | null> {
  const nul = text.indexOf('\0');
  if (nul !== -1) return located(text, { offset: nul, message: 'source code cannot contain null bytes' });
  const tree = await parsePython(text);
  try {
    const found = errorInTree(tree) ?? errorInIndentation(text);
    return found === null ? null : located(text, found);
  } finally {
    tree.delete();
  }
}
