import type { Expr, Module, Stmt } from '../syntax/ast.js';
import { expressionsIn, ownExpressions, statementsIn } from '../syntax/walk.js';
import { countText } from '../values/work.js';
import type { Difference } from './compare-tables.js';

/** What a statement does itself, without the suites in it, as a text; and the numbers and texts in it. */
interface Part {
  readonly text: string;
  readonly constants: readonly string[];
}

function partsOf({ body, source }: Module): Part[] {
  const statements: Stmt[] = body.statements.flatMap((statement) => [...statementsIn(statement)]);
  return statements.map((statement) => {
    const defaults =
      statement.type === 'function'
        ? statement.params.flatMap(({ fallback }) => (fallback === undefined ? [] : [fallback]))
        : [];
    const own = [...ownExpressions(statement), ...defaults];
    const text = own.map(({ start, end }) => {
      countText(end - start);
      return source.slice(start, end).replaceAll(/\s+/g, '').replaceAll("'", '"');
    });
    return { text: text.join(';'), constants: own.flatMap(constantsIn) };
  });
}

function constantsIn(expression: Expr): string[] {
  return [...expressionsIn(expression)].flatMap((part) => {
    const value = part.type === 'constant' ? part.value : undefined;
    return typeof value === 'number' || typeof value === 'string' ? [JSON.stringify(value)] : [];
  });
}

/** The parts of one script that the other does not have, or not as often. */
function without(parts: readonly Part[], others: readonly Part[]): Part[] {
  const left = new Map<string, number>();
  for (const { text } of others) left.set(text, (left.get(text) ?? 0) + 1);
  return parts.filter(({ text }) => {
    const count = left.get(text) ?? 0;
    left.set(text, count - 1);
    return count <= 0;
  });
}

/**
 * Numbers and texts of statements that were changed or left out, and that no new statement has. What such a statement did may not
 * have been followed: a limit, a size or the name of a column is no part of a leak.
 */
export function lostConstants(was: Module, is: Module): Difference[] {
  const [before, after] = [partsOf(was), partsOf(is)];
  const added = new Map<string, number>();
  for (const { constants } of without(after, before))
    for (const constant of constants) added.set(constant, (added.get(constant) ?? 0) + 1);
  const lost = without(before, after)
    .flatMap(({ constants }) => constants)
    .filter((constant) => {
      const count = added.get(constant) ?? 0;
      // One list of names may stand for several statements; a number that moved is another one.
      if (!constant.startsWith('"')) added.set(constant, count - 1);
      return count <= 0;
    });
  return [...new Set(lost)].map((constant) => ({
    what: `\`${constant.slice(0, 40)}\` is gone from a statement`,
    isCertain: false,
  }));
}
