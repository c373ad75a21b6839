import type { Call } from '../syntax/ast.js';
import type { Value } from '../values/value.js';
import { type Arguments, argument, argumentExpression } from './arguments.js';
import type { Interpreter } from './interpreter.js';
import { labelsOf } from './label-copies.js';
import { trainingOf } from './learning.js';
import { trainedModel } from './trained-model.js';

/** Models of statsmodels that are made with labels and features (`endog`, `exog`). */
const WITH_ARRAYS =
  /^statsmodels\.(.+\.)?(OLS|WLS|GLS|GLSAR|RLM|QuantReg|GLM|Logit|Probit|MNLogit|Poisson|NegativeBinomial)$/;
/** The same with a formula and a table that has both. */
const WITH_FORMULA =
  /^statsmodels\.formula\.(.+\.)?(ols|wls|gls|rlm|quantreg|glm|logit|probit|mnlogit|poisson)$/;

/**
 * `sm.OLS(y, X)`: a model of statsmodels gets its rows when it is made, and `fit()` has none. Nothing for any other path.
 * Source: statsmodels user guide, "endog, exog" and "fitting models using R-style formulas".
 */
export function statisticalModel(
  interp: Interpreter,
  path: string,
  args: Arguments,
  call: Call,
): Value | undefined {
  const hasFormula = WITH_FORMULA.test(path);
  if (!hasFormula && !WITH_ARRAYS.test(path)) return undefined;
  const name = hasFormula ? 'data' : 'exog';
  const features = argument(args, 1, name);
  if (features === undefined) return undefined;
  const facts = interp.dataOf(features);
  if (facts.rows.length === 0) return undefined;
  const labels = hasFormula ? undefined : argument(args, 0, 'endog');
  const known = labelsOf(interp, features, labels, call);
  const expression = argumentExpression(args, 1, name);
  const rowsText = expression === undefined ? '' : interp.label(expression);
  const subject = `\`${interp.label(call.callee)}\``;
  const training = trainingOf(interp, subject, facts, rowsText, known.fits, call, undefined, known.columns);
  return trainedModel(path, args, training);
}
