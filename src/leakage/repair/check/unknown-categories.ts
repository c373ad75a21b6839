import type { Call, Module, Stmt } from '../../syntax/ast.js';
import { expressionsIn, ownExpressions, rootName, statementsIn } from '../../syntax/walk.js';
import { newStatements, type ScriptChange, textOf } from './script-change.js';

/**
 * Encoders of scikit-learn that stop at a category which they were not fitted on, with the arguments that make them go
 * on; none where nothing does. Source: scikit-learn's reference of `sklearn.preprocessing`.
 */
const TOLERANT: Readonly<Record<string, Readonly<Record<string, string>> | undefined>> = {
  OneHotEncoder: { handle_unknown: '"ignore"' },
  OrdinalEncoder: { handle_unknown: '"use_encoded_value"', unknown_value: '-1' },
  LabelEncoder: undefined,
  LabelBinarizer: undefined,
};

/** A transformation that would stop at unknown categories. */
export interface StrictEncoder {
  /** The variable that holds the encoder, or something with it in it. */
  readonly variable: string;
  /** Name of the encoder's class. */
  readonly encoder: string;
  readonly constructed: Call;
  /** The encoder is a step of what the variable holds. */
  readonly isStep: boolean;
  /** Arguments that make it go on, by name. */
  readonly tolerant: Readonly<Record<string, string>> | undefined;
}

/**
 * Encoders by which a rewrite transforms rows that they have not seen, and that stop at categories which they do not
 * know: fitted on all rows, they knew them all.
 */
export function strictEncoders(change: ScriptChange): StrictEncoder[] {
  const { module } = change.after;
  const found = new Map<string, StrictEncoder>();
  for (const statement of newStatements(change)) {
    for (const own of ownExpressions(statement)) {
      for (const part of expressionsIn(own)) {
        if (part.type !== 'call' || part.callee.type !== 'attribute' || part.callee.name !== 'transform')
          continue;
        const { object } = part.callee;
        const strict = object.type === 'name' ? strictIn(module, object.id) : undefined;
        if (strict !== undefined) found.set(strict.variable, strict);
      }
    }
  }
  return [...found.values()];
}

export function rejectsCategories(change: ScriptChange): string | undefined {
  const [strict] = strictEncoders(change);
  return strict === undefined
    ? undefined
    : `\`${strict.encoder}\` stops at a category that only the scored rows have, unless it is told what to do with it`;
}

function strictIn(module: Module, variable: string): StrictEncoder | undefined {
  const statements = module.body.statements.flatMap((outer) => [...statementsIn(outer)]);
  if (statements.some((statement) => isTold(module, statement, variable))) return undefined;
  for (const statement of statements) {
    if (statement.type !== 'assign') continue;
    if (!statement.targets.some((target) => target.type === 'name' && target.id === variable)) continue;
    for (const part of expressionsIn(statement.value)) {
      const encoder = part.type === 'call' ? rejecting(module, part) : undefined;
      if (encoder === undefined || part.type !== 'call') continue;
      const isStep = part !== statement.value;
      return { variable, encoder, constructed: part, isStep, tolerant: TOLERANT[encoder] };
    }
  }
  return undefined;
}

/** `encoder.set_params(handle_unknown="ignore")` */
function isTold(module: Module, statement: Stmt, variable: string): boolean {
  if (statement.type !== 'expression') return false;
  return textOf(module, statement).startsWith(`${variable}.set_params(handle_unknown=`);
}

function rejecting(module: Module, call: Call): string | undefined {
  const name = textOf(module, call.callee).split('.').at(-1) ?? '';
  if (!Object.hasOwn(TOLERANT, name) || !isOfSklearn(module, rootName(call.callee) ?? '')) return undefined;
  const isTolerant = call.args.some(
    ({ star, name: argument }) => star !== '' || argument === 'handle_unknown',
  );
  // Categories that are listed do not depend on the rows.
  const isListed = call.args.some(({ name: argument }) => argument === 'categories');
  return isTolerant || (isListed && TOLERANT[name] !== undefined) ? undefined : name;
}

/** Other libraries have encoders of these names that go on by themselves. */
function isOfSklearn(module: Module, root: string): boolean {
  const bindings = module.body.statements.flatMap((statement) =>
    statement.type === 'import' ? statement.bindings.filter(({ name }) => name === root) : [],
  );
  return bindings.length === 0 || bindings.some(({ path }) => path.startsWith('sklearn'));
}
