import type { Expr, Stmt } from '../../syntax/ast.js';
import {
  expressionsIn,
  namesIn,
  namesInExpression,
  ownExpressions,
  rootName,
  statementsIn,
} from '../../syntax/walk.js';

const PUTS_IN = /^(append|extend|insert|update|add|setdefault)$/;

/**
 * Variables and functions that may hold something of the scored rows after these statements, beginning with the parts
 * that hold them: what is assigned from them, put into lists of them, or reads them.
 */
export function heldNames(statements: readonly Stmt[], parts: readonly string[]): ReadonlySet<string> {
  const held = new Set(parts);
  const mentions = (expression: Expr): boolean =>
    [...namesInExpression(expression)].some(({ id }) => held.has(id));
  const hold = (target: Expr): void => {
    const items = target.type === 'sequence' ? target.items : [target];
    for (const item of items) {
      const root = rootName(item);
      if (root !== undefined) held.add(root);
    }
  };
  let size = -1;
  // Loops hand on to earlier lines what later ones made.
  while (size !== held.size) {
    size = held.size;
    for (const outer of statements) {
      if (outer.type === 'function' || outer.type === 'class') {
        if ([...namesIn(outer)].some(({ id }) => held.has(id))) held.add(outer.name);
        continue;
      }
      for (const inner of statementsIn(outer)) {
        if (inner.type === 'assign' && mentions(inner.value))
          for (const target of inner.targets) hold(target);
        if (inner.type === 'augmented' && mentions(inner.value)) hold(inner.target);
        if (inner.type === 'for' && mentions(inner.iterable)) hold(inner.target);
        for (const own of ownExpressions(inner)) {
          for (const part of expressionsIn(own)) {
            if (part.type !== 'call' || part.callee.type !== 'attribute') continue;
            const puts = PUTS_IN.test(part.callee.name) && part.args.some(({ value }) => mentions(value));
            if (puts) hold(part.callee.object);
          }
        }
      }
    }
  }
  return held;
}
