import type { Assign, Call, Expr, Stmt } from '../syntax/ast.js';
import { expressionsIn, namesIn, namesInExpression, ownExpressions, statementsIn } from '../syntax/walk.js';
import {
  declined,
  edited,
  type RepairContext,
  type Rewrite,
  statementsOf,
  type TextEdit,
  wholeLines,
} from './context.js';

const CROSS_VALIDATION = /^(cross_val_score|cross_validate|cross_val_predict)$/;

/** `table = transformer.fit_transform(input)`, or `table = second.fit_transform(first.fit_transform(input))`. */
interface Step {
  readonly statement: Assign;
  readonly target: string;
  /** In the order in which they are applied. */
  readonly transformers: readonly Expr[];
  readonly input: Expr;
}

/**
 * `X = scaler.fit_transform(X)` before a cross-validation, alone or one after another: the transformers go into a
 * pipeline inside it. Lines whose results are used elsewhere as well stay.
 */
export function fitInsideFolds(context: RepairContext): Rewrite {
  const { source, block, lineEnding } = context;
  const statements = statementsOf(context);
  const validation = findValidation(statements);
  if (validation === undefined) return declined('no cross-validation in the block');
  const { call } = validation;
  const [model, features] = call.args;
  if (model === undefined || features?.value.type !== 'name' || features.name !== undefined)
    return declined('the cross-validation does not take the fitted table as it is');
  const steps = stepsBefore(statements, validation.statement, features.value.id);
  const [first] = steps;
  if (first === undefined) return declined('the fit does not give one table');
  if (context.leaks.some((leak) => !steps.some(({ statement }) => statement === leak.statement)))
    return declined('the fit does not give one table');
  const inputNames = new Set([...namesInExpression(first.input)].map(({ id }) => id));
  const made = new Set(steps.map(({ statement }) => statement));
  for (const other of statements) {
    const isAgain =
      other.start > first.statement.start &&
      other.end <= validation.statement.start &&
      !made.has(other as Assign) &&
      assignedNames(other).some((name) => inputNames.has(name));
    if (isAgain) return declined('the table before the fit is assigned again');
  }
  const remaining = remainingSteps(context, steps, features.value);
  const isLost = (step: Step): boolean => inputNames.has(step.target);
  if (remaining.some(isLost))
    return declined(`\`${first.target}\` is used again beside the cross-validation`);

  const text = (span: Expr): string => source.slice(span.start, span.end);
  const objects = steps.flatMap(({ transformers }) => transformers.map(text));
  if (new Set(objects).size < objects.length) return declined('one transformer is fitted twice');
  const edits: TextEdit[] = steps
    .filter((step) => !remaining.includes(step))
    .map(({ statement }) => ({ ...wholeLines(source, statement), text: '' }));
  const isImported = context.module.body.statements.some(
    (part) => part.type === 'import' && part.bindings.some(({ name }) => name === 'make_pipeline'),
  );
  const before =
    statements.find((statement) => statement.end >= validation.statement.end) ?? validation.statement;
  const indent = source.slice(source.lastIndexOf('\n', before.start - 1) + 1, before.start);
  if (/\S/.test(indent)) return declined('the cross-validation shares its line');
  if (!isImported) {
    const line = `from sklearn.pipeline import make_pipeline${lineEnding}${indent}`;
    edits.push({ start: before.start, end: before.start, text: line });
  }
  edits.push(
    {
      start: model.value.start,
      end: model.value.end,
      text: `make_pipeline(${[...objects, text(model.value)].join(', ')})`,
    },
    { start: features.value.start, end: features.value.end, text: text(first.input) },
  );
  return { text: edited(source, block, edits) };
}

/** The fits that made the table of a cross-validation, the first one first. */
function stepsBefore(statements: readonly Stmt[], validation: Stmt, table: string): Step[] {
  const steps: Step[] = [];
  let wanted = table;
  let before = validation.start;
  for (;;) {
    const last = statements.findLast(
      (statement) => statement.end <= before && assignedNames(statement).includes(wanted),
    );
    const step = last === undefined ? undefined : readStep(last);
    if (step === undefined) return steps;
    steps.unshift(step);
    if (step.input.type !== 'name') return steps;
    wanted = step.input.id;
    before = step.statement.start;
  }
}

function readStep(statement: Stmt): Step | undefined {
  if (statement.type !== 'assign') return undefined;
  const [target, other] = statement.targets;
  if (target?.type !== 'name' || other !== undefined) return undefined;
  const transformers: Expr[] = [];
  let input = statement.value;
  for (let fit = readFit(input); fit !== undefined; fit = readFit(input)) {
    transformers.unshift(fit.transformer);
    input = fit.input;
  }
  return transformers.length === 0 ? undefined : { statement, target: target.id, transformers, input };
}

/** `transformer.fit_transform(input)`, with or without labels. */
function readFit(value: Expr): { readonly transformer: Expr; readonly input: Expr } | undefined {
  if (value.type !== 'call') return undefined;
  const { callee, args } = value;
  if (callee.type !== 'attribute' || callee.name !== 'fit_transform') return undefined;
  // The labels of a second argument reach the pipeline through the cross-validation.
  const [input, labels, ...others] = args;
  const isPlain = others.length === 0 && args.every(({ star }) => star === '');
  if (input === undefined || !isPlain || (labels !== undefined && labels.value.type !== 'name'))
    return undefined;
  return { transformer: callee.object, input: input.value };
}

/** Fits whose table or transformer is used beside the cross-validation, and those that they need. */
function remainingSteps(context: RepairContext, steps: readonly Step[], features: Expr): Step[] {
  const chained = new Set<Expr>([features]);
  for (const { statement, input, transformers } of steps) {
    for (const part of [...statement.targets, input]) chained.add(part);
    for (const transformer of transformers) for (const part of expressionsIn(transformer)) chained.add(part);
  }
  const last = steps.findLastIndex(({ statement, target, transformers }) => {
    const fitted = transformers.flatMap((part) => (part.type === 'name' ? [part.id] : []));
    for (const other of context.module.body.statements) {
      for (const name of namesIn(other)) {
        if (name.start < statement.end || chained.has(name)) continue;
        if (name.id === target || fitted.includes(name.id)) return true;
      }
    }
    return false;
  });
  return steps.slice(0, last + 1);
}

function assignedNames(statement: Stmt): string[] {
  if (statement.type !== 'assign') return [];
  return statement.targets
    .flatMap((target) => (target.type === 'sequence' ? target.items : [target]))
    .flatMap((target) => (target.type === 'name' ? [target.id] : []));
}

function findValidation(statements: readonly Stmt[]): { statement: Stmt; call: Call } | undefined {
  for (const outer of statements) {
    for (const statement of statementsIn(outer)) {
      for (const own of ownExpressions(statement)) {
        for (const part of expressionsIn(own)) {
          if (part.type !== 'call') continue;
          const { callee } = part;
          const name = callee.type === 'name' ? callee.id : callee.type === 'attribute' ? callee.name : '';
          if (CROSS_VALIDATION.test(name)) return { statement, call: part };
        }
      }
    }
  }
  return undefined;
}
