import { FIT_METHODS } from '../../library-models/methods.js';
import type { Call, Expr, Stmt } from '../../syntax/ast.js';
import { expressionsIn, ownExpressions, rootName, statementsIn } from '../../syntax/walk.js';
import type { RepairContext } from '../context.js';
import { helpersOf, whyNotOnlyLearned } from '../helper-calls.js';

/** Methods that change the list, dictionary or set that they are called on. */
const MUTATES =
  /^(append|extend|insert|remove|add|update|pop|discard|clear|setdefault|sort|reverse|fill|shuffle)$/;

/** What a statement does to a variable. */
export interface Effect {
  readonly name: string;
  readonly how: 'replaces' | 'changes' | 'fits';
}

/** Thrown where it is not certain what a statement changes; the message says why. */
export class NotFollowed extends Error {}

/** Everything that a statement, and the suites in it, do to variables. */
export function effectsOf(context: RepairContext, statement: Stmt): Effect[] {
  return [...statementsIn(statement)].flatMap((inner) => [...ownEffects(context, inner)]);
}

function* ownEffects(context: RepairContext, statement: Stmt): Generator<Effect> {
  if (statement.type === 'assign') {
    for (const target of flat(statement.targets)) yield* targetEffect(target);
  }
  if (statement.type === 'augmented') {
    const name = rootName(statement.target);
    const isTable = name !== undefined && isRows(context, name);
    if (!isTable && statement.target.type === 'name')
      throw new NotFollowed(`whether \`${name}\` is changed in place is not known`);
    yield* changed(name);
  }
  if (statement.type === 'for') {
    for (const target of flat([statement.target])) yield* targetEffect(target);
    yield* loopOverTables(statement);
  }
  for (const own of ownExpressions(statement)) {
    for (const part of expressionsIn(own)) if (part.type === 'call') yield* callEffect(context, part);
  }
}

function* targetEffect(target: Expr): Generator<Effect> {
  if (target.type === 'name') yield { name: target.id, how: 'replaces' };
  else yield* changed(rootName(target));
}

function* changed(name: string | undefined): Generator<Effect> {
  if (name === undefined) throw new NotFollowed('what is changed has no name');
  yield { name, how: 'changes' };
}

/** `for part in (train, test)`: what is done to the variable is done to each of the tables. */
function* loopOverTables(loop: Extract<Stmt, { type: 'for' }>): Generator<Effect> {
  if (loop.target.type !== 'name') return;
  const turn = loop.target.id;
  const changes = loop.body.statements
    .flatMap((inner) => [...statementsIn(inner)])
    .some((inner) => changesVariable(inner, turn));
  if (!changes) return;
  const items = loop.iterable.type === 'sequence' ? loop.iterable.items : [];
  if (items.length === 0 || items.some(({ type }) => type !== 'name'))
    throw new NotFollowed('a loop changes tables that are not named');
  for (const item of items) yield* changed(rootName(item));
}

function changesVariable(statement: Stmt, name: string): boolean {
  const targets =
    statement.type === 'assign'
      ? flat(statement.targets)
      : statement.type === 'augmented'
        ? [statement.target]
        : [];
  if (targets.some((target) => target.type !== 'name' && rootName(target) === name)) return true;
  return ownExpressions(statement)
    .flatMap((own) => [...expressionsIn(own)])
    .some((part) => part.type === 'call' && isInPlace(part) && rootName(part.callee) === name);
}

function isInPlace({ callee, args }: Call): boolean {
  return (
    callee.type === 'attribute' && (MUTATES.test(callee.name) || args.some(({ name }) => name === 'inplace'))
  );
}

function* callEffect(context: RepairContext, call: Call): Generator<Effect> {
  const { callee } = call;
  if (callee.type === 'attribute' && FIT_METHODS.has(callee.name)) {
    const { object } = callee;
    if (object.type === 'name') yield { name: object.id, how: 'fits' };
    else if (object.type !== 'call') throw new NotFollowed('what is fitted has no name of its own');
    return;
  }
  if (isInPlace(call) && callee.type === 'attribute') yield* changed(rootName(callee.object));
  // A function of the script may change the tables that are passed to it.
  const helpers = callee.type === 'name' ? helpersOf(context.module, call) : [];
  const isOwn = helpers.some((helper) => whyNotOnlyLearned(context.module, helper) !== undefined);
  const isPiped = callee.type === 'attribute' && /^(pipe)$/.test(callee.name);
  if (isPiped) throw new NotFollowed('a table goes through a function by `pipe`');
  if (!isOwn) return;
  for (const { value } of call.args)
    if (value.type === 'name' && isRows(context, value.id)) yield* changed(value.id);
}

function isRows({ watched, watchedEarlier, watchedFrames }: RepairContext, name: string): boolean {
  return watched.has(name) || watchedEarlier.has(name) || watchedFrames.has(name);
}

function flat(targets: readonly Expr[]): Expr[] {
  return targets.flatMap((target) =>
    target.type === 'sequence'
      ? flat(target.items)
      : target.type === 'starred'
        ? flat([target.value])
        : [target],
  );
}
