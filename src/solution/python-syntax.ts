import { readFile } from 'node:fs/promises';
import { Language, Parser, type Tree } from 'web-tree-sitter';
import { AnalysisLimitError } from '../errors.js';
import { packagePath } from '../package-root.js';
import { threadMs } from '../processor-time.js';
import { pythonLines } from './lines.js';

/** So many lines of comments in a row are left to the grammar as they are. */
const MAX_COMMENT_LINES = 32;

/** Whether so many lines in a row begin with a `#`: a look that costs little, and finds nothing in most scripts. */
function hasManyCommentLines(source: string): boolean {
  let row = 0;
  for (let start = 0; start < source.length; ) {
    let at = start;
    while (source[at] === ' ' || source[at] === '\t') at += 1;
    row = source[at] === '#' ? row + 1 : 0;
    if (row > MAX_COMMENT_LINES) return true;
    const next = source.indexOf('\n', at);
    if (next < 0) return false;
    start = next + 1;
  }
  return false;
}

/**
 * The source with long rows of comment lines blanked, except for the first and the last ones, and every offset as it was. The
 * scanner of the grammar reads all comments up to the next code again after each of them, so that a commented-out part of
 * a script takes time by the square of its length.
 */
export function withoutManyComments(source: string): string {
  if (!hasManyCommentLines(source)) return source;
  const parts: string[] = [];
  let copied = 0;
  let row: { start: number; end: number }[] = [];
  const blankRow = () => {
    for (const { start, end } of row.slice(MAX_COMMENT_LINES / 2, -MAX_COMMENT_LINES / 2)) {
      parts.push(source.slice(copied, start), ' '.repeat(end - start));
      copied = end;
    }
    row = [];
  };
  for (const { start, end, comment, context } of pythonLines(source)) {
    const isComment = comment >= 0 && source.slice(start, comment).trim() === '';
    if (isComment && (context === 'code' || context === 'bracket')) row.push({ start: comment, end });
    else blankRow();
  }
  blankRow();
  parts.push(source.slice(copied));
  return parts.join('');
}

/** How much longer than its processor time a task may take by the clock, where only the clock can be read. */
const CLOCK_FACTOR = 4;

/**
 * Reports when so much processor time of this thread is used, however busy the machine is. It reads the kernel's counter only where the
 * clock says that it may be over.
 */
function threadDeadline(milliseconds: number): () => boolean {
  const usedBefore = threadMs();
  if (usedBefore === undefined) {
    const end = performance.now() + CLOCK_FACTOR * milliseconds;
    return () => performance.now() > end;
  }
  let nextCheckAt = performance.now() + milliseconds;
  return () => {
    const now = performance.now();
    if (now < nextCheckAt) return false;
    const left = milliseconds - ((threadMs() ?? Number.POSITIVE_INFINITY) - usedBefore);
    nextCheckAt = now + left;
    return left <= 0;
  };
}

/**
 * A node of a syntax tree, as far as the project reads it. Spelled out, since the parser's own types need types of
 * Emscripten that nobody who uses this package has: they must not be part of its declarations.
 */
export interface SyntaxNode {
  readonly id: number;
  readonly type: string;
  readonly text: string;
  readonly startIndex: number;
  readonly endIndex: number;
  readonly hasError: boolean;
  readonly isError: boolean;
  readonly isMissing: boolean;
  readonly children: readonly SyntaxNode[];
  readonly namedChildren: readonly SyntaxNode[];
  readonly firstNamedChild: SyntaxNode | null;
  readonly parent: SyntaxNode | null;
  childForFieldName(name: string): SyntaxNode | null;
  childrenForFieldName(name: string): readonly SyntaxNode[];
  descendantsOfType(types: string | string[]): readonly SyntaxNode[];
  walk(): SyntaxCursor;
}

/** A cursor in a tree, which costs less than a node for each. */
export interface SyntaxCursor {
  readonly currentNode: SyntaxNode;
  readonly currentFieldName: string | null;
  readonly nodeType: string;
  /** The same for all nodes of a type that are named, or are not. */
  readonly nodeTypeId: number;
  readonly nodeIsNamed: boolean;
  readonly startIndex: number;
  readonly endIndex: number;
  gotoFirstChild(): boolean;
  gotoNextSibling(): boolean;
  gotoParent(): boolean;
  delete(): void;
}

export interface SyntaxTree {
  readonly rootNode: SyntaxNode;
  walk(): SyntaxCursor;
  /** Frees the tree's memory. */
  delete(): void;
}

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
 * @param comments Parsing long runs of comment lines takes long: they are kept only for callers that read them.
 * @throws AnalysisLimitError where parsing takes too long; Error if the grammar that ships with the package cannot be read.
 */
export async function parsePython(
  source: string,
  comments: 'thinned' | 'all' = 'thinned',
): Promise<SyntaxTree> {
  // A failed start is not cached: the next call tries again.
  parser ??= createParser().catch((thrown: unknown) => {
    parser = undefined;
    throw thrown;
  });
  // Python ends a line at a lone carriage return too, and the grammar does not: a comment would swallow what follows.
  const lines = source.replace(/\r(?!\n)/g, '\n');
  return lastTrees.of(await parser, comments === 'all' ? lines : withoutManyComments(lines));
}

/** Trees of longer texts are not cached, in UTF-16 code units: a tree takes many times the memory of its text. */
const MAX_CACHED_LENGTH = 65_536;

/** The script of a step and its correction: the next step often reads the same two. */
const MAX_CACHED = 2;

/** Trees of the last texts. Each caller gets a copy of its own to delete, which costs next to nothing. */
class LastTrees {
  /** The last one used comes last. */
  readonly #trees = new Map<string, Tree>();

  of(grammar: Parser, source: string): SyntaxTree {
    const tree = this.#trees.get(source) ?? parsed(grammar, source);
    if (source.length > MAX_CACHED_LENGTH) return tree;
    this.#trees.delete(source);
    this.#trees.set(source, tree);
    const [oldest] = this.#trees;
    if (this.#trees.size > MAX_CACHED && oldest !== undefined) {
      this.#trees.delete(oldest[0]);
      oldest[1].delete();
    }
    return tree.copy();
  }
}
const lastTrees = new LastTrees();

/**
 * Longest processor time of parsing, in milliseconds for each `TIMED_LENGTH` code units. A real script takes a tenth of it.
 * Some texts make the grammar's scanner read the same characters again and again, or its recovery from errors try every
 * way out.
 */
const MAX_PARSE_MS = 500;
const TIMED_LENGTH = 65_536;

function parsed(grammar: Parser, source: string): Tree {
  const limitMs = MAX_PARSE_MS * Math.max(1, source.length / TIMED_LENGTH);
  const isOver = threadDeadline(limitMs);
  const tree = grammar.parse(source, null, { progressCallback: isOver });
  if (tree !== null) return tree;
  // What was begun would otherwise be gone on with, by the next text.
  grammar.reset();
  throw new AnalysisLimitError(
    `the script could not be parsed within ${(limitMs / 1_000).toFixed(1)} s of processor time`,
  );
}
