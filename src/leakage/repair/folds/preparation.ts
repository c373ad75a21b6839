import type { For, Stmt } from '../../syntax/ast.js';
import { calleeName, expressionsIn, namesIn, ownExpressions, statementsIn } from '../../syntax/walk.js';
import type { RepairContext } from '../context.js';
import { isKnownBefore } from '../rows-first/known-before.js';
import { plainColumn } from '../rows-first/labels-before.js';
import { effectsOf, NotFollowed } from './effects.js';
import { outerNamesIn, outerNamesOf } from './outer-names.js';

const WRITES = /\.(to_csv|to_parquet|to_feather|to_pickle|savefig|dump|save|show)\(|\bopen\(/;
const RANDOM = /\b(np|numpy)\.random\.|\brandom\.\w+\(|\brng\b|\.sample\(/;

/** The statements that every fold has to make again, and the variables that it needs of its own. */
export interface Preparation {
  readonly statements: readonly Stmt[];
  /** Every variable that they assign, change or fit. */
  readonly names: ReadonlySet<string>;
  /** Variables that a fold starts with: as they were before, or a copy of that where they are changed in place. */
  readonly starts: ReadonlyMap<string, 'same' | 'copy'>;
  /** Transformers and models that are made before, and fitted here. */
  readonly fitted: ReadonlySet<string>;
}

/**
 * What depends on the first statement, and all that changes what those statements work on.
 * @param others statements that are made again in each fold as the first one is
 */
export function preparationFrom(
  context: RepairContext,
  statements: readonly Stmt[],
  others: readonly Stmt[] = [],
): Preparation {
  const [first] = statements;
  const names = new Set<string>();
  let chosen: Stmt[] = [];
  const affected = new Map(statements.map((statement) => [statement, effectsIfKnown(context, statement)]));
  const anywhere = new Set([...affected.values()].flatMap((effects) => effects.map(({ name }) => name)));
  for (let size = -1; size !== names.size; ) {
    size = names.size;
    chosen = statements.filter(
      (statement) =>
        statement.type !== 'delete' &&
        !makesRoom(statement) &&
        !isOtherColumn(context, first, statement, names) &&
        (statement === first ||
          others.includes(statement) ||
          outerNamesIn(statement).some(({ id }) => names.has(id))) &&
        effectsOf(context, statement).length > 0,
    );
    for (const statement of chosen) {
      for (const { name } of affected.get(statement) ?? []) names.add(name);
      // What is read here and changed by another line on the way is not the same in the fold.
      for (const { id } of outerNamesIn(statement)) if (anywhere.has(id)) names.add(id);
    }
  }
  for (const statement of chosen) {
    const text = context.source.slice(statement.start, statement.end);
    if (/"""|'''/.test(text)) throw new NotFollowed('a text of several lines is in the preparation');
    if (WRITES.test(text)) throw new NotFollowed('the preparation writes a file');
    if (RANDOM.test(text)) throw new NotFollowed('the preparation draws at random');
    const isPlain = [...statementsIn(statement)].every(({ type }) =>
      /^(assign|augmented|expression|for|if)$/.test(type),
    );
    if (!isPlain) throw new NotFollowed('the preparation holds more than assignments, loops and conditions');
  }
  return { statements: chosen, names, ...startsOf(context, chosen, names) };
}

/** `y = data["price"]`, where the lines since the first one change other columns of the table alone. */
function isOtherColumn(
  { module, watchedLists }: RepairContext,
  first: Stmt | undefined,
  statement: Stmt,
  names: ReadonlySet<string>,
): boolean {
  const [target, other] = statement.type === 'assign' ? statement.targets : [];
  const column = statement.type === 'assign' ? plainColumn(statement.value) : undefined;
  if (first === undefined || column === undefined || target?.type !== 'name' || other !== undefined)
    return false;
  const watched = { name: column.name, lists: watchedLists };
  return !names.has(target.id) && isKnownBefore(module, column.frame, first, statement, watched);
}

/** The part of a preparation that the folds read something of. */
export function neededIn(context: RepairContext, { body }: For, preparation: Preparation): Preparation {
  const needed = new Set(body.statements.flatMap((inner) => [...namesIn(inner)].map(({ id }) => id)));
  // `clone(model)` takes what the model was made with, not what it has learned.
  for (const name of clonedAlone(body.statements)) needed.delete(name);
  const statements = preparation.statements.toReversed().filter((statement) => {
    const isNeeded = effectsOf(context, statement).some(({ name }) => needed.has(name));
    if (isNeeded) for (const { id } of outerNamesIn(statement)) needed.add(id);
    return isNeeded;
  });
  const names = new Set([...preparation.names].filter((name) => needed.has(name)));
  return { statements: statements.toReversed(), names, ...startsOf(context, statements.toReversed(), names) };
}

/** Variables that are read in nothing but `clone(…)`. */
function clonedAlone(statements: readonly Stmt[]): string[] {
  const cloned: string[] = [];
  const read: string[] = [];
  for (const part of statements
    .flatMap((outer) => [...statementsIn(outer)])
    .flatMap((inner) => ownExpressions(inner).flatMap((own) => [...expressionsIn(own)]))) {
    if (part.type === 'name') read.push(part.id);
    const [only] = part.type === 'call' && calleeName(part) === 'clone' ? part.args : [];
    if (only?.value.type === 'name') cloned.push(only.value.id);
  }
  const count = (names: readonly string[], wanted: string): number =>
    names.filter((name) => name === wanted).length;
  return cloned.filter((name) => count(read, name) === count(cloned, name));
}

/** What a statement does, where that is known; it only has to be known of those that are made again. */
function effectsIfKnown(context: RepairContext, statement: Stmt): ReturnType<typeof effectsOf> {
  try {
    return effectsOf(context, statement);
  } catch (error) {
    if (error instanceof NotFollowed) return [];
    throw error;
  }
}

/** `oof, preds = np.zeros(len(X)), np.zeros(len(X_test))`: room for predictions, which says nothing about the rows. */
function makesRoom(statement: Stmt): boolean {
  if (statement.type !== 'assign') return false;
  const values = statement.value.type === 'sequence' ? statement.value.items : [statement.value];
  return values.every(
    (value) =>
      value.type === 'call' &&
      value.callee.type === 'attribute' &&
      /^(zeros|ones|empty|full)(_like)?$/.test(value.callee.name),
  );
}

function startsOf(
  context: RepairContext,
  statements: readonly Stmt[],
  names: ReadonlySet<string>,
): Pick<Preparation, 'starts' | 'fitted'> {
  const starts = new Map<string, 'same' | 'copy'>();
  const fitted = new Set<string>();
  const made = new Set<string>();
  for (const statement of statements) {
    for (const inner of statementsIn(statement)) {
      const targets = new Set(plainTargets(inner));
      for (const own of ownExpressions(inner)) {
        for (const name of outerNamesOf(own)) {
          const isRead = !targets.has(name) && names.has(name.id) && !made.has(name.id);
          if (isRead && !starts.has(name.id)) starts.set(name.id, 'same');
        }
      }
      // What a branch assigns may not be assigned at all.
      const isSure = statement.type !== 'if' && inner.suite.owner?.type !== 'if';
      if (isSure) for (const target of targets) if (target.type === 'name') made.add(target.id);
    }
    for (const { name, how } of effectsOf(context, statement)) {
      if (!starts.has(name)) continue;
      if (how === 'fits') fitted.add(name);
      else if (how === 'changes') starts.set(name, 'copy');
    }
  }
  for (const name of fitted) starts.delete(name);
  return { starts, fitted };
}

function plainTargets(statement: Stmt): ReturnType<typeof ownExpressions> {
  const targets =
    statement.type === 'assign' ? statement.targets : statement.type === 'for' ? [statement.target] : [];
  return targets.flatMap((target) => (target.type === 'sequence' ? target.items : [target]));
}
