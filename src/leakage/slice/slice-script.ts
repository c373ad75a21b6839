import { createHash } from 'node:crypto';
import { lineIndex, type Span, type Stmt, type Suite } from '../syntax/ast.js';
import { parseModule } from '../syntax/parse-module.js';
import { suitesOf } from '../syntax/walk.js';
import { type KnownNames, namesOf, type StatementNames } from './statement-names.js';

/** The part of a script that its scores depend on. */
export interface ScriptSlice {
  /** Lines of the script as they are, and a comment line for each gap. */
  readonly text: string;
  /** What every such comment line has, and no line of the script. */
  readonly marker: string;
  /** Numbers of the first and the last line that are left out, from 1. */
  readonly gaps: readonly (readonly [first: number, last: number])[];
}

/** What must be in the slice besides what trains and scores. */
export interface NeededParts {
  readonly spans: readonly Span[];
  /** Line numbers, counted from 1. */
  readonly lines: readonly number[];
}

/** A shorter gap costs as much as the comment for it. */
const MIN_GAP = 3;
/** A slice that is longer than this fraction of the script saves too little. */
const MAX_FRACTION = 0.8;
/** Rounds in which the names are followed, forwards and backwards; honest scripts need a few. */
const MAX_ROUNDS = 30;
/** Functions that call one another, of which it is followed whether they change what they are passed. */
const MAX_CALL_DEPTH = 5;

interface Unit extends StatementNames {
  readonly statement: Stmt;
  readonly parent: Unit | undefined;
  included: boolean;
}

/**
 * The lines of a script that its scores depend on, by names alone: all statements that train or score, what uses their results, and
 * everything that binds or may change a name that one of these reads. Left out are plots, printed texts without a result, tables
 * that nothing reads, functions that nobody calls, and comments between them. A name is the same one in all scopes, so a slice has
 * rather too much than too little.
 *
 * @returns undefined where nothing may be left out: the script does not parse, reaches things without their names, or would lose
 *   hardly anything.
 */
export async function sliceScript(source: string, keep: NeededParts): Promise<ScriptSlice | undefined> {
  const module = await parseModule(source);
  const { landmarks } = module;
  if (
    !module.parsed ||
    landmarks.hidden.length > 0 ||
    module.unread.length > 0 ||
    module.magicCalls.length > 0
  )
    return undefined;
  const lineOf = lineIndex(source);
  const units = unitsOf(module.body);
  const forced = [...landmarks.trainings, ...landmarks.scorings, ...keep.spans];
  const lines = new Set(keep.lines);
  const isForced = ({ statement }: Unit) =>
    forced.some((span) => isIn(span, statement, suitesOf(statement))) || lines.has(lineOf(statement.start));
  const roots = units.filter(isForced);
  if (roots.length === 0 || !followNames(units, roots)) return undefined;

  const sourceLines = source.split('\n');
  const included = includedLines(units, lineOf, sourceLines.length);
  const gaps = gapsOf(included);
  const marker = createHash('sha256').update(source, 'utf8').digest('hex').slice(0, 8);
  const text = withGaps(sourceLines, gaps, marker);
  return gaps.length === 0 || text.length > source.length * MAX_FRACTION ? undefined : { text, marker, gaps };
}

/** Whether a span is in a statement itself, or is the statement; not in one of its suites. */
function isIn(span: Span, statement: Span, suites: readonly Suite[]): boolean {
  if (span.end <= statement.start || statement.end <= span.start) return false;
  return !suites.some(({ statements }) => {
    const [first, last] = [statements[0], statements.at(-1)];
    return first !== undefined && last !== undefined && first.start <= span.start && span.end <= last.end;
  });
}

interface Placed {
  readonly statement: Stmt;
  /** Index of the statement that holds it; -1: none. */
  readonly parent: number;
}

/** All statements; each comes after the one that holds it. */
function statementsOf(body: Suite): Placed[] {
  const placed: Placed[] = [];
  const open: { suite: Suite; parent: number }[] = [{ suite: body, parent: -1 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const statement of next.suite.statements) {
      const at = placed.push({ statement, parent: next.parent }) - 1;
      for (const suite of suitesOf(statement)) open.push({ suite, parent: at });
    }
  }
  return placed;
}

function unitsOf(body: Suite): Unit[] {
  const placed = statementsOf(body);
  const known = knownNames(placed);
  const units: Unit[] = [];
  for (const { statement, parent } of placed)
    units.push({ statement, parent: units[parent], included: false, ...namesOf(statement, known) });
  return units.sort((a, b) => a.statement.start - b.statement.start);
}

