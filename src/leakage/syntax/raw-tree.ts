import type { SyntaxTree } from '../../solution/python-syntax.js';

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

/** Copies the whole tree, without recursion and without comments. */
export function copyTree(tree: SyntaxTree): { root: RawNode; size: number } {
  const cursor = tree.walk();
  let size = 0;
  const read = (): RawNode => {
    size += 1;
    return {
      type: cursor.nodeType,
      field: cursor.currentFieldName,
      named: cursor.nodeIsNamed,
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
    open.push(node);
    if (cursor.gotoFirstChild()) continue;
    open.pop();
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
