import type { Stmt } from '../../syntax/ast.js';
import { functionAround, namesIn, statementsIn, suitesOf } from '../../syntax/walk.js';
import { countWork } from '../../values/work.js';
import {
  type Change,
  changesIn,
  loopsAround,
  newStatements,
  type PartPair,
  partPairs,
  plainText,
  type ScriptChange,
  statementsInBlock,
  type Version,
} from './script-change.js';

/**
 * Whether a rewrite changes a column of one part that it leaves as it was in the other: the model would then be
 * scored on other columns than it was trained on.
 */
export function partsDiffer(change: ScriptChange): string | undefined {
  // Copies of rows are meant for the training part alone.
  if (change.leaks.some(({ kind }) => kind === 'over-sampling' || kind === 'duplicated-rows'))
    return undefined;
  const added = new Set(newStatements(change));
  const changes = leafStatements(change).flatMap((statement) => changesIn(change.after.module, statement));
  for (const pair of partPairs(change)) {
    const [train, test] = [changesOfPart(pair, changes, pair.train), changesOfPart(pair, changes, pair.test)];
    const odd = [...train, ...test].find(
      ({ what, statement, name }) =>
        added.has(statement) &&
        !(name === pair.train ? test : train).some((other) => {
          countWork(1);
          return other.what === what;
        }),
    );
    if (odd !== undefined) {
      const left = odd.name === pair.train ? pair.test : pair.train;
      return `\`${left}\` would not be changed as \`${odd.name}\` is (${odd.what})`;
    }
  }
  return undefined;
}

function changesOfPart({ statements }: PartPair, changes: readonly Change[], name: string): Change[] {
  const from = Math.min(...statements.map(({ end }) => end));
  countWork(changes.length);
  return changes.filter(
    (one) => one.name === name && one.statement.start >= from && !statements.includes(one.statement),
  );
}

function leafStatements({ after }: ScriptChange): Stmt[] {
  return after.module.body.statements
    .flatMap((outer) => [...statementsIn(outer)])
    .filter((statement) => suitesOf(statement).length === 0);
}

/** Whether a rewrite gives a variable a value that the very next statements replace before anything reads it. */
export function overwritten(change: ScriptChange): string | undefined {
  const added = new Set(newStatements(change));
  for (const statement of added) {
    const { statements } = statement.suite;
    for (const { name, replaces } of changesIn(change.after.module, statement)) {
      if (!replaces) continue;
      countWork(statements.length);
      const next = statements
        .slice(statements.indexOf(statement) + 1)
        .find((other) => [...namesIn(other)].some(({ id }) => id === name));
      if (next === undefined || suitesOf(next).length > 0) continue;
      if (changesIn(change.after.module, next).some((other) => other.name === name && other.replaces))
        return `\`${name}\` would be computed for one part and replaced by that of another`;
    }
  }
  return undefined;
}

/**
 * Whether a rewrite changes a table once in each turn of the loop that divides the rows, though it is made before
 * the loop: the second turn would work on what the first one left.
 */
export function repeated(change: ScriptChange): string | undefined {
  const { after, before } = change;
  const dividing = new Set(partPairs(change).flatMap(({ statements }) => statements.flatMap(loopsAround)));
  for (const loop of foldLoops(change)) dividing.add(loop);
  const headers = new Set([...dividing].map((loop) => header(after, loop)));
  const earlier = new Set(
    [...statementsInBlock(before)]
      .filter((statement) => loopsAround(statement).some((loop) => headers.has(header(before, loop))))
      .flatMap((statement) => changesIn(before.module, statement).map(({ name }) => name)),
  );
  for (const statement of newStatements(change)) {
    const loop = loopsAround(statement).find((one) => dividing.has(one));
    if (loop === undefined) continue;
    const turn = new Set(loop.type === 'for' ? namesOf(loop) : []);
    for (const { name, index, replaces } of changesIn(after.module, statement)) {
      if (replaces || earlier.has(name) || [...index].some((id) => turn.has(id))) continue;
      const isOwn =
        isLocalOfFunction(loop, statement, name) ||
        [...statementsIn(loop)].some(
          (other) =>
            other.start < statement.start &&
            changesIn(after.module, other).some((made) => made.name === name && made.replaces),
        );
      if (!isOwn) return `\`${name}\` would be changed again in every fold`;
    }
  }
  return undefined;
}

/** Whether a function that each turn of a loop defines gives a variable of its own another value. */
function isLocalOfFunction(loop: Stmt, statement: Stmt, name: string): boolean {
  const around = functionAround(statement);
  return (
    around !== undefined &&
    around.start > loop.start &&
    statement.type === 'assign' &&
    statement.targets.every((target) => target.type === 'name' && target.id === name)
  );
}

function header({ module }: Version, loop: Stmt): string {
  return loop.type === 'for' ? plainText(module, { start: loop.start, end: loop.iterable.end }) : '';
}

function namesOf(loop: Stmt): string[] {
  if (loop.type !== 'for') return [];
  const items = [loop.target];
  const names: string[] = [];
  for (let next = items.pop(); next !== undefined; next = items.pop()) {
    if (next.type === 'name') names.push(next.id);
    if (next.type === 'sequence') items.push(...next.items);
  }
  return names;
}

/** `for train, valid in folds.split(X):` */
function foldLoops({ after }: ScriptChange): Stmt[] {
  return [...statementsInBlock(after)].filter(
    (statement) =>
      statement.type === 'for' &&
      /\.split\(/.test(after.module.source.slice(statement.iterable.start, statement.iterable.end)),
  );
}