function knownNames(placed: readonly Placed[]): KnownNames {
  const modules = new Set<string>();
  const functions = new Map<string, boolean>();
  for (const { statement } of placed) {
    if (statement.type === 'import') for (const { name } of statement.bindings) modules.add(name);
    if (statement.type === 'function') functions.set(statement.name, true);
  }
  // A function that only reads what it is passed, and hands it on to none that changes it.
  let isFound = true;
  for (let depth = 0; isFound && depth < MAX_CALL_DEPTH; depth += 1) {
    isFound = false;
    const writing = new Set<string>();
    for (const { statement, parent } of placed) {
      const names = namesOf(statement, { modules, functions });
      for (let at = parent; at >= 0; at = placed[at]?.parent ?? -1) {
        const around = placed[at]?.statement;
        if (around?.type !== 'function') continue;
        if (around.params.some(({ name }) => names.writes.has(name))) writing.add(around.name);
      }
    }
    for (const [name, changes] of functions) {
      if (!changes || writing.has(name)) continue;
      functions.set(name, false);
      isFound = true;
    }
  }
  return { modules, functions };
}

/** Marks the units that the roots need. @returns false if the names go too far. */
function followNames(units: readonly Unit[], roots: readonly Unit[]): boolean {
  const results = new Set<string>();
  const needed = new Set<string>();
  const isShown = ({ shows }: Unit) => shows === 'plot';
  const keep = (unit: Unit): void => {
    for (let one: Unit | undefined = unit; one !== undefined && !one.included; one = one.parent) {
      one.included = true;
      for (const name of one.reads) needed.add(name);
    }
  };
  for (const root of roots) {
    keep(root);
    for (const name of root.writes) results.add(name);
  }
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const before = results.size + needed.size + units.filter(({ included }) => included).length;
    for (const unit of units) {
      if (isShown(unit) || !some(unit.reads, results)) continue;
      keep(unit);
      for (const name of unit.writes) results.add(name);
    }
    for (const unit of units.toReversed()) {
      if (unit.included || isShown(unit)) continue;
      const isWritten = some(unit.writes, needed);
      const { type } = unit.statement;
      const isPartOfIncluded = unit.parent?.included === true && isPartOf(type, unit.parent.statement.type);
      const isUnknown = type === 'other' || (type === 'import' && unit.statement.star !== undefined);
      if (isWritten || isPartOfIncluded || isUnknown) keep(unit);
    }
    if (results.size + needed.size + units.filter(({ included }) => included).length === before) return true;
  }
  return false;
}

/** A function says nothing without what it returns, nor a loop without its jumps, nor a class without its body. */
function isPartOf(type: Stmt['type'], around: Stmt['type']): boolean {
  return around === 'class' || type === 'return' || type === 'jump' || type === 'global';
}

function some(names: ReadonlySet<string>, of: ReadonlySet<string>): boolean {
  for (const name of names) if (of.has(name)) return true;
  return false;
}

/** Lines of included statements; of one with suites, those around its suites. */
function includedLines(units: readonly Unit[], lineOf: (offset: number) => number, count: number): boolean[] {
  const included = new Array<boolean>(count).fill(false);
  const set = (from: number, to: number, value: boolean) => {
    for (let line = from; line <= to; line += 1) included[line - 1] = value;
  };
  // A statement comes before those in its suites, which then decide about their own lines.
  for (const { statement, included: isIncluded } of units) {
    const decorators = 'decorators' in statement ? statement.decorators : [];
    const start = Math.min(statement.start, ...decorators.map((one) => one.start));
    set(lineOf(start), lineOf(Math.max(start, statement.end - 1)), isIncluded);
    for (const { statements } of suitesOf(statement)) {
      const [first, last] = [statements[0], statements.at(-1)];
      if (first !== undefined && last !== undefined) set(lineOf(first.start), lineOf(last.end - 1), false);
    }
  }
  // Two statements may be in one line.
  for (const { statement, included: isIncluded } of units)
    if (isIncluded) set(lineOf(statement.start), lineOf(statement.start), true);
  return included;
}

function gapsOf(included: readonly boolean[]): [number, number][] {
  const gaps: [number, number][] = [];
  let from = 0;
  for (let at = 0; at <= included.length; at += 1) {
    if (at < included.length && !included[at]) continue;
    if (at - from >= MIN_GAP) gaps.push([from + 1, at]);
    from = at + 1;
  }
  return gaps;
}

function withGaps(
  lines: readonly string[],
  gaps: readonly (readonly [number, number])[],
  marker: string,
): string {
  const shown: string[] = [];
  let next = 1;
  for (const [first, last] of gaps) {
    shown.push(...lines.slice(next - 1, first - 1), `# (${marker}) lines ${first}-${last} left out`);
    next = last + 1;
  }
  shown.push(...lines.slice(next - 1));
  return shown.join('\n');
}
