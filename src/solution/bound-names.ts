import type { Span } from './fit-correction.js';
import { parsePython, type SyntaxCursor, type SyntaxTree } from './python-syntax.js';

/** Kinds of nodes whose child, by this field, holds the names that they bind. */
const BINDING_FIELDS: Readonly<Record<string, string>> = {
  assignment: 'left',
  augmented_assignment: 'left',
  for_statement: 'left',
  named_expression: 'name',
  function_definition: 'name',
  class_definition: 'name',
  aliased_import: 'alias',
  as_pattern: 'alias',
};
const IMPORTS: ReadonlySet<string> = new Set(['import_statement', 'import_from_statement']);
/** Inside these, names are bound for themselves alone. */
const SCOPES: ReadonlySet<string> = new Set(['function_definition', 'class_definition', 'lambda']);

/** What the names below a node are. */
interface Position {
  /** They are bound. */
  readonly target: boolean;
  /** Names of a scope of their own, except for its own name. */
  readonly scope: boolean;
}

/** Visits all named nodes without recursion: nesting may be as deep as the text is long. */
function visitNamed<State>(
  tree: SyntaxTree,
  first: State,
  visit: (cursor: SyntaxCursor, parent: string, state: State) => State | undefined,
): void {
  const cursor = tree.walk();
  const open: { readonly type: string; readonly state: State }[] = [{ type: cursor.nodeType, state: first }];
  let goesDown = cursor.gotoFirstChild();
  while (goesDown) {
    const parent = open.at(-1);
    if (parent === undefined) break;
    const state = cursor.nodeIsNamed ? visit(cursor, parent.type, parent.state) : undefined;
    const type = cursor.nodeType;
    if (state !== undefined && cursor.gotoFirstChild()) {
      open.push({ type, state });
      continue;
    }
    while (!cursor.gotoNextSibling()) {
      goesDown = cursor.gotoParent();
      open.pop();
      if (open.length === 0 || !goesDown) break;
    }
    goesDown = open.length > 0;
  }
  cursor.delete();
}

/** Reads names in the tree of a piece of code. */
async function namesIn<Names>(code: string, read: (tree: SyntaxTree, text: string) => Names): Promise<Names> {
  const text = dedented(code);
  const tree = await parsePython(text);
  try {
    return read(tree, text);
  } finally {
    tree.delete();
  }
}

/** Names that a piece of code binds for the code after it. */
function boundNames(tree: SyntaxTree, text: string): Set<string> {
  const bound = new Set<string>();
  const nameAt = ({ startIndex, endIndex }: SyntaxCursor) => text.slice(startIndex, endIndex);
  visitNamed<Position>(tree, { target: false, scope: false }, (cursor, parent, { target, scope }) => {
    const { nodeType, currentFieldName } = cursor;
    const isNamed = currentFieldName !== null && BINDING_FIELDS[parent] === currentFieldName;
    if (scope) {
      if (currentFieldName === 'name') bound.add(nameAt(cursor));
      return undefined;
    }
    if (IMPORTS.has(parent) && currentFieldName === 'name' && nodeType !== 'aliased_import') {
      const name = nameAt(cursor);
      bound.add(name.split('.')[0] ?? name);
    }
    const isTarget = target || isNamed;
    if (isTarget && nodeType === 'identifier') bound.add(nameAt(cursor));
    // `x.y = …` and `x[…] = …` bind no name.
    const within = isTarget && nodeType !== 'attribute' && nodeType !== 'subscript';
    return { target: within, scope: SCOPES.has(nodeType) };
  });
  return bound;
}

/** Names that a piece of code uses, whatever for; attributes and keywords of calls are not names. */
function usedNames(tree: SyntaxTree, text: string): Set<string> {
  const used = new Set<string>();
  visitNamed(tree, true, (cursor, parent) => {
    const { nodeType, currentFieldName, startIndex, endIndex } = cursor;
    const isLabel =
      (parent === 'attribute' && currentFieldName === 'attribute') ||
      (parent === 'keyword_argument' && currentFieldName === 'name');
    if (nodeType === 'identifier' && !isLabel) used.add(text.slice(startIndex, endIndex));
    return true;
  });
  return used;
}

/** Names that only the block defined, that later code uses, and that the correction does not define. */
export async function lostNames(
  located: Span & { readonly text: string },
  block: string,
  content: string,
): Promise<string[]> {
  const defined = await namesIn(located.text, boundNames);
  const remaining = await namesIn(block, boundNames);
  const gone = [...defined].filter((name) => !remaining.has(name));
  // Most corrections bind what their block bound: the rest of the script is not parsed then.
  if (gone.length === 0) return [];
  const before = await namesIn(content.slice(0, located.start), boundNames);
  const { later, used } = await namesIn(content.slice(located.end), (tree, text) => ({
    later: boundNames(tree, text),
    used: usedNames(tree, text),
  }));
  return gone.filter((name) => used.has(name) && !before.has(name) && !later.has(name));
}

/** Statements that do nothing: a correction of nothing else removes the block in disguise. */
const NOTHING: ReadonlySet<string> = new Set([
  ...[
    'comment',
    'pass_statement',
    'identifier',
    'none',
    'true',
    'false',
    'string',
    'integer',
    'float',
    'ellipsis',
  ],
]);

/** Whether a piece of code has a statement that does something. */
export async function doesSomething(code: string): Promise<boolean> {
  const tree = await parsePython(dedented(code));
  const statements = tree.rootNode.namedChildren.filter((node) => node !== null);
  const working = statements.some((node) => {
    const inner = node.type === 'expression_statement' ? node.namedChildren[0] : node;
    return inner !== null && inner !== undefined && !NOTHING.has(inner.type);
  });
  tree.delete();
  return working;
}

/** The code as it would be at the left margin, so that a piece of an indented suite parses by itself. */
function dedented(code: string): string {
  const lines = code.split('\n');
  const indents = lines
    .filter((line) => line.trim() !== '')
    .map((line) => /^[ \t]*/.exec(line)?.[0].length ?? 0);
  // A block that was taken from the middle of its first line has lost that line's indentation.
  const others = indents.length > 1 && indents[0] === 0 ? indents.slice(1) : indents;
  // Not `Math.min(...others)`: a script may have more lines than a call can have arguments.
  const common = others.reduce((least, indent) => Math.min(least, indent), Infinity);
  if (!Number.isFinite(common) || common === 0) return code;
  return lines.map((line, index) => (index === 0 && indents[0] === 0 ? line : line.slice(common))).join('\n');
}
