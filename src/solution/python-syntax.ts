import { readFile } from 'node:fs/promises';
import { Language, Parser, type Tree } from 'web-tree-sitter';
import { packagePath } from '../package-root.js';

export type { Node as SyntaxNode, Tree as SyntaxTree } from 'web-tree-sitter';

let parser: Promise<Parser> | undefined;

async function createParser(): Promise<Parser> {
  await Parser.init();
  const grammar = await readFile(packagePath('assets', 'tree-sitter-python.wasm'));
  const created = new Parser();
  created.setLanguage(await Language.load(grammar));
  return created;
}

/**
 * Parses Python source into a concrete syntax tree. Offsets (`startIndex`, `endIndex`) are UTF-16 code
 * units of `source`. The tree always exists; `tree.rootNode.hasError` says whether it holds errors.
 * The caller must call `tree.delete()` when done: the memory lives in the WebAssembly heap.
 *
 * @throws Error if the grammar that ships with the package cannot be read.
 */
export async function parsePython(source: string): Promise<Tree> {
  // A failed start is not kept: the next call tries again.
  parser ??= createParser().catch((thrown: unknown) => {
    parser = undefined;
    throw thrown;
  });
  // Python ends a line at a lone carriage return too, and the grammar does not: a comment would swallow what follows.
  const tree = (await parser).parse(source.replace(/\r(?!\n)/g, '\n'));
  if (tree === null) throw new Error('the Python grammar returned no tree');
  return tree;
}
