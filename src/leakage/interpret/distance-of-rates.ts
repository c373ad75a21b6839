import type { Call, Expr } from '../syntax/ast.js';
import { calleeName } from '../syntax/walk.js';
import type { Score } from '../values/facts.js';

/** `(tpr - fpr).max()`: the Kolmogorov-Smirnov statistic of one model, a score like any other. Its position is a choice. */
export function isDistanceOfRates(scores: readonly Score[], call: Call): boolean {
  const { callee } = call;
  const [first] = call.args;
  const of = callee.type === 'attribute' && first === undefined ? callee.object : first?.value;
  if (!/^(a?max|nanmax)$/.test(calleeName(call)) || !isDifference(of)) return false;
  return (
    scores.length > 0 && scores.every(({ node }) => node.type === 'call' && calleeName(node) === 'roc_curve')
  );
}

/** `a - b`, or its absolute value. */
function isDifference(expression: Expr | undefined): boolean {
  if (expression?.type === 'call' && /^(abs|absolute|fabs)$/.test(calleeName(expression)))
    return isDifference(expression.args[0]?.value);
  return expression?.type === 'binary' && expression.operator === '-';
}
