import type { LeakKind } from '../kinds.js';
import {
  type Call,
  type Expr,
  type FunctionDefinition,
  lineIndex,
  type Module,
  type Span,
  type Stmt,
  type Suite,
} from '../syntax/ast.js';
import { type Facts, type FitEvent, joinFacts, NO_FACTS, wholeFacts } from '../values/facts.js';
import { type CutAt, type Partition, type Region, sourceRegion } from '../values/region.js';
import { Scope, Store } from '../values/store.js';
import { type FunctionOf, factsOf, KnownFacts, MAX_PARTS, type Value } from '../values/value.js';
import { countWork } from '../values/work.js';
import { AppendedCopies } from './appended-copies.js';
import type { Arguments } from './arguments.js';
import { CountedGroups } from './counted-groups.js';
import { ExecutionContext } from './execution-context.js';
import { FoldRounds } from './fold-rounds.js';
import { ColumnOrigins } from './label-copies.js';
import { OverlappingWindows } from './overlapping-windows.js';
import { RepeatedCalls } from './repeated-calls.js';
import { ScoreRecord } from './score-record.js';
import { ScoresOfParts } from './scores-of-parts.js';
import { SharedLayers } from './shared-layers.js';
import { StoredFiles } from './stored-files.js';
import { Watchpoints } from './watchpoints.js';

export interface NotFollowed {
  readonly line: number;
  readonly reason: string;
}

/** Methods by which a class of the script learns; those that get the rows to watch have the names of scikit-learn. */
const LEARNING_METHOD = /^fit/;
const FIT_METHOD = /^(partial_)?fit(_transform|_predict|_resample|_sample)?$/;

/** Why a statement with a syntax error is not followed. */
export const SYNTAX = 'syntax that could not be read';

/** Work per syntax node before calls are no longer followed: keeps the time linear in the script's length. */
const STEPS_PER_NODE = 24;
const MAX_CALL_DEPTH = 24;

/** Rounds of nested loops in which each element is run, through all calls; and where much of the work is done already. */
const MAX_ROUNDS = 36;
const MAX_LATE_ROUNDS = 4;

/**
 * Statements and expressions within each other, through all calls, beyond which nothing is followed: each level takes some
 * 1,000 bytes of the stack, which is 984,000 bytes where nobody asked for more.
 */
const MAX_NESTING = 400;

/** Maximum number of locations of code that is not followed. */
const MAX_NOT_FOLLOWED = 50;
/** Most of them that have the same reason. */
const MAX_LINES_OF_A_REASON = 20;

/** What runs code: handlers of calls and operators ask for it through the interpreter, which keeps imports in one direction. */
export interface Engine {
  evaluate(interp: Interpreter, expression: Expr): Value;
  callValue(interp: Interpreter, callee: Value, args: Arguments, call: Call): Value;
  callFunction(interp: Interpreter, fn: FunctionOf, args: Arguments, call: Call): Value;
  /** Runs the body of the function that was called last. */
  runBody(interp: Interpreter, body: Suite | Expr): void;
}

/** The state of one analysis: what is known at the point of execution that is being looked at. */
export class Interpreter {
  readonly #engine: Engine;
  readonly store = new Store();
  readonly record = new ScoreRecord();
  readonly watchpoints: Watchpoints;
  readonly notFollowed: NotFollowed[] = [];
  readonly context = new ExecutionContext();
  /** Rows that a network was validated on after each epoch, by the state of the network. */
  readonly validated = new Map<object, { facts: Facts; rowsText: string; isOnly: boolean }>();
  /** The loop that goes through the folds of a splitter. */
  readonly foldLoops = new Map<Partition, Stmt>();
  readonly foldRounds = new FoldRounds();
  readonly counted = new CountedGroups();
  readonly appended = new AppendedCopies();
  /** What detectors of outliers learned. */
  readonly detectors = new Set<FitEvent>();
  readonly columnOrigins = new ColumnOrigins();
  /** Columns of texts, as comparisons and mappings of them show. */
  readonly textColumns = new Set<string>();
  readonly calls = new RepeatedCalls();
  readonly windows = new OverlappingWindows();
  readonly scoresOfParts = new ScoresOfParts();
  readonly global = new Scope(undefined);
  scope = this.global;
  statement: Stmt;
  readonly lineOf: (offset: number) => number;

