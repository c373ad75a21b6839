import type { Call, Expr } from '../syntax/ast.js';
import { joinFacts, NO_FACTS } from '../values/facts.js';
import { emptyTable, newEstimator, newTable } from '../values/join.js';
import { overlapOf, type Region } from '../values/region.js';
import type { Value } from '../values/value.js';
import { countWork } from '../values/work.js';
import type { Arguments } from './calls.js';
import type { Interpreter } from './interpreter.js';
import { predictionOf, trainingOf } from './learning.js';

function originOf(region: Region): Region {
  countWork(region.depth);
  let origin = region;
  while (origin.parent !== undefined) origin = origin.parent;
  return origin;
}

/**
 * `X_val @ w`, where `w` was computed from other rows of the same table: row by row the two do not fit, so `w` is
 * what a model written by hand has learned, and the product is its prediction. `undefined` for other products.
 */
export function handMadePrediction(
  interp: Interpreter,
  left: Value,
  right: Value,
  nodes: { readonly node: Expr; readonly left: Expr; readonly right: Expr },
): Value | undefined {
  const [rows, weights] = [interp.dataOf(left), interp.dataOf(right)];
  if (rows.predictions.length > 0 || weights.predictions.length > 0 || rows.single === true) return undefined;
  if (rows.rows.length === 0 || weights.rows.length === 0) return undefined;
  const origins = rows.rows.map(originOf);
  if (!weights.rows.every((region) => origins.includes(originOf(region)))) return undefined;
  if (overlapOf(rows.rows, weights.rows) !== 'no') return undefined;
  const model = newEstimator({
    path: 'numpy.matmul',
    role: 'model',
    options: new Map(),
    steps: [],
    training: undefined,
    fits: weights.fits,
    held: NO_FACTS,
  });
  const text = interp.label(nodes.right);
  const training = trainingOf(interp, `\`${text}\``, weights, text, [], nodes.node);
  model.cell.value = { ...model.cell.value, training };
  const prediction = predictionOf(model.cell, rows, interp.label(nodes.left), nodes.node);
  const facts = joinFacts(rows, { ...NO_FACTS, fits: weights.fits });
  return newTable(emptyTable({ ...facts, predictions: [prediction] }));
}

/** `X_val.dot(w)` */
export function productMethod(
  interp: Interpreter,
  left: Value,
  args: Arguments,
  call: Call,
): Value | undefined {
  const [weights] = args.positional;
  const [right] = args.expressions;
  if (weights === undefined || right === undefined || call.callee.type !== 'attribute') return undefined;
  return handMadePrediction(interp, left, weights, { node: call, left: call.callee.object, right });
}
