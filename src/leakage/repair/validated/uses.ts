import type { Call, Expr, Name, Stmt } from '../../syntax/ast.js';
import {
  calleeName,
  expressionsIn,
  namesInExpression,
  ownExpressions,
  partsOf,
  rootName,
  statementsIn,
} from '../../syntax/walk.js';
import type { RepairContext } from '../context.js';
import { isChangedBetween } from '../divisions.js';
import type { Fit } from './fitted-table.js';

const VALIDATES = /^(cross_val_score|cross_validate|cross_val_predict)$/;

/** What takes the table of the last fit, and what else the fits give is read. */
export interface Uses {
  readonly validations: readonly Call[];
  /** The statements that hold them. */
  readonly statements: readonly Stmt[];
  /** Fits that other lines need: these, and those before them, stay. */
  readonly remaining: readonly Fit[];
}

/** The cross-validations that take the table of some fits; a text says how else it is used. */
export function usesOf({ source, module }: RepairContext, fits: readonly Fit[]): Uses | string {
  const [first, last] = [fits[0], fits.at(-1)];
  if (first === undefined || last === undefined) return 'no fit in this block';
  const own = new Set(fits.flatMap(({ statement, fitted }) => [statement, fitted]));
  const validations = new Set<Call>();
  const statements = new Set<Stmt>();
  const needed = new Set<Fit>();
  for (const outer of module.body.statements) {
    for (const inner of statementsIn(outer)) {
      const inFunction = isInFunction(inner, last.statement);
      if ((inner.start < first.fitted.start && !inFunction) || own.has(inner)) continue;
      const targets = new Set<Expr>(inner.type === 'assign' ? inner.targets.flatMap(itemsOf) : []);
      for (const { name, parent } of namesWithParents(inner)) {
        if (targets.has(name)) continue;
        // A function is called after the fits, wherever it is defined.
        const at = inFunction ? Number.POSITIVE_INFINITY : name.start;
        const isOutput = (fit: Fit): boolean => fit.output === name.id || fit.outputLabels === name.id;
        const maker = fits.findLast((fit) => fit.statement.end <= at && isOutput(fit));
        if (maker === last && parent?.type === 'call' && isValidated(parent, name, last)) {
          const problem = whyNotValidated(source, fits, parent) ?? tunedOnFitted(module, last, parent);
          if (problem !== undefined) return problem;
          validations.add(parent);
          statements.add(outermost(inner, last.statement));
          continue;
        }
        if (maker !== undefined) needed.add(maker);
        // What is learned on all rows is read by another line, as the names of the columns that a selector chose.
        const learned = fits.find(({ steps, alias }) => steps.includes(name.id) || alias === name.id);
        if (learned !== undefined) needed.add(learned);
      }
    }
  }
  if (validations.size === 0) return 'no cross-validation takes the fitted table as it is';
  const end = Math.max(...[...validations].map((call) => call.end));
  const changed = changedBefore(module, fits, end);
  if (changed !== undefined) return `\`${changed}\` is changed before the cross-validation`;
  const remaining = fits.slice(0, fits.findLastIndex((fit) => needed.has(fit)) + 1);
  return { validations: [...validations], statements: [...statements], remaining };
}

function itemsOf(target: Expr): readonly Expr[] {
  return target.type === 'sequence' ? target.items : [target];
}

function isValidated(call: Call, name: Name, { output }: Fit): boolean {
  const argument = call.args[name.id === output ? 1 : 2];
  return (
    VALIDATES.test(calleeName(call)) &&
    argument?.value === name &&
    (argument.name ?? (name.id === output ? 'X' : 'y')) === (name.id === output ? 'X' : 'y')
  );
}