  /** Ends of the calls that were run; no two calls end at the same offset. */
  readonly reachedCalls = new Set<number>();

  /** Files by their name, or by the text that names them, with the key of the rows that were read first. */
  readonly filesRead = new Map<string, string>();

  readonly stored = new StoredFiles();
  readonly sharedLayers = new SharedLayers();

  /** Steps of work done so far. */
  steps = 0;
  #nesting = 0;
  readonly #budget: number;
  readonly #fits = new Map<string, FitEvent>();
  readonly #partitions = new Map<string, Partition>();
  readonly #sources = new Map<string, Region>();
  readonly #loaders = new Map<string, { node: Expr; statement: Stmt }>();
  /** Where rows of these origins were last put together. */
  readonly #joins = new Map<string, Stmt>();
  readonly #ids = new Map<object, number>();

  /** Cells of a marimo notebook, which run when all of them are known. */
  readonly marimoCells: FunctionDefinition[] = [];
  /** Modules whose names were imported by `*`. */
  readonly stars = new Set<string>();
  /** Where choices were saved to a file, what was chosen. */
  savedChoices: readonly FitEvent[] = [];
  /** Columns that are read from frames which do not have them. */
  readonly missingColumns = new Set<string>();
  /** Names that stand for nothing known: not bound, and no built-in. */
  readonly unresolved = new Set<string>();
  /** `watch`, `earlier`: offsets of statements at which to record what variables hold. */
  constructor(
    readonly module: Module,
    engine: Engine,
    watch = -1,
    earlier = -1,
  ) {
    this.#engine = engine;

    this.watchpoints = new Watchpoints(watch, earlier);
    this.lineOf = lineIndex(module.source);
    this.#budget = 20_000 + module.size * STEPS_PER_NODE;
    this.statement = module.body.statements[0] ?? {
      type: 'other',
      parts: [],
      suites: [],
      error: false,
      suite: module.body,
      start: 0,
      end: 0,
    };
  }

  evaluate(expression: Expr): Value {
    return this.#engine.evaluate(this, expression);
  }

  callValue(callee: Value, args: Arguments, call: Call): Value {
    return this.#engine.callValue(this, callee, args, call);
  }

  callFunction(fn: FunctionOf, args: Arguments, call: Call): Value {
    return this.#engine.callFunction(this, fn, args, call);
  }

  runBody(body: Suite | Expr): void {
    this.#engine.runBody(this, body);
  }

  /** Counts one step of work. False when the work allowed for a script of this size is used up. */
  step(): boolean {
    this.steps += 1;
    return this.steps < this.#budget;
  }

  /**
   * How many of so many rounds a loop may be run, given the loops around it: the work may not grow with their product.
   * Of the work that a script of this size may cause, most is kept for the code after the loop.
   */
  mayUnroll(count: number): number {
    const { rounds } = this.context;
    const isLate = this.steps > this.#budget / 4;
    if (rounds * count <= (isLate ? MAX_LATE_ROUNDS : MAX_ROUNDS)) return count;
    return rounds < (isLate ? MAX_LATE_ROUNDS : MAX_ROUNDS) ? Math.min(2, count) : 1;
  }

  /** Whether so many further steps are much of the work that a script of this size may cause. */
  isCostly(steps: number): boolean {
    return steps > this.#budget / 16;
  }

  /** Whether a call within others is left out: the function was run often, and half of the work is done. */
  isRepeated(fn: FunctionOf): boolean {
    return (
      this.steps > this.#budget / 2 &&
      this.steps < this.#budget &&
      this.context.frames.length > 0 &&
      this.calls.isSeen(fn)
    );
  }

