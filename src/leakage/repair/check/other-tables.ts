import type { Leak } from '../../findings/find-leaks.js';
import type { Call, Expr, Module, Span, Stmt } from '../../syntax/ast.js';
import { calleeName, expressionsIn, namesInExpression, ownExpressions } from '../../syntax/walk.js';
import type { Region } from '../../values/region.js';
import type { RepairContext } from '../context.js';
import { type HoldsRows, mentionsRows, summarizedArguments } from '../helper-calls.js';
import { plainText, statementsInBlock, type Version } from './script-change.js';

/**
 * Tables that a computation takes besides the one that is divided: `vec.fit(list(train["text"]) + list(test["text"]))`, where
 * the split divides `train`. A rewrite that takes a part of `train` would leave `test` in the fit.
 */
export function tablesBesides({ leaks, watched, module }: RepairContext): ReadonlySet<string> {
  const besides = new Set<string>();
  for (const leak of leaks) {
    // What the computation itself gives is divided later, and holds the rows that it was computed over.
    const made = leak.statement.type === 'assign' ? leak.statement.targets.flatMap(namesOf) : [];
    const divided = new Set(
      namesOf(leak.split?.node).flatMap((name) =>
        sourcesOf(watched.get(name) ?? (made.includes(name) ? leak.rows : [])),
      ),
    );
    for (const node of computationsOf(leak)) {
      const tables = learnedFrom(module, node, mentionsRows(watched)).filter(
        (name) => (watched.get(name)?.length ?? 0) > 0,
      );
      const others = tables.filter((name) => sourcesOf(watched.get(name)).every((one) => !divided.has(one)));
      // Without a divided table beside it, the other one is a table that goes the same way.
      if (divided.size > 0 && others.length < tables.length) for (const name of others) besides.add(name);
    }
  }
  return besides;
}

/** Why a rewritten block may not stay: a computation of its leaks still takes one of the tables. */
export function learnsBesides(
  { leaks, watched, module: before, block: whole }: RepairContext,
  tables: ReadonlySet<string>,
  module: Module,
  block: Span,
): string | undefined {
  const stays = staysInPlace({ module: before, block: whole }, { module, block });
  const learning = new Set([...leaks.flatMap(computationsOf).map(calleeName), 'fit']);
  for (const statement of statementsInBlock({ module, block })) {
    if (stays.has(statement)) continue;
    for (const expression of ownExpressions(statement).flatMap((own) => [...expressionsIn(own)])) {
      if (expression.type !== 'call' || !learning.has(calleeName(expression))) continue;
      const table = learnedFrom(module, expression, mentionsRows(watched)).find((name) => tables.has(name));
      if (table !== undefined)
        return `it would still learn from \`${table}\`, which the split does not divide`;
    }
  }
  return undefined;
}

/** Statements that are as they were, after the same ones as before: folds do not read what they give. */
function staysInPlace(before: Version, after: Version): ReadonlySet<Stmt> {
  const known = [...statementsInBlock(before)].map((statement) => plainText(before.module, statement));
  const stays = new Set<Stmt>();
  const seen = new Set(known);
  let at = 0;
  for (const statement of statementsInBlock(after)) {
    const text = plainText(after.module, statement);
    if (!seen.has(text)) continue;
    if (text !== known[at]) break;
    stays.add(statement);
    at += 1;
  }
  return stays;
}

function computationsOf({ node, nodes }: Leak): Call[] {
  return [...new Set([node, ...nodes])].filter((computation) => computation.type === 'call');
}

/** The names in a computation; of a helper that takes statistics of one of its tables, those in this one. */
function learnedFrom(module: Module, call: Call, holdsRows: HoldsRows): string[] {
  const summarized = summarizedArguments(module, call, holdsRows);
  return summarized.length > 0 ? summarized.flatMap(namesOf) : namesOf(call);
}

function namesOf(expression: Expr | undefined): string[] {
  return expression === undefined ? [] : [...namesInExpression(expression)].map(({ id }) => id);
}

/** The tables from which rows come; features and labels of two files are one. */
function sourcesOf(rows: readonly Region[] = []): Region[] {
  return rows.flatMap((region) => {
    let source = region;
    while (source.parent !== undefined) source = source.parent;
    return source.beside === undefined ? [source] : [source, source.beside];
  });
}
