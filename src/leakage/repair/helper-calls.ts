import type { Call, Expr, FunctionDefinition, Module } from '../syntax/ast.js';
import {
  calleeName,
  expressionsIn,
  namesInExpression,
  ownExpressions,
  rootName,
  statementsIn,
} from '../syntax/walk.js';

const CHANGES_IN_PLACE = /^(pop|insert|update|fill|sort|append|extend|clear|remove|setdefault|shuffle)$/;

/** The functions and methods of a script that a call may run, by their name; none for those of libraries. */
export function helpersOf({ body }: Module, call: Call): FunctionDefinition[] {
  const name = calleeName(call);
  const isMethod = call.callee.type === 'attribute';
  return body.statements
    .flatMap((outer) => (outer.type === 'class' ? (isMethod ? outer.body.statements : []) : [outer]))
    .filter((one): one is FunctionDefinition => one.type === 'function' && one.name === name);
}

/** Why a helper may do more than to learn from the tables that it gets: it changes or keeps one of them. */
export function whyNotOnlyLearned(module: Module, helper: FunctionDefinition, depth = 0): string | undefined {
  if (depth > 4) return `\`${helper.name}\` calls other helpers too deep`;
  const params = new Set(helper.params.map(({ name }) => name).filter((name) => name !== 'self'));
  for (const outer of helper.body.statements) {
    for (const statement of statementsIn(outer)) {
      if (/^(global|function|class|delete|try|with)$/.test(statement.type))
        return `what \`${helper.name}\` does is not followed`;
      const targets =
        statement.type === 'assign'
          ? statement.targets.flatMap(flat)
          : statement.type === 'augmented'
            ? [statement.target]
            : [];
      for (const target of targets) {
        const root = rootName(target);
        if (
          root !== undefined &&
          params.has(root) &&
          (target.type !== 'name' || statement.type === 'augmented')
        )
          return `\`${helper.name}\` changes \`${root}\``;
        const keeps =
          root === 'self' &&
          statement.type === 'assign' &&
          statement.value.type === 'name' &&
          params.has(statement.value.id);
        if (keeps) return `\`${helper.name}\` keeps the rows that it gets`;
      }
      for (const own of ownExpressions(statement)) {
        for (const part of expressionsIn(own)) {
          const found = part.type === 'call' ? whyChanged(module, helper, part, params, depth) : undefined;
          if (found !== undefined) return found;
        }
      }
      // A parameter that gets another value is a variable of the helper from then on.
      for (const target of targets)
        if (target.type === 'name' && statement.type === 'assign' && isNew(statement.value, target.id))
          params.delete(target.id);
    }
  }
  return undefined;
}

function whyChanged(
  module: Module,
  helper: FunctionDefinition,
  call: Call,
  params: ReadonlySet<string>,
  depth: number,
): string | undefined {
  const { callee, args } = call;
  const root = callee.type === 'attribute' ? rootName(callee.object) : undefined;
  const isInPlace = args.some(({ name }) => name === 'inplace') || CHANGES_IN_PLACE.test(calleeName(call));
  if (root !== undefined && params.has(root) && isInPlace) return `\`${helper.name}\` changes \`${root}\``;
  const passed = args.some(({ value }) => [...namesInExpression(value)].some(({ id }) => params.has(id)));
  if (!passed) return undefined;
  return helpersOf(module, call)
    .filter((other) => other !== helper)
    .map((other) => whyNotOnlyLearned(module, other, depth + 1))
    .find((found) => found !== undefined);
}

/** `frame = frame.copy()`, `frame = frame[columns]`: another object than the one that was passed. */
function isNew(value: Expr, name: string): boolean {
  if (value.type === 'name') return false;
  return value.type !== 'subscript' || rootName(value) !== name || value.indices[0]?.type !== 'slice';
}

function flat(target: Expr): Expr[] {
  return target.type === 'sequence' ? target.items.flatMap(flat) : [target];
}
