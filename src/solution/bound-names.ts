import type { Span } from './fit-correction.js';
import { parsePython, type SyntaxNode } from './python-syntax.js';

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

function namesIn(target: SyntaxNode): string[] {
  if (target.type === 'identifier') return [target.text];
  // `x.y = …` and `x[…] = …` bind no name.
  if (target.type === 'attribute' || target.type === 'subscript') return [];
  return target.namedChildren.flatMap((child) => (child === null ? [] : namesIn(child)));
}

function importedNames(statement: SyntaxNode): string[] {
  return statement.childrenForFieldName('name').flatMap((name) => {
    if (name === null || name.type === 'aliased_import') return [];
    return [name.text.split('.')[0] ?? name.text];
  });
}

function collect(node: SyntaxNode, bound: Set<string>): void {
  const field = BINDING_FIELDS[node.type];
  const target = field === undefined ? null : node.childForFieldName(field);
  if (target !== null) for (const name of namesIn(target)) bound.add(name);
  if (IMPORTS.has(node.type)) for (const name of importedNames(node)) bound.add(name);
  for (const child of node.namedChildren) {
    if (child === null) continue;
    if (SCOPES.has(child.type)) {
      const name = child.childForFieldName('name');
      if (name !== null) bound.add(name.text);
    } else collect(child, bound);
  }
}

/** Names that a piece of code binds for the code behind it. */
async function boundNames(code: string): Promise<Set<string>> {
  const tree = await parsePython(dedented(code));
  const bound = new Set<string>();
  collect(tree.rootNode, bound);
  tree.delete();
  return bound;
}

/** Names that a piece of code uses, whatever for; attributes and keywords of calls are not names. */
async function usedNames(code: string): Promise<Set<string>> {
  const tree = await parsePython(dedented(code));
  const used = new Set<string>();
  const visit = (node: SyntaxNode) => {
    if (node.type === 'identifier' && !isLabel(node)) used.add(node.text);
    for (const child of node.namedChildren) if (child !== null) visit(child);
  };
  visit(tree.rootNode);
  tree.delete();
  return used;
}

function isLabel(node: SyntaxNode): boolean {
  const { parent } = node;
  if (parent === null) return false;
  if (parent.type === 'attribute') return parent.childForFieldName('attribute')?.id === node.id;
  return parent.type === 'keyword_argument' && parent.childForFieldName('name')?.id === node.id;
}

/** Names that only the block defined, that later code uses, and that the correction does not define. */
export async function lostNames(
  located: Span & { readonly text: string },
  block: string,
  content: string,
): Promise<string[]> {
  const after = content.slice(located.end);
  const [defined, kept, before, later, used] = await Promise.all([
    boundNames(located.text),
    boundNames(block),
    boundNames(content.slice(0, located.start)),
    boundNames(after),
    usedNames(after),
  ]);
  return [...defined].filter(
    (name) => used.has(name) && !kept.has(name) && !before.has(name) && !later.has(name),
  );
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

/** The code as it would stand at the left margin, so that a piece of an indented suite parses by itself. */
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
