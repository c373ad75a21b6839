import type { FunctionDefinition, Module, Stmt } from '../../syntax/ast.js';
import { boundIn } from './scopes.js';

/** The statements around a statement, up to the function that it is in. */
function* around(statement: Stmt): Generator<Stmt> {
  let owner = statement.suite.owner;
  while (owner !== undefined && owner.type !== 'function') {
    yield owner;
    owner = owner.suite.owner;
  }
}

/** Whether a statement may run again with the variables of the last time. */
export function isInLoop(statement: Stmt): boolean {
  return [...around(statement)].some(({ type }) => type === 'for' || type === 'while');
}

/** Whether the script may go on after a statement that fails: with the values that its variables had before. */
export function isGuarded(statement: Stmt): boolean {
  return [...around(statement)].some(({ type }) => type === 'try' || type === 'with');
}

/** Names that the functions around a function bind, which lines in it see. */
export function boundAround(owner: FunctionDefinition | undefined): ReadonlySet<string> {
  const bound = new Set<string>();
  for (let outer = owner?.suite.owner; outer !== undefined; outer = outer.suite.owner) {
    if (outer.type !== 'function') continue;
    for (const name of boundIn(outer.body.statements)) bound.add(name);
    for (const { name } of outer.params) bound.add(name);
  }
  return bound;
}

/** Whether a name of a script gets its value once, by a line before a function that is no part of another statement. */
export function isSetOnce({ body }: Module, name: string, before: FunctionDefinition): boolean {
  const [only, ...others] = body.statements.filter((statement) => boundIn([statement]).has(name));
  return (
    only !== undefined &&
    others.length === 0 &&
    /^(assign|import)$/.test(only.type) &&
    only.end <= before.start
  );
}
