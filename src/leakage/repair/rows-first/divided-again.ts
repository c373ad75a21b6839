import type { Call, Expr, Module, Stmt } from '../../syntax/ast.js';
import { calleeName, expressionsIn, ownExpressions, rootName, statementsIn } from '../../syntax/walk.js';

const DIVIDES = /^(train_test_split|cross_val_score|cross_validate|cross_val_predict)$/;

/**
 * Another division of the tables of a split: what is learned on the training part of one has seen scored rows of the other. The
 * same division of them, made again, is none.
 */
export function dividedAgain(module: Module, split: Stmt, call: Call): Stmt | undefined {
  const tables = new Set(dividedTables(call));
  for (const statement of module.body.statements.flatMap((outer) => [...statementsIn(outer)])) {
    if (statement === split) continue;
    for (const own of ownExpressions(statement)) {
      for (const part of expressionsIn(own)) {
        if (part.type !== 'call' || !DIVIDES.test(calleeName(part))) continue;
        if (!dividedTables(part).some((table) => tables.has(table))) continue;
        if (isReplaced(module, split, call, statement)) continue;
        if (calleeName(part) !== calleeName(call) || optionsOf(module, part) !== optionsOf(module, call))
          return statement;
      }
    }
  }
  return undefined;
}

/** Variables of the tables that a call divides; the first argument of a cross-validation is the model. */
function dividedTables(call: Call): string[] {
  const isSplit = calleeName(call) === 'train_test_split';
  const tables = call.args.filter(
    (argument, at) =>
      (argument.name === undefined && argument.star === '' && (isSplit || at > 0)) ||
      /^[Xy]$/.test(argument.name ?? ''),
  );
  return tables.flatMap(({ value }) => rootName(value) ?? []);
}

/** Whether a table is no longer what was split: its name is that of a part of it, or to what another function made. */
function isReplaced(module: Module, split: Stmt, call: Call, later: Stmt): boolean {
  const tables = new Set(dividedTables(call));
  const isTable = (target: Expr): boolean => target.type === 'name' && tables.has(target.id);
  return module.body.statements
    .flatMap((outer) => [...statementsIn(outer)])
    .some((statement) => {
      if (statement.type !== 'assign' || statement.start < split.start || statement.end > later.start)
        return false;
      const targets = statement.targets.flatMap((one) => (one.type === 'sequence' ? one.items : [one]));
      if (!targets.some(isTable)) return false;
      return statement === split || ![...expressionsIn(statement.value)].some(isTable);
    });
}

function optionsOf({ source }: Module, call: Call): string {
  return call.args
    .filter(({ name }) => name !== undefined)
    .map(({ name, value }) => `${name}=${source.slice(value.start, value.end)}`.replaceAll(/\s+/g, ''))
    .sort()
    .join(',');
}
