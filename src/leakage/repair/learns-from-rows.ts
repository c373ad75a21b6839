import { FIT_METHODS, STATISTIC_METHODS } from '../library-models/methods.js';
import type { Call, FunctionDefinition, Module, Stmt } from '../syntax/ast.js';
import { calleeName, expressionsIn, ownExpressions, statementsIn } from '../syntax/walk.js';

/** Gives a value for each row that depends on other rows. */
const OF_ALL_ROWS = /^(groupby|rank|qcut|get_dummies|factorize|shift|rolling|diff|cumsum|sort_values|fit)$/;

/** Whether a statement, or a function that it calls, computes something over many rows. */
export function learnsFromRows(module: Module, statement: Stmt, seen = new Set<Stmt>()): boolean {
  for (const inner of statementsIn(statement)) {
    for (const own of ownExpressions(inner)) {
      for (const part of expressionsIn(own)) {
        if (part.type !== 'call') continue;
        const name = calleeName(part);
        const isMethod = part.callee.type === 'attribute';
        if (isMethod && FIT_METHODS.has(name)) return true;
        if (isMethod && (STATISTIC_METHODS.has(name) || OF_ALL_ROWS.test(name)) && !isWithinRow(part))
          return true;
        for (const called of functionsOf(module, name)) {
          if (seen.has(called)) continue;
          seen.add(called);
          if (called.body.statements.some((one) => learnsFromRows(module, one, seen))) return true;
        }
      }
    }
  }
  return false;
}

/** `frame.sum(axis=1)`, `signals.mean(-1)`: a number for each row. */
function isWithinRow({ args }: Call): boolean {
  return args.some(({ name, value }) => {
    if (name !== 'axis' && name !== undefined) return false;
    const negative = value.type === 'unary' && value.operator === '-' && value.operand.type === 'constant';
    return negative || (value.type === 'constant' && (value.value === 'columns' || Number(value.value) > 0));
  });
}

function functionsOf(module: Module, name: string): FunctionDefinition[] {
  return module.body.statements
    .flatMap((outer) => (outer.type === 'class' ? outer.body.statements : [outer]))
    .filter((one): one is FunctionDefinition => one.type === 'function' && one.name === name);
}