function whyNotValidated(source: string, fits: readonly Fit[], call: Call): string | undefined {
  const [model, , labels] = call.args;
  const isSampled = fits.some(({ outputLabels }) => outputLabels !== undefined);
  if (isSampled && calleeName(call) === 'cross_val_predict')
    return 'the cross-validation gives a prediction for each row that was sampled';
  if (model?.name !== undefined) return 'the cross-validation names its model or its labels';
  if (call.args.some(({ name, star }) => star !== '' || name === 'fit_params' || name === 'params'))
    return 'the cross-validation passes more to the model';
  const wanted = fits.at(-1)?.outputLabels ?? fits.find((fit) => fit.labels !== undefined)?.labels;
  if (wanted === undefined) return undefined;
  if (labels === undefined || (labels.name ?? 'y') !== 'y')
    return 'the cross-validation names its model or its labels';
  return source.slice(labels.value.start, labels.value.end) === wanted
    ? undefined
    : 'the fit and the cross-validation take other labels';
}

/** `cross_val_score(search.best_estimator_, X_sel, y)`: the model was tuned on the table that is fitted on all rows. */
function tunedOnFitted(module: RepairContext['module'], { output }: Fit, call: Call): string | undefined {
  const [model] = call.args;
  const tuned = model?.value.type === 'attribute' ? rootName(model.value) : undefined;
  if (tuned === undefined) return undefined;
  for (const statement of module.body.statements.flatMap((outer) => [...statementsIn(outer)])) {
    if (statement.end > call.start) continue;
    for (const part of ownExpressions(statement).flatMap((own) => [...expressionsIn(own)])) {
      const isFit = part.type === 'call' && calleeName(part) === 'fit' && rootName(part.callee) === tuned;
      if (isFit && part.args.some(({ value }) => rootName(value) === output))
        return `\`${tuned}\` is tuned on \`${output}\`, which is fitted on all rows`;
    }
  }
  return undefined;
}

/** A table that other lines change on the way to the last cross-validation. */
function changedBefore(
  module: RepairContext['module'],
  fits: readonly Fit[],
  end: number,
): string | undefined {
  const [first, last] = [fits[0], fits.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const made = fits.flatMap(({ output, outputLabels }) => [
    output,
    ...(outputLabels === undefined ? [] : [outputLabels]),
  ]);
  const read = [
    ...[...namesInExpression(first.input)].map(({ id }) => id),
    ...fits.flatMap(({ labels }) => (labels === undefined ? [] : [labels])),
  ];
  const changed = read.find(
    (name) => !made.includes(name) && isChangedBetween(module, first.fitted.end, end, name),
  );
  if (changed !== undefined) return changed;
  for (const [at, fit] of fits.entries()) {
    const until = fits[at + 1]?.fitted.start ?? end;
    const names = [fit.output, ...(fit.outputLabels === undefined ? [] : [fit.outputLabels])];
    const own = names.find((name) => isChangedBetween(module, fit.statement.end, until, name));
    if (own !== undefined) return own;
    // What is fitted in two lines is made from the table of its first line.
    const input = [...namesInExpression(fit.input)].find(({ id }) =>
      isChangedBetween(module, fit.fitted.end, fit.statement.start, id),
    );
    if (input !== undefined) return input.id;
  }
  return undefined;
}

/** The statement beside the fit, or at the top of the script, that holds another one. */
function outermost(statement: Stmt, beside: Stmt): Stmt {
  let outer = statement;
  while (outer.suite !== beside.suite && outer.suite.owner !== undefined) outer = outer.suite.owner;
  return outer;
}

function isInFunction(statement: Stmt, beside: Stmt): boolean {
  for (let owner = statement.suite.owner; owner !== undefined; owner = owner.suite.owner)
    if (owner.type === 'function') return !(owner.start <= beside.start && beside.end <= owner.end);
  return false;
}

function namesWithParents(statement: Stmt): { readonly name: Name; readonly parent: Expr | undefined }[] {
  const found: { name: Name; parent: Expr | undefined }[] = [];
  const visit = (part: Expr, parent: Expr | undefined): void => {
    if (part.type === 'name') found.push({ name: part, parent });
    for (const inner of partsOf(part)) visit(inner, part);
  };
  for (const own of ownExpressions(statement)) visit(own, undefined);
  return found;
}
