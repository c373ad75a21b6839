import type { Expr, Module, Stmt } from '../../syntax/ast.js';
import {
  calleeName,
  expressionsIn,
  functionAround,
  ownExpressions,
  partsOf,
  rootName,
  statementsIn,
} from '../../syntax/walk.js';
import { OrderedEffects } from '../order/ordered-effects.js';
import { lastAssigned } from '../rows-first/table-kind.js';
import { plainText, type ScriptChange, textOf } from './script-change.js';

/** What a library keeps of the scores on the rows that a training watched. */
const RECORDS = /^(best_score_?|evals_result_?|get_evals_result|get_best_score)$/;
const SEARCHES = /(Search|CV|create_study)\(/;
/** A position in a record, or its length: no score. */
const COUNTS = /^(argmin|argmax|idxmin|idxmax|len|range|index)$/;

/** Variables that hold recorded scores, and those that hold the whole history of a Keras training. */
interface Recorded {
  readonly scores: Set<string>;
  readonly histories: Set<string>;
}

/**
 * Whether a script reads the score that the training recorded on the watched rows, as `model.best_score_` or
 * `history.history["val_auc"]`: a training that stops on other rows would give another score under the same words.
 * Curves that are only drawn do not count.
 */
export function recordedScoreRead({ leaks, before: { module } }: ScriptChange): string | undefined {
  const leak = leaks.find(({ kind }) => kind === 'early-stopping');
  if (leak === undefined) return undefined;
  const effects = new OrderedEffects(module);
  const recorded: Recorded = { scores: new Set(), histories: new Set() };
  for (const statement of module.body.statements.flatMap((outer) => [...statementsIn(outer)])) {
    const found = ownReads(statement)
      .map((own) => recordIn(module, own, recorded))
      .find((one) => one !== undefined);
    note(statement, found !== undefined, recorded);
    const isLater = statement.start >= leak.statement.end || functionAround(statement) !== undefined;
    const isAssigned = statement.type === 'assign' && statement.targets.every(({ type }) => type === 'name');
    if (found !== undefined && isLater && !isAssigned && !effects.draws(statement))
      return `\`${plainText(module, found)}\` is the score on the rows that the training watches, which would be other rows`;
  }
  return undefined;
}

/** What a statement reads: names that are assigned hold something else before. */
function ownReads(statement: Stmt): Expr[] {
  const stored: readonly Expr[] = statement.type === 'assign' ? statement.targets : [];
  return ownExpressions(statement).filter((own) => own.type !== 'name' || !stored.includes(own));
}

function recordIn(module: Module, expression: Expr, recorded: Recorded): Expr | undefined {
  if (expression.type === 'call' && COUNTS.test(calleeName(expression))) return undefined;
  if (isRecord(module, expression, recorded)) return expression;
  for (const part of partsOf(expression)) {
    const found = recordIn(module, part, recorded);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isRecord(module: Module, expression: Expr, { scores, histories }: Recorded): boolean {
  if (expression.type === 'name') return scores.has(expression.id);
  if (expression.type === 'attribute' && RECORDS.test(expression.name)) {
    const { object } = expression;
    if (object.type !== 'name') return true;
    const made = lastAssigned(module, object.id, 0, expression.start);
    return object.id !== 'self' && !(made !== undefined && SEARCHES.test(textOf(module, made)));
  }
  if (expression.type !== 'subscript') return false;
  const isWatched = expression.indices
    .flatMap((index) => [...expressionsIn(index)])
    .some(
      (part) => part.type === 'constant' && typeof part.value === 'string' && part.value.startsWith('val_'),
    );
  return isWatched && (isHistory(expression.object) || histories.has(rootName(expression.object) ?? ''));
}

/** `model.fit(…).history`, `history.history` */
function isHistory(expression: Expr): boolean {
  return expression.type === 'attribute' && expression.name === 'history';
}

/** Notes what a statement puts recorded scores in: `result` of `scores = model.evals_result()`, `record_evaluation(result)`. */
function note(statement: Stmt, isRecorded: boolean, { scores, histories }: Recorded): void {
  const parts = ownExpressions(statement).flatMap((own) => [...expressionsIn(own)]);
  for (const target of statement.type === 'assign' ? statement.targets : []) {
    if (target.type !== 'name') continue;
    scores.delete(target.id);
    if (isRecorded) scores.add(target.id);
    else if (parts.some(isHistory)) histories.add(target.id);
  }
  for (const part of parts) {
    if (part.type !== 'call') continue;
    for (const { name, value } of part.args) {
      const isFilled = name === 'evals_result' || calleeName(part) === 'record_evaluation';
      if (isFilled && value.type === 'name') scores.add(value.id);
    }
  }
}
