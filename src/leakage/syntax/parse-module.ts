import { neutraliseMagics } from '../../solution/notebook-magics.js';
import { parsePython, type SyntaxTree } from '../../solution/python-syntax.js';
import type { Module } from './ast.js';
import { landmarksOf } from './landmarks.js';
import { StatementLowering } from './lower-statement.js';
import { copyTree } from './raw-tree.js';

/** The tree of the script; where it does not parse as it is, of the script without its notebook magics. */
async function parseWithMagics(source: string): Promise<SyntaxTree> {
  const plain = await parsePython(source);
  if (!plain.rootNode.hasError) return plain;
  const neutral = neutraliseMagics(source);
  if (neutral === source) return plain;
  plain.delete();
  return parsePython(neutral);
}

/** Parses a script (notebook magics allowed) into the syntax the analysis works on. */
export async function parseModule(source: string): Promise<Module> {
  const tree = await parseWithMagics(source);
  try {
    const parsed = !tree.rootNode.hasError;
    const { root, size } = copyTree(tree);
    const lowering = new StatementLowering(source);
    const body = lowering.suite(root, undefined);
    return { body, source, parsed, size, landmarks: landmarksOf(root, source), unread: lowering.unread };
  } finally {
    tree.delete();
  }
}
