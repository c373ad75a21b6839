import type { Comprehension, Expr, Lambda, Module, Span, Stmt } from '../../syntax/ast.js';
import { calleeName, expressionsIn } from '../../syntax/walk.js';
import { boundIn, expressionsInSuite, namesInSuite, statementsOfSuite } from './scopes.js';

/** What calls the function that it gets before it returns. */
const CALLS_AT_ONCE =
  /^(apply|map|applymap|transform|agg|aggregate|assign|pipe|sort|sort_values|sorted|min|max|rename)$/;
/** What goes through a generator before it returns. */
const TAKES_AT_ONCE = /^(sum|any|all|min|max|list|tuple|set|frozenset|dict|sorted|join|extend|update)$/;

type Late = Lambda | Comprehension;

function isLate(part: Expr): part is Late {
  return part.type === 'lambda' || (part.type === 'comprehension' && part.form === 'generator');
}

function ownNames(part: Late): ReadonlySet<string> {
  if (part.type === 'lambda') return new Set(part.params.map(({ name }) => name));
  const targets = part.clauses.flatMap(({ target }) => [...expressionsIn(target)]);
  return new Set(targets.flatMap((inner) => (inner.type === 'name' ? [inner.id] : [])));
}

function freeNames(part: Late): string[] {
  const own = ownNames(part);
  return [...expressionsIn(part)].flatMap((inner) =>
    inner.type === 'name' && !own.has(inner.id) ? [inner.id] : [],
  );
}

/** Names that functions, lambdas and generators in some statements read, and all names that a script declares as global. */
export function readElsewhere(
  module: Module,
  statements: readonly Stmt[],
  except: Stmt,
): ReadonlySet<string> {
  const read = new Set(globalNames(module));
  for (const part of expressionsInSuite(statements))
    if (isLate(part)) for (const name of freeNames(part)) read.add(name);
  for (const other of statementsOfSuite(statements)) {
    if (other.type !== 'function' || other === except) continue;
    const bound = boundIn(other.body.statements);
    for (const { name } of other.params) bound.add(name);
    for (const { id } of namesInSuite(other.body.statements)) if (!bound.has(id)) read.add(id);
  }
  return read;
}

/** Names that a lambda or a generator may read when the lines around it are over. */
export function readLater(body: readonly Stmt[]): ReadonlySet<string> {
  const parts = expressionsInSuite(body);
  const atOnce = new Set<Expr>();
  for (const part of parts) {
    if (part.type !== 'call') continue;
    const name = calleeName(part);
    const isLazyBuiltin = part.callee.type === 'name' && name === 'map';
    for (const { value } of part.args) {
      const isAtOnce = value.type === 'lambda' ? CALLS_AT_ONCE.test(name) : TAKES_AT_ONCE.test(name);
      if (isAtOnce && !isLazyBuiltin) atOnce.add(value);
    }
  }
  return new Set(parts.filter(isLate).flatMap((part) => (atOnce.has(part) ? [] : freeNames(part))));
}

export function globalNames({ body }: Module): string[] {
  return [...statementsOfSuite(body.statements)].flatMap((one) => (one.type === 'global' ? one.names : []));
}

/** Names of some statements that are no variables of a lambda or comprehension around them. */
export function namesOutsideInner(statements: readonly Stmt[]): string[] {
  const inner: (Span & { readonly names: ReadonlySet<string> })[] = [];
  for (const part of expressionsInSuite(statements)) {
    if (part.type !== 'lambda' && part.type !== 'comprehension') continue;
    inner.push({ start: part.start, end: part.end, names: ownNames(part) });
  }
  return namesInSuite(statements).flatMap(({ id, start, end }) =>
    inner.some((one) => one.names.has(id) && one.start <= start && end <= one.end) ? [] : [id],
  );
}
