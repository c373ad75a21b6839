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

/** Scripts of which the syntax is cached: an original and its possible corrections, which are analyzed and compared in turn. */
const MAX_CACHED = 3;
/** Longer ones are not cached, in UTF-16 code units: their syntax takes a hundred times their memory. */
const MAX_CACHED_LENGTH = 65_536;

/** The last one used comes last. */
const cached = new Map<string, Promise<Module>>();

/**
 * Parses a script (notebook magics allowed) into the syntax the analysis works on. The syntax of the last scripts is cached, and is
 * the same object for each caller: nobody changes it.
 */
export function parseModule(source: string): Promise<Module> {
  if (source.length > MAX_CACHED_LENGTH) return parseNow(source);
  const parsing = cached.get(source) ?? parseNow(source);
  cached.delete(source);
  cached.set(source, parsing);
  const [oldest] = cached.keys();
  if (cached.size > MAX_CACHED && oldest !== undefined) cached.delete(oldest);
  // A failure depends on the time that parsing took.
  parsing.catch(() => cached.delete(source));
  return parsing;
}

async function parseNow(source: string): Promise<Module> {
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