  get exhausted(): boolean {
    return this.steps >= this.#budget;
  }

  /** Goes one level down, unless that is too deep; the caller returns with `leave`. */
  enter(span: Span): boolean {
    if (this.#nesting >= MAX_NESTING) {
      this.skip(span, 'code that is nested too deeply');
      return false;
    }
    this.#nesting += 1;
    return true;
  }

  leave(): void {
    this.#nesting -= 1;
  }

  mayCall(fn: FunctionOf): boolean {
    if (this.exhausted || this.context.frames.length >= MAX_CALL_DEPTH) return false;
    return this.context.frames.filter((frame) => frame.fn.definition === fn.definition).length < 2;
  }

  text(span: Span): string {
    countWork((span.end - span.start) >> 5);
    return this.module.source.slice(span.start, span.end);
  }

  /** Source text on one line, short enough for a sentence. */
  label(span: Span): string {
    // White space counts once: most texts need not be read to their end.
    for (let length = 240; ; length *= 4) {
      const end = Math.min(span.end, span.start + length);
      const text = this.text({ start: span.start, end }).replaceAll(/\s+/g, ' ');
      if (text.length > 60) return `${text.slice(0, 57)}...`;
      if (end === span.end) return text;
    }
  }

  /** Notes code that is not followed. One reason that many lines have leaves room for the others. */
  skip(span: Span, reason: string): void {
    const line = this.lineOf(span.start);
    if (this.notFollowed.length >= MAX_NOT_FOLLOWED) return;
    const alike = this.notFollowed.filter((known) => known.reason === reason);
    if (alike.length >= MAX_LINES_OF_A_REASON || alike.some((known) => known.line === line)) return;
    this.notFollowed.push({ line, reason });
  }

  idOf(thing: object): number {
    let id = this.#ids.get(thing);
    if (id === undefined) {
      id = this.#ids.size;
      this.#ids.set(thing, id);
    }
    return id;
  }

  rowsKey(rows: readonly Region[]): string {
    countWork(rows.length);
    return rows.map((region) => this.idOf(region)).join(',');
  }

  /** The one event for a computation over these rows at this location. */
  fit(
    kind: LeakKind,
    subject: string,
    rows: Pick<Facts, 'rows' | 'certain' | 'predicted'>,
    rowsText: string,
    node: Expr,
    statement?: Stmt,
    columns?: readonly string[],
  ): FitEvent {
    const key = `${columns?.join() ?? ''}:${kind}:${node.start}:${node.end}:${rows.certain}:${rows.predicted === true}:${this.rowsKey(rows.rows)}`;
    let event = this.#fits.get(key);
    if (event === undefined) {
      event = {
        kind,
        subject,
        rows: rows.rows,
        certain: rows.certain,
        rowsText,
        ...(rows.predicted === true ? { ofPredictions: true } : {}),
        ...(columns === undefined ? {} : { columns }),
        ...(statement === undefined
          ? this.#nodesOf(node, kind)
          : {
              node,
              statement,
              callers: isInSameFunction(statement, this.statement) ? this.context.callers : [],
            }),
        joinedBy: this.joinOf(rows.rows),
      };
      this.#fits.set(key, event);
    }
    this.context.addComputed(event);
    return event;
  }

  /** The one partition made at this location (`key` distinguishes several at one location, or one at several). */
  partition(key: string, form: Partition['form'], node: Expr, pieces?: string, at?: CutAt): Partition {
    let partition = this.#partitions.get(key);
    if (partition === undefined) {
      partition = {
        key,
        form,
        node,
        statement: this.statement,
        order: this.#partitions.size,
        ...(pieces === undefined ? {} : { pieces }),
        ...(at === undefined ? {} : { at }),
      };
      this.#partitions.set(key, partition);
    }
    return partition;
  }

  /** Key of a location in the code as it is reached through the current calls. */
  siteKey(node: Span): string {
    const calls = this.context.frames.map((frame) => frame.site).join('.');
    return `${node.start}-${node.end}@${calls}`;
  }

