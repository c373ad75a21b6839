import type { Assign, Expr, For, FunctionDefinition, Module, Stmt } from '../../syntax/ast.js';
import { expressionsIn, namesInExpression, ownExpressions, statementsIn } from '../../syntax/walk.js';
import { declined, edited, type RepairContext, type Rewrite } from '../context.js';
import { trainingIndex } from './fold-loop.js';

/**
 * A network that is made before the folds goes on learning from fold to fold, so it has seen the rows of the later ones. The
 * statement that makes it is written once more in each fold, before the fit.
 */
export function makeModelInEachFold(context: RepairContext): Rewrite {
  const { block, lineEnding, module, source } = context;
  const [leak, ...others] = context.leaks;
  if (leak === undefined || others.length > 0) return declined('the block holds several leaks');
  const { node, statement } = leak;
  const loop = statement.suite.owner;
  const model = fittedName(node);
  if (model === undefined || loop?.type !== 'for' || trainingIndex(loop) === undefined)
    return declined('no fit of a variable in a loop over folds');
  const made = onlyMaking(loop, model);
  if (made === undefined) return declined(`how \`${model}\` is made before the folds is not one statement`);
  const problem = usedElsewhere(module, model, made, loop, statement) ?? madeOtherwise(module, made, loop);
  if (problem !== undefined) return declined(problem);
  const indent = source.slice(source.lastIndexOf('\n', statement.start - 1) + 1, statement.start);
  if (/\S/.test(indent)) return declined('the fit shares its line with other code');
  const text = `${source.slice(made.start, made.end)}${lineEnding}${indent}`;
  return { text: edited(source, block, [{ start: statement.start, end: statement.start, text }]) };
}

/** `model` in `model.fit(…)`. */
function fittedName(node: Expr): string | undefined {
  if (node.type !== 'call' || node.callee.type !== 'attribute' || node.callee.name !== 'fit')
    return undefined;
  return node.callee.object.type === 'name' ? node.callee.object.id : undefined;
}

/** The one statement of the suite of a loop, before it, that makes a variable by a call. */
function onlyMaking(loop: For, model: string): Assign | undefined {
  const before = loop.suite.statements.slice(0, loop.suite.statements.indexOf(loop));
  const makings = before.filter(
    (statement): statement is Assign =>
      statement.type === 'assign' &&
      statement.targets.some((target) => [...namesInExpression(target)].some(({ id }) => id === model)),
  );
  const [made] = makings;
  const isPlain =
    made?.targets.length === 1 && made.targets[0]?.type === 'name' && made.value.type === 'call';
  return makings.length === 1 && isPlain ? made : undefined;
}

/** Whether the model is used where it is not the one of a fold. */
function usedElsewhere(
  module: Module,
  model: string,
  made: Assign,
  loop: For,
  fit: Stmt,
): string | undefined {
  for (const outer of scopeOf(module, loop)) {
    for (const name of usesIn(outer, model)) {
      const isMade = name.start >= made.start && name.end <= made.end;
      const isAfterFit = name.start >= fit.start && name.end <= loop.end;
      if (!isMade && !isAfterFit) return `\`${model}\` is used outside of the folds as well`;
    }
  }
  return undefined;
}

/** Every use of a name, except for those in functions that have a variable of their own by it, and `model.summary()`. */
function* usesIn(statement: Stmt, model: string): Generator<Expr> {
  if (statement.type === 'function' && ownNames(statement).has(model)) return;
  if (isSummary(statement, model)) return;
  for (const own of ownExpressions(statement))
    for (const part of expressionsIn(own)) if (part.type === 'name' && part.id === model) yield part;
  for (const inner of statementsIn(statement))
    if (inner !== statement && inner.suite.owner === statement) yield* usesIn(inner, model);
}

/** The statements of the function that a statement is in, or of the module. */
function scopeOf(module: Module, statement: Stmt): readonly Stmt[] {
  let { suite } = statement;
  while (suite.owner !== undefined && suite.owner.type !== 'function') suite = suite.owner.suite;
  return suite.owner === undefined ? module.body.statements : suite.statements;
}

