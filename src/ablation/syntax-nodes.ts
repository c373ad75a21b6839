import type { SyntaxNode } from '../solution/python-syntax.js';

/** A node and all below it, in source order; without recursion, so that deep nesting cannot exhaust the stack. */
export function* nodesOf(root: SyntaxNode): Generator<SyntaxNode> {
  const cursor = root.walk();
  try {
    for (;;) {
      yield cursor.currentNode;
      if (cursor.gotoFirstChild()) continue;
      while (!cursor.gotoNextSibling()) if (!cursor.gotoParent()) return;
    }
  } finally {
    cursor.delete();
  }
}

/** Last part of the name that a call node calls: `fit` of `model.fit(…)`. */
export function calledName(call: SyntaxNode): string {
  const text = call.childForFieldName('function')?.text ?? '';
  return text.slice(text.lastIndexOf('.') + 1);
}