  source(key: string, label: string): Region {
    let region = this.#sources.get(key);
    if (region === undefined) {
      region = sourceRegion(label);
      const loop = this.context.innermostLoop;
      if (loop !== undefined) region.loop = loop;
      this.#sources.set(key, region);
    }
    return region;
  }

  /** What a value carries; rows of a source that the code only hands on are taken to be rows here. */
  dataOf(value: Value): Facts {
    return this.#partData(value, 0, new KnownFacts());
  }

  #partData(value: Value, depth: number, known: KnownFacts): Facts {
    if (value.type === 'opaque' && value.source !== undefined && value.facts.rows.length === 0) {
      const single = value.element === true;
      return { ...value.facts, rows: [value.source], ...(single ? { single } : {}) };
    }
    if (value.type === 'sequence' && depth < 4) {
      const { items, rest } = value.cell.value;
      return known.of(value.cell, depth, () => {
        let facts = NO_FACTS;
        countWork(Math.min(items.length, MAX_PARTS));
        for (const item of items.slice(0, MAX_PARTS))
          facts = joinFacts(facts, this.#partData(item, depth + 1, known));
        return wholeFacts(
          rest === undefined ? facts : joinFacts(facts, this.#partData(rest, depth + 1, known)),
        );
      });
    }
    if (value.type === 'instance' && depth < 4) {
      return known.of(value.attributes, depth, () => {
        let facts = NO_FACTS;
        for (const { value: attribute } of value.attributes.values()) {
          countWork(1);
          const isRows =
            attribute.type === 'table' || (attribute.type === 'opaque' && attribute.source !== undefined);
          facts = joinFacts(facts, isRows ? this.#partData(attribute, depth + 1, known) : factsOf(attribute));
        }
        return facts;
      });
    }
    return factsOf(value);
  }

  /**
   * Where a computation is to be named: the `fit` method of a class in the script is right as it is, so the
   * leak is where it is called.
   */
  #nodesOf(node: Expr, kind: LeakKind): Pick<FitEvent, 'node' | 'statement' | 'callers'> {
    const { frames, callers } = this.context;
    const method = kind === 'early-stopping' ? FIT_METHOD : LEARNING_METHOD;
    const at = frames.findIndex(
      ({ fn: { self, definition } }) =>
        self !== undefined && definition.type === 'function' && method.test(definition.name),
    );
    const caller = frames[at];
    return caller === undefined
      ? { node, statement: this.statement, callers }
      : { node: caller.call, statement: caller.statement, callers: callers.slice(frames.length - at) };
  }

  /** A loader over these rows: training in batches is named by the loader, not by the step. */
  recordLoader(rows: readonly Region[], node: Expr): void {
    this.#loaders.set(this.rowsKey(rows), { node, statement: this.statement });
  }

  loaderOf(rows: readonly Region[]): { node: Expr; statement: Stmt } | undefined {
    return this.#loaders.get(this.rowsKey(rows));
  }

  recordJoin(rows: readonly Region[]): void {
    if (rows.length < 2) return;
    const key = this.rowsKey(rows);
    const first = this.#joins.get(key);
    // Features and labels are put together side by side: the first of the two begins the block.
    const isNear =
      first !== undefined && Math.abs(this.lineOf(first.start) - this.lineOf(this.statement.start)) <= 4;
    if (!isNear) this.#joins.set(key, this.statement);
  }

  joinOf(rows: readonly Region[]): Stmt | undefined {
    return rows.length > 1 ? this.#joins.get(this.rowsKey(rows)) : undefined;
  }
}

/** Whether two statements are in one function, or both outside of any. */
function isInSameFunction(one: Stmt, other: Stmt): boolean {
  const functionOf = ({ suite }: Stmt): Stmt | undefined => {
    let { owner } = suite;
    while (owner !== undefined && owner.type !== 'function') owner = owner.suite.owner;
    return owner;
  };
  return functionOf(one) === functionOf(other);
}
