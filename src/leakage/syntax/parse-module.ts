import { openMagicCalls } from '../../solution/magic-calls.js';
import { type CodeOfMagics, readMagics } from '../../solution/notebook-magics.js';
import { parsePython, type SyntaxTree } from '../../solution/python-syntax.js';
import type { Module } from './ast.js';
import { landmarksOf } from './landmarks.js';
import { StatementLowering } from './lower-statement.js';
import { copyTree } from './raw-tree.js';

/** The tree of the script; where it does not parse as it is, of the script without its notebook magics. */
async function parseWithMagics(
  source: string,
): Promise<{ tree: SyntaxTree; hidden: readonly CodeOfMagics[] }> {
  const plain = await parsePython(source);
  if (!plain.rootNode.hasError) return { tree: plain, hidden: [] };
  const { text, hidden } = readMagics(source);
  if (text === source) return { tree: plain, hidden };
  plain.delete();
  return { tree: await parsePython(text), hidden };
}

/** Parses a script (notebook magics allowed) into the syntax the analysis works on. */
export async function parseModule(source: string): Promise<Module> {
  const { text, calls } = openMagicCalls(source);
  const { tree, hidden } = await parseWithMagics(text);
  try {
    const parsed = !tree.rootNode.hasError;
    const { root, size } = copyTree(tree);
    const lowering = new StatementLowering(text);
    const body = lowering.suite(root, undefined);
    const found = landmarksOf(root, text);
    const landmarks = { ...found, hidden: [...hidden, ...found.hidden] };
    return { body, source, parsed, size, landmarks, unread: lowering.unread, magicCalls: calls };
  } finally {
    tree.delete();
  }
}
