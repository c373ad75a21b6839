import type { SyntaxCursor, SyntaxTree } from '../../solution/python-syntax.js';

/** A syntax node copied out of the WebAssembly heap, so that walking it costs no boundary crossing. */
export interface RawNode {
  readonly type: string;
  /** Name of the field it fills in its parent. */
  readonly field: string | null;
  readonly named: boolean;
  readonly start: number;
  readonly end: number;
  readonly children: RawNode[];
}

/** What the grammar says of each of its types, by their ids: one call into the WebAssembly less for each node. */
const kinds = new Map<number, Pick<RawNode, 'type' | 'named'>>();

function kindAt(cursor: SyntaxCursor): Pick<RawNode, 'type' | 'named'> {
  const id = cursor.nodeTypeId;
  const known = kinds.get(id);
  if (known !== undefined) return known;
  const kind = { type: cursor.nodeType, named: cursor.nodeIsNamed };
  kinds.set(id, kind);
  return kind;
}

/** Tokens that have a name of their own; those without one are tokens as well. */
const NAMED_TOKENS: ReadonlySet<string> = new Set(['identifier', 'integer', 'float', 'comment']);

/** Whether a node may have children: to ask the cursor takes two calls into the WebAssembly, and most nodes are tokens. */
function mayHaveChildren({ type, named }: RawNode): boolean {
  return named && !NAMED_TOKENS.has(type);
}

/** Copies the whole tree, without recursion and without comments. */
export function copyTree(tree: SyntaxTree): { root: RawNode; size: number } {
  const cursor = tree.walk();
  let size = 0;
  const read = (): RawNode => {
    size += 1;
    const { type, named } = kindAt(cursor);
    return {
      type,
      field: cursor.currentFieldName,
      named,
      start: cursor.startIndex,
      end: cursor.endIndex,
      children: [],
    };
  };
  const root = read();
  const open: RawNode[] = [root];
  let descend = cursor.gotoFirstChild();
  while (open.length > 0) {
    if (!descend) {
      open.pop();
      if (open.length === 0) break;
      cursor.gotoParent();
      descend = cursor.gotoNextSibling();
      continue;
    }
    const node = read();
    const parent = open.at(-1);
    if (parent !== undefined && node.type !== 'comment') parent.children.push(node);
    if (mayHaveChildren(node) && cursor.gotoFirstChild()) {
      open.push(node);
      continue;
    }
    descend = cursor.gotoNextSibling();
  }
  cursor.delete();
  return { root, size };
}

export function fieldOf(node: RawNode, field: string): RawNode | undefined {
  return node.children.find((child) => child.field === field);
}

export function fieldsOf(node: RawNode, field: string): RawNode[] {
  return node.children.filter((child) => child.field === field && child.named);
}

export function namedChildren(node: RawNode): RawNode[] {
  return node.children.filter((child) => child.named);
}
