import type { Leak } from '../../findings/find-leaks.js';
import type { Expr, Module, Span, Stmt, Suite } from '../../syntax/ast.js';
import { expressionsIn, ownExpressions, rootName, statementsIn, suitesOf } from '../../syntax/walk.js';
import { countText } from '../../values/work.js';
import { readSelections, readSplitCall, type SplitPart } from '../split-parts.js';

/** One side of a rewrite: a script, and the span of the block in it. */
export interface Version {
  readonly module: Module;
  readonly block: Span;
}

/** A rewrite as a whole: the leaks of the block, the script before and after. */
export interface ScriptChange {
  readonly leaks: readonly Leak[];
  readonly before: Version;
  readonly after: Version;
}

/** A variable that gets another value, or of which a part is changed in place. */
export interface Change {
  readonly name: string;
  /** What changes: a column by its text, `*` for the whole. */
  readonly what: string;
  /** Names in the index of what changes. */
  readonly index: ReadonlySet<string>;
  /** The variable takes a new value that is made without the old one. */
  readonly replaces: boolean;
  readonly statement: Stmt;
}

const IN_PLACE = /^(pop|insert|sort|fill|shuffle|update|setdefault|extend)$/;

export function textOf(module: Module, span: Span): string {
  countText(span.end - span.start);
  return module.source.slice(span.start, span.end);
}

/** Statements of a version that are in its block, those inside of others too. */
export function* statementsInBlock({ module, block }: Version): Generator<Stmt> {
  for (const outer of module.body.statements) {
    for (const statement of statementsIn(outer)) {
      if (statement.start >= block.start && statement.end <= block.end) yield statement;
    }
  }
}

/** Statements that hold no others and that the rewrite put in, changed, or moved into a loop. */
export function newStatements({ before, after }: ScriptChange): Stmt[] {
  const locationKey = ({ module }: Version, statement: Stmt): string =>
    `${loopsAround(statement).length} ${plainText(module, statement)}`;
  const known = new Set([...statementsInBlock(before)].map((statement) => locationKey(before, statement)));
  return [...statementsInBlock(after)].filter(
    (statement) => suitesOf(statement).length === 0 && !known.has(locationKey(after, statement)),
  );
}

/** The text without layout. */
export function plainText(module: Module, span: Span): string {
  return textOf(module, span).replaceAll(/\s+/g, '');
}

/** What one statement changes; a loop over tables changes each of the tables that it names. */
export function changesIn(module: Module, statement: Stmt): Change[] {
  const aliases = tablesOfLoops(statement);
  return directChanges(module, statement).flatMap((change) => {
    const tables = aliases.get(change.name);
    return tables === undefined ? [change] : tables.map((name) => ({ ...change, name, replaces: false }));
  });
}

function directChanges(module: Module, statement: Stmt): Change[] {
  const changes: Change[] = [];
  const add = (target: Expr, replaces: boolean): void => {
    const name = rootName(target);
    if (name === undefined) return;
    const last = target.type === 'subscript' ? target.indices.at(-1) : undefined;
    const index = new Set(
      target.type === 'subscript'
        ? target.indices.flatMap((part) =>
            [...expressionsIn(part)].flatMap((e) => (e.type === 'name' ? [e.id] : [])),
          )
        : [],
    );
    // A condition on the variable itself is the same condition, whichever part the variable holds.
    const own = new RegExp(`(?<![\\w.])${name}(?!\\w)`, 'g');
    const what = last === undefined ? '*' : plainText(module, last).replaceAll("'", '"').replaceAll(own, '…');
    changes.push({ name, what, index, replaces, statement });
  };
  if (statement.type === 'assign') {
    for (const target of flat(statement.targets)) {
      const reads = [...expressionsIn(statement.value)].some(
        (part) => part.type === 'name' && part.id === rootName(target),
      );
      add(target, target.type === 'name' && !reads);
    }
  }
  if (statement.type === 'augmented') add(statement.target, false);
  for (const own of ownExpressions(statement)) {
    for (const part of expressionsIn(own)) {
      if (part.type !== 'call' || part.callee.type !== 'attribute') continue;
      const isInPlace =
        IN_PLACE.test(part.callee.name) ||
        part.args.some(
          ({ name, value }) => name === 'inplace' && value.type === 'constant' && value.value === true,
        );
      if (isInPlace) add(part.callee.object, false);
    }
  }
  return changes;
}

function flat(targets: readonly Expr[]): Expr[] {
  return targets.flatMap((target) => (target.type === 'sequence' ? flat(target.items) : [target]));
}

/** `for frame in (train, valid):`, the loops around a statement: what their variable stands for. */
function tablesOfLoops(statement: Stmt): Map<string, string[]> {
  const aliases = new Map<string, string[]>();
  for (let owner = statement.suite.owner; owner !== undefined; owner = owner.suite.owner) {
    if (owner.type !== 'for' || owner.target.type !== 'name' || owner.iterable.type !== 'sequence') continue;
    const names = owner.iterable.items.flatMap((item) => (item.type === 'name' ? [item.id] : []));
    if (names.length > 0 && !aliases.has(owner.target.id)) aliases.set(owner.target.id, names);
  }
  return aliases;
}

/** Two parts of one table, with the statements that make them. */
export interface PartPair extends SplitPart {
  readonly statements: readonly Stmt[];
}

/** All pairs of parts that the rewritten script divides tables into, in the suites that the block reaches. */
export function partPairs({ leaks, after }: ScriptChange): PartPair[] {
  const [leak] = leaks;
  const suites = new Set<Suite>();
  for (const statement of statementsInBlock(after)) {
    let suite: Suite | undefined = statement.suite;
    while (suite !== undefined && !suites.has(suite)) {
      suites.add(suite);
      suite = suite.owner?.suite;
    }
  }
  const pairs: PartPair[] = [];
  for (const { statements } of suites) {
    const found = statements.map(readSplitCall);
    if (leak !== undefined) found.push(readSelections(after.module.source, statements, leak));
    for (const split of found) {
      for (const part of split?.parts ?? []) pairs.push({ ...part, statements: split?.statements ?? [] });
    }
  }
  return pairs;
}

/** The loops around a statement, innermost first. */
export function loopsAround(statement: Stmt): Stmt[] {
  const loops: Stmt[] = [];
  for (let owner = statement.suite.owner; owner !== undefined; owner = owner.suite.owner) {
    if (owner.type === 'for' || owner.type === 'while') loops.push(owner);
  }
  return loops;
}