/** `model.summary()`, which only prints. */
function isSummary(statement: Stmt, model: string): boolean {
  if (statement.type !== 'expression' || statement.value.type !== 'call') return false;
  const { callee } = statement.value;
  return (
    callee.type === 'attribute' &&
    callee.name === 'summary' &&
    callee.object.type === 'name' &&
    callee.object.id === model
  );
}

/** Names that a function binds: its parameters and its variables. */
function ownNames({ body, params }: FunctionDefinition): ReadonlySet<string> {
  const names = new Set(params.map(({ name }) => name));
  for (const outer of body.statements)
    for (const statement of statementsIn(outer)) {
      const targets = statement.type === 'assign' ? statement.targets : [];
      for (const target of targets) for (const { id } of namesInExpression(target)) names.add(id);
    }
  return names;
}

/** Why the statement that makes the model might make another one in the folds, or share something with the first one. */
function madeOtherwise(module: Module, made: Assign, loop: For): string | undefined {
  const all = module.body.statements.flatMap((statement) => [...statementsIn(statement)]);
  const needed = namesNeeded(all, made.value);
  const measured = new Set([...namesInExpression(made.value)].map(({ id }) => id));
  const { statements } = made.suite;
  const later = new Set(statements.slice(statements.indexOf(made) + 1, statements.indexOf(loop) + 1));
  for (const statement of all) {
    const around = outermostOf(statement, made.suite.statements);
    const isLater = around !== undefined && later.has(around);
    for (const name of boundBy(statement)) {
      if (isLater && measured.has(name)) return mayChange(name);
      if (!needed.has(name)) continue;
      const isConstant = statement.type === 'assign' && PLAIN.test(statement.value.type);
      if (isLater || !(isConstant || statement.type === 'function' || statement.type === 'import'))
        return mayChange(name);
    }
  }
  return undefined;
}

function mayChange(name: string): string {
  return `\`${name}\`, which the model is made with, may be another one in each fold`;
}

/** Values that are the same however often they are used. */
const PLAIN = /^(constant|unary)$/;

/** The names that an expression needs, and those that the functions of the script need that it calls. */
function namesNeeded(all: readonly Stmt[], expression: Expr): ReadonlySet<string> {
  const needed = new Set(namesOfValues(expression));
  const open = [...needed];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    for (const statement of all) {
      if (statement.type !== 'function' || statement.name !== name) continue;
      const own = ownNames(statement);
      for (const inner of statementsIn(statement))
        for (const id of ownExpressions(inner).flatMap((part) => [...namesOfValues(part)])) {
          if (own.has(id) || needed.has(id)) continue;
          needed.add(id);
          open.push(id);
        }
    }
  }
  return needed;
}

/** Names in an expression, except for those of which only the shape or the length counts. */
function namesOfValues(expression: Expr): ReadonlySet<string> {
  const names = new Set<string>();
  const measured = new Set<Expr>();
  for (const part of expressionsIn(expression)) {
    if (part.type === 'attribute' && part.name === 'shape') measured.add(part.object);
    if (part.type === 'call' && part.callee.type === 'name' && part.callee.id === 'len')
      for (const { value } of part.args) measured.add(value);
    if (part.type === 'name' && !measured.has(part)) names.add(part.id);
  }
  return names;
}

/** The statement of a suite that a statement is in, or is. */
function outermostOf(statement: Stmt, suite: readonly Stmt[]): Stmt | undefined {
  return suite.find(({ start, end }) => start <= statement.start && statement.end <= end);
}

/** Names that a statement itself binds or changes. */
function boundBy(statement: Stmt): readonly string[] {
  switch (statement.type) {
    case 'function':
    case 'class':
      return [statement.name];
    case 'import':
      return statement.bindings.map(({ name }) => name);
    case 'global':
      return statement.names;
    case 'assign':
    case 'for':
    case 'augmented':
    case 'with': {
      const targets =
        statement.type === 'assign'
          ? statement.targets
          : statement.type === 'with'
            ? statement.items.flatMap(({ target }) => (target === undefined ? [] : [target]))
            : [statement.target];
      return targets.flatMap((target) => [...namesInExpression(target)].map(({ id }) => id));
    }
    default:
      return [];
  }
}
