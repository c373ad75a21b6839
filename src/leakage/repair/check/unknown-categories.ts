import type { Call, Module } from '../../syntax/ast.js';
import { expressionsIn, ownExpressions, statementsIn } from '../../syntax/walk.js';
import { newStatements, type ScriptChange, textOf } from './script-change.js';

/** Encoders that stop at a category that they were not fitted on, and the argument that makes them go on. */
const STRICT: Readonly<Record<string, RegExp | undefined>> = {
  OneHotEncoder: /^(handle_unknown|categories)$/,
  OrdinalEncoder: /^(handle_unknown|categories)$/,
  LabelEncoder: undefined,
  LabelBinarizer: undefined,
};

/**
 * Whether a rewrite transforms rows with an encoder that has not seen them, and that stops at categories which it
 * does not know: fitted on all rows, it knew them all.
 */
export function refusesCategories(change: ScriptChange): string | undefined {
  const { module } = change.after;
  for (const statement of newStatements(change)) {
    for (const own of ownExpressions(statement)) {
      for (const part of expressionsIn(own)) {
        if (part.type !== 'call' || part.callee.type !== 'attribute' || part.callee.name !== 'transform')
          continue;
        const { object } = part.callee;
        const strict = object.type === 'name' ? strictEncoder(module, object.id) : undefined;
        if (strict !== undefined)
          return `\`${strict}\` stops at a category that only the scored rows have, unless it is told what to do with it`;
      }
    }
  }
  return undefined;
}

/** The class of the encoder that a variable holds, alone or as a step, where it refuses unknown categories. */
function strictEncoder(module: Module, name: string): string | undefined {
  for (const outer of module.body.statements) {
    for (const statement of statementsIn(outer)) {
      if (statement.type !== 'assign') continue;
      if (!statement.targets.some((target) => target.type === 'name' && target.id === name)) continue;
      for (const part of expressionsIn(statement.value)) {
        const found = part.type === 'call' ? refusing(module, part) : undefined;
        if (found !== undefined) return found;
      }
    }
  }
  return undefined;
}

function refusing(module: Module, call: Call): string | undefined {
  const name = textOf(module, call.callee).split('.').at(-1) ?? '';
  if (!(name in STRICT)) return undefined;
  const told = STRICT[name];
  return told !== undefined &&
    call.args.some((argument) => argument.star !== '' || told.test(argument.name ?? ''))
    ? undefined
    : name;
}
