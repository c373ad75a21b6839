import { openMagicCalls } from '../../solution/magic-calls.js';
import { type CodeOfMagics, readMagics } from '../../solution/notebook-magics.js';
import { parsePython, type SyntaxTree } from '../../solution/python-syntax.js';
import { LastResults } from '../last-results.js';
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

/** The syntax of the last scripts: an original and its possible corrections, which are analyzed and compared in turn. */
const parsed = new LastResults<Module>(3);

/**
 * Parses a script (notebook magics allowed) into the syntax the analysis works on. The syntax of the last scripts is cached, and is
 * the same object for each caller: nobody changes it.
 */
export function parseModule(source: string): Promise<Module> {
  return parsed.of(source, source, () => parseNow(source));
}

async function parseNow(source: string): Promise<Module> {
  const { text, calls } = openMagicCalls(source);
  const { tree, hidden } = await parseWithMagics(text);
  try {
    const isPython = !tree.rootNode.hasError;
    const { root, size } = copyTree(tree);
    const lowering = new StatementLowering(text);
    const body = lowering.suite(root, undefined);
    const found = landmarksOf(root, text);
    const landmarks = { ...found, hidden: [...hidden, ...found.hidden] };
    return { body, source, parsed: isPython, size, landmarks, unread: lowering.unread, magicCalls: calls };
  } finally {
    tree.delete();
  }
}
