import type { Call, Stmt } from '../syntax/ast.js';
import { expressionsIn, namesIn, namesInExpression, ownExpressions } from '../syntax/walk.js';
import {
  declined,
  edited,
  type RepairContext,
  type Rewrite,
  statementsOf,
  type TextEdit,
} from './context.js';

const CROSS_VALIDATION = /^(cross_val_score|cross_validate|cross_val_predict)$/;

/** `X = scaler.fit_transform(X)` before a cross-validation: the scaler goes into a pipeline inside it. */
export function fitInsideFolds(context: RepairContext): Rewrite {
  const [leak, ...others] = context.leaks;
  if (leak === undefined || others.length > 0)
    return declined('more than one fit would have to go into the pipeline');
  const { statement } = leak;
  const [target] = statement.type === 'assign' ? statement.targets : [];
  if (statement.type !== 'assign' || target?.type !== 'name' || statement.value.type !== 'call')
    return declined('the fit does not give one table');
  const call = statement.value;
  if (call.callee.type !== 'attribute' || call.callee.name !== 'fit_transform')
    return declined('the fit does not give one table');
  const statements = statementsOf(context);
  const validation = findValidation(statements);
  if (validation === undefined) return declined('no cross-validation in the block');
  const [model, features] = validation.call.args;
  const [input] = call.args;
  if (
    model === undefined ||
    features?.value.type !== 'name' ||
    features.value.id !== target.id ||
    input === undefined
  ) {
    return declined('the cross-validation does not take the fitted table as it is');
  }
  const inputNames = new Set([...namesInExpression(input.value)].map((name) => name.id));
  for (const other of statements) {
    const assigns =
      other.type === 'assign' &&
      other !== statement &&
      other.targets.some((part) => part.type === 'name' && inputNames.has(part.id));
    if (assigns) return declined('the table before the fit is assigned again');
  }
  const { suite } = validation.statement;
  for (const other of suite.statements.slice(suite.statements.indexOf(statement) + 1)) {
    for (const name of namesIn(other)) {
      if (name.id === target.id && name !== features.value)
        return declined(`\`${name.id}\` is used again beside the cross-validation`);
    }
  }
  const { source } = context;
  const text = (span: { start: number; end: number }): string => source.slice(span.start, span.end);
  const lineStart = source.lastIndexOf('\n', validation.statement.start - 1) + 1;
  const indent = source.slice(lineStart, validation.statement.start);
  const pipeline = `make_pipeline(${text(call.callee.object)}, ${text(model.value)})`;
  const edits: TextEdit[] = [
    { ...wholeLine(source, statement), text: '' },
    {
      start: validation.statement.start,
      end: validation.statement.start,
      text: `from sklearn.pipeline import make_pipeline${context.lineEnding}${indent}`,
    },
    { start: model.value.start, end: model.value.end, text: pipeline },
    {
      start: features.value.start,
      end: features.value.end,
      text: source.slice(input.value.start, input.value.end),
    },
  ];
  const imported = context.module.body.statements.some(
    (part) => part.type === 'import' && part.bindings.some(({ name }) => name === 'make_pipeline'),
  );
  return {
    text: edited(
      source,
      context.block,
      imported ? edits.filter((edit) => !edit.text.startsWith('from ')) : edits,
    ),
  };
}

function wholeLine(source: string, statement: Stmt): { start: number; end: number } {
  const start = source.lastIndexOf('\n', statement.start - 1) + 1;
  const end = source.indexOf('\n', statement.end - 1);
  return { start, end: end < 0 ? source.length : end + 1 };
}

function findValidation(statements: readonly Stmt[]): { statement: Stmt; call: Call } | undefined {
  for (const statement of statements) {
    for (const own of ownExpressions(statement)) {
      for (const part of expressionsIn(own)) {
        if (part.type !== 'call') continue;
        const name =
          part.callee.type === 'name'
            ? part.callee.id
            : part.callee.type === 'attribute'
              ? part.callee.name
              : '';
        if (CROSS_VALIDATION.test(name)) return { statement, call: part };
      }
    }
  }
  return undefined;
}
