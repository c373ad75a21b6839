import type { Call, Expr, Name, Stmt } from '../../syntax/ast.js';
import {
  calleeName,
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
export function affectedNames(statements: readonly Stmt[], parts: readonly string[]): ReadonlySet<string> {
  const affected = new Set(parts);
  const mentions = (expression: Expr): boolean =>
    [...namesInExpression(expression)].some(({ id }) => affected.has(id));
  const holdEach = (target: Expr, value: Expr): void => {
    if (
      target.type !== 'sequence' ||
      value.type !== 'sequence' ||
      target.items.length !== value.items.length
    ) {
      if (mentions(value)) hold(target);
      return;
    }
    target.items.forEach((item, at) => {
      const part = value.items[at];
      if (part !== undefined && mentions(part)) hold(item);
    });
  };
  const hold = (target: Expr): void => {
    const items = target.type === 'sequence' ? target.items : [target];
    for (const item of items) {
      const root = rootName(item);
      if (root !== undefined) affected.add(root);
    }
  };
  let size = -1;
  // Loops hand on to earlier lines what later ones made.
  while (size !== affected.size) {
    size = affected.size;
    for (const outer of statements) {
      if (outer.type === 'function' || outer.type === 'class') {
        if ([...namesIn(outer)].some(({ id }) => affected.has(id))) affected.add(outer.name);
        continue;
      }
      for (const inner of statementsIn(outer)) {
        if (inner.type === 'assign') for (const target of inner.targets) holdEach(target, inner.value);
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
  return affected;
}

/** The object whose method is called, or the model that is passed to a function. */
export function modelOf(call: Call | undefined): Expr | undefined {
  if (call === undefined) return undefined;
  const { callee, args } = call;
  const isMethod =
    callee.type === 'attribute' &&
    !(callee.object.type === 'name' && /^(np|pd|metrics)$/.test(callee.object.id));
  return isMethod ? callee.object : args.find(({ value }) => value.type === 'name')?.value;
}

export function assignedNames(statement: Stmt): string[] {
  return [...statementsIn(statement)].flatMap((inner) =>
    inner.type === 'assign'
      ? inner.targets
          .flatMap((target) => (target.type === 'sequence' ? target.items : [target]))
          .flatMap((target) => (rootName(target) === undefined ? [] : [rootName(target) ?? '']))
      : [],
  );
}

/** What a statement assigns, fills, or goes through in a loop. */
export function changedNames(statement: Stmt): string[] {
  return [...statementsIn(statement)].flatMap((inner) => {
    if (inner.type === 'for') return [...namesInExpression(inner.target)].map(({ id }) => id);
    if (inner.type === 'assign') return assignedNames(inner);
    const call = inner.type === 'expression' && inner.value.type === 'call' ? inner.value : undefined;
    const name =
      call?.callee.type === 'attribute' && PUTS_IN.test(call.callee.name) ? rootName(call.callee) : undefined;
    return name === undefined ? [] : [name];
  });
}

/** `print(…)`, `logger.info(…)`, a plot: nothing that a score depends on. */
export function isShown(statement: Stmt): boolean {
  if (statement.type !== 'expression' || statement.value.type !== 'call') return false;
  const root = rootName(statement.value.callee);
  return /^(print|display|plt|sns|log|logger|logging)$/.test(root ?? '');
}

/** `if …: continue`: candidates that are left out. */
export function isSkip(statement: Stmt): boolean {
  if (statement.type !== 'if' || statement.branches.length !== 1) return false;
  const body = statement.branches[0]?.body.statements ?? [];
  return body.every((inner) => inner.type === 'jump' && inner.keyword === 'continue');
}

/** The variable that a statement gives the value of another one. */
export function copyOf(statement: Stmt, id: string): string | undefined {
  if (statement.type !== 'assign') return undefined;
  const { value } = statement;
  for (const target of statement.targets) {
    if (target.type === 'name' && isNamed(value, id)) return target.id;
    if (target.type !== 'sequence' || value.type !== 'sequence') continue;
    const item = target.items[value.items.findIndex((one) => isNamed(one, id))];
    if (item?.type === 'name') return item.id;
  }
  return undefined;
}

function isNamed(value: Expr, id: string): value is Name {
  return value.type === 'name' && value.id === id;
}

/** `max(scores, key=scores.get)`, `min(scores, key=lambda k: scores[k])`: the variable of the scores. */
export function bestKeyOf(call: Call): string | undefined {
  if (!/^(max|min)$/.test(calleeName(call)) || call.args.length !== 2) return undefined;
  const [scores, key] = call.args;
  const name = scores?.value.type === 'name' ? scores.value.id : undefined;
  if (name === undefined || key?.name !== 'key') return undefined;
  const { value } = key;
  if (value.type === 'attribute' && value.name === 'get' && isNamed(value.object, name)) return name;
  const isLookUp =
    value.type === 'lambda' && value.body.type === 'subscript' && isNamed(value.body.object, name);
  return isLookUp ? name : undefined;
}

/** `models.items()`: the variable of the models. */
export function itemsOf(iterable: Expr): string | undefined {
  if (iterable.type !== 'call' || iterable.callee.type !== 'attribute') return undefined;
  const { name, object } = iterable.callee;
  return name === 'items' && object.type === 'name' ? object.id : undefined;
}
