import type { Call, Expr, Name, Stmt } from '../../syntax/ast.js';
import { rootName, statementsIn } from '../../syntax/walk.js';

/** The object whose method is called, or the model that a function is given. */
export function modelOf(call: Call | undefined): Expr | undefined {
  if (call === undefined) return undefined;
  const { callee, args } = call;
  const isMethod =
    callee.type === 'attribute' &&
    !(callee.object.type === 'name' && /^(np|pd|metrics)$/.test(callee.object.id));
  return isMethod ? callee.object : args.find(({ value }) => value.type === 'name')?.value;
}

export function lastWord({ callee }: Call): string {
  return callee.type === 'attribute' ? callee.name : callee.type === 'name' ? callee.id : '';
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
export function holderOf(statement: Stmt, id: string): string | undefined {
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
  if (!/^(max|min)$/.test(lastWord(call)) || call.args.length !== 2) return undefined;
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
