import { KNOWN_STARS } from '../library-models/star-imports.js';
import type {
  Assign,
  Call,
  ClassDefinition,
  Expr,
  For,
  FunctionDefinition,
  If,
  Stmt,
  Suite,
  Try,
} from '../syntax/ast.js';
import { expressionsIn, statementsIn } from '../syntax/walk.js';
import { newCell } from '../values/join.js';
import { type Cell, Scope } from '../values/store.js';
import {
  type ClassOf,
  constant,
  type FunctionOf,
  isElement,
  type Library,
  UNKNOWN,
  type Value,
} from '../values/value.js';
import { argumentsOf } from './arguments.js';
import { assign, deleteTarget } from './assign.js';
import { callFunction, callValue, makeFunction } from './calls.js';
import { chosenBy, noteRowTest } from './choices.js';
import { rowsBefore } from './collecting.js';
import { evaluate, truthOf } from './expressions.js';
import { type Engine, type Interpreter, SYNTAX } from './interpreter.js';
import { type Elements, elementsOf } from './iterate.js';
import { isMarimoCell } from './marimo.js';
import { binaryValue } from './operators.js';
import { counterOf } from './row-events.js';
import { foldsIn, takeOneFold } from './splitters.js';

/** Where the code goes after a statement. */
export type Flow = 'next' | 'return' | 'break' | 'continue' | 'raise';

/** Loops over more known elements than this are run as over one unknown element. */
const MAX_UNROLLED = 12;

/** Modules whose names are imported by `*`; each unknown name is looked up in all of them. */
const MAX_STARS = 64;

export function runSuite(interp: Interpreter, suite: Suite): Flow {
  for (const statement of suite.statements) {
    if (!interp.step()) return 'next';
    const flow = runStatement(interp, statement);
    if (flow !== 'next') return flow;
  }
  return 'next';
}

function runStatement(interp: Interpreter, statement: Stmt): Flow {
  if (!interp.enter(statement)) return 'next';
  const outer = interp.statement;
  interp.statement = statement;
  interp.watchpoints.reach(statement, interp.scope, (value) => interp.dataOf(value));
  const flow = execute(interp, statement);
  interp.statement = outer;
  interp.leave();
  return flow;
}

function execute(interp: Interpreter, statement: Stmt): Flow {
  switch (statement.type) {
    case 'assign': {
      const made = evaluate(interp, statement.value);
      const value = goesOnFrom(interp, statement, made) ? lasting(interp, made) : made;
      for (const target of statement.targets) assign(interp, target, value, statement.value);
      return 'next';
    }
    case 'augmented': {
      const added = evaluate(interp, statement.value);
      const before = evaluate(interp, statement.target);
      const made = binaryValue(interp, statement.operator, before, added, {
        node: statement.value,
        left: statement.target,
        right: statement.value,
      });
      const isSameList = before.type === 'sequence' && made.type === 'sequence' && !before.cell.value.tuple;
      if (isSameList) interp.store.write(before.cell, made.cell.value);
      const value = isSameList ? before : lasting(interp, made);
      assign(interp, statement.target, value, statement.value);
      return 'next';
    }
    case 'expression':
      evaluate(interp, statement.value);
      return 'next';
    case 'if':
      return runIf(interp, statement);
    case 'for':
      return runFor(interp, statement);
    case 'while': {
      evaluate(interp, statement.test);
      const rounds = Math.min(2, interp.mayUnroll(2));
      interp.context.enterLoop({
        statement,
        isComplete: false,
        before: rowsBefore(interp, statement),
        rounds,
      });
      const first = runSuite(interp, statement.body);
      if (rounds > 1 && (first === 'next' || first === 'continue')) {
        evaluate(interp, statement.test);
        runSuite(interp, statement.body);
      }
      interp.context.leaveLoop();
      if (statement.orelse !== undefined) runSuite(interp, statement.orelse);
      return 'next';
    }
    case 'try':
      return runTry(interp, statement);
    case 'with':
      for (const { value, target } of statement.items) {
        const entered = evaluate(interp, value);
        if (target !== undefined) assign(interp, target, entered, value);
      }
      return runSuite(interp, statement.body);
    case 'function':
      if (isMarimoCell(interp, statement)) interp.marimoCells.push(statement);
      define(interp, statement.name, decorated(interp, statement, makeFunction(interp, statement)));
      return 'next';
    case 'class':
      define(interp, statement.name, decorated(interp, statement, makeClass(interp, statement)));
      return 'next';
    case 'return': {
      const value = statement.value === undefined ? constant(null) : evaluate(interp, statement.value);
      interp.context.addReturn(value);
      return 'return';
    }
    case 'import':
      for (const { name, path } of statement.bindings) {
        define(interp, name, { type: 'library', path } satisfies Library);
      }
      if (statement.star !== undefined && interp.stars.size < MAX_STARS) interp.stars.add(statement.star);
      if (statement.star !== undefined && !KNOWN_STARS.test(statement.star))
        interp.skip(statement, `names imported by * from ${statement.star}`);
      return 'next';
    case 'delete':
      for (const target of statement.targets) deleteTarget(interp, target);
      return 'next';
    case 'jump':
      return statement.keyword;
    case 'global':
      for (const name of statement.names) {
        const outer = statement.isOuter === true ? interp.scope.parent?.lookup(name) : undefined;
        // The variable of the function around is this one: both names hold the same cell.
        if (outer !== undefined) interp.scope.names.set(name, outer);
        else interp.scope.globals.add(name);
      }
      return 'next';
    case 'other':
      if (statement.error) interp.skip(statement, SYNTAX);
      for (const part of statement.parts) evaluate(interp, part);
      if (statement.suites.length > 0) {
        interp.store.branches(statement.suites.map((suite) => () => goesOn(runSuite(interp, suite))));
      }
      return 'next';
  }
}

/** A value that each round makes of that of the round before: not known where not every round is run. */
function lasting(interp: Interpreter, value: Value): Value {
  return interp.context.isInIncompleteLoop && value.type === 'constant' ? UNKNOWN : value;
}

/** Whether a variable of constants gets another one: in the end it may hold a third. */
function goesOnFrom(interp: Interpreter, { targets: [target] }: Assign, value: Value): boolean {
  if (!interp.context.isInIncompleteLoop || target?.type !== 'name' || value.type !== 'constant')
    return false;
  const before = interp.scope.lookup(target.id)?.value;
  return before?.type === 'constant' && before.value !== value.value;
}

function goesOn(flow: Flow): boolean {
  return flow === 'next';
}

function define(interp: Interpreter, name: string, value: Value): void {
  const cell = interp.scope.names.get(name);
  if (cell === undefined) interp.scope.names.set(name, newCell(value));
  else if (cell.value.type === 'library' && value.type === 'library') {
    // `try: from a import X / except ImportError: from b import X`: the first one counts.
    if (interp.statement.suite.owner?.type !== 'try') interp.store.write(cell, value);
  } else interp.store.write(cell, value);
}

/** What the decorators of the script make of a function or class; those of libraries are taken to leave it as it is. */
function decorated(
  interp: Interpreter,
  statement: FunctionDefinition | ClassDefinition,
  made: FunctionOf | ClassOf,
): Value {
  let value: Value = made;
  for (const decorator of statement.decorators.toReversed()) {
    const callee = evaluate(interp, decorator);
    if (callee.type !== 'function') continue;
    const call: Call = {
      type: 'call',
      callee: decorator,
      args: [],
      start: decorator.start,
      end: decorator.end,
    };
    value = callValue(interp, callee, argumentsOf([value], [decorator]), call);
  }
  return value;
}

function makeClass(interp: Interpreter, statement: Stmt & { type: 'class' }): ClassOf {
  const bases = statement.bases.map((base) => evaluate(interp, base));
  const scope = new Scope(interp.scope, true);
  const outer = interp.scope;
  interp.scope = scope;
  runSuite(interp, statement.body);
  interp.scope = outer;
  const members: Map<string, Cell<Value>> = scope.names;
  return { type: 'class', definition: statement, members, bases };
}

function runIf(interp: Interpreter, statement: If): Flow {
  const runs: (() => Flow)[] = [];
  let hasElse = false;
  for (const { test, body } of statement.branches) {
    const value = test === undefined ? undefined : evaluate(interp, test);
    const truth = value === undefined ? true : truthOf(value);
    if (truth === false) continue;
    if (value !== undefined) noteRowTest(interp, value);
    const choice = value === undefined || test === undefined ? [] : chosenBy(interp, value, test, statement);
    runs.push(() => {
      interp.context.enterBranch(choice);
      const flow = runSuite(interp, body);
      interp.context.leaveBranch();
      return flow;
    });
    if (truth === true) {
      hasElse = true;
      break;
    }
  }
  return runBranches(interp, hasElse ? runs : [...runs, () => 'next']);
}

/** Runs alternatives; the code goes on where at least one of them does. */
function runBranches(interp: Interpreter, runs: readonly (() => Flow)[]): Flow {
  const only = runs[0];
  if (runs.length === 1 && only !== undefined) return only();
  const flows: Flow[] = [];
  const anyGoesOn = interp.store.branches(
    runs.map((run) => () => {
      const flow = run();
      flows.push(flow);
      return goesOn(flow);
    }),
  );
  return anyGoesOn ? 'next' : (flows[0] ?? 'next');
}

function certainlyRaises(body: Suite): boolean {
  return body.statements.some((statement) => statement.type === 'jump' && statement.keyword === 'raise');
}

/** The way through a `try` whose body raises by a statement of its own: one of the handlers goes on. */
function runHandlers(interp: Interpreter, statement: Try): Flow {
  const body = runSuite(interp, statement.body);
  if (body !== 'raise' || statement.handlers.length === 0) return body;
  return runBranches(
    interp,
    statement.handlers.map((handler) => () => runSuite(interp, handler)),
  );
}

/** Names a handler that changes data or models: what it does is not followed beyond it. */
function nameChanges(interp: Interpreter, handler: Suite): void {
  const [first] = handler.statements;
  const end = handler.statements.at(-1)?.end;
  if (first === undefined || end === undefined) return;
  const trains = hasTraining(interp, first.start, end);
  const changes = handler.statements
    .flatMap((statement) => [...statementsIn(statement)])
    .flatMap((statement) => (statement.type === 'assign' ? statement.targets : []))
    .flatMap((target) => [...expressionsIn(target)])
    .some((target) => target.type === 'name' && isData(interp.scope.lookup(target.id)?.value));
  if (trains || changes) interp.skip(first, 'what is trained or changed where an error is handled');
}

/** Whether a call that trains is between two positions; such calls are in the order of the script. */
function hasTraining(interp: Interpreter, start: number, end: number): boolean {
  const { trainings } = interp.module.landmarks;
  let [low, high] = [0, trainings.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((trainings[middle]?.start ?? end) < start) low = middle + 1;
    else high = middle;
  }
  return (trainings[low]?.end ?? Number.POSITIVE_INFINITY) <= end;
}

function isData(value: Value | undefined): boolean {
  return (
    value?.type === 'table' ||
    value?.type === 'estimator' ||
    (value?.type === 'opaque' && value.source !== undefined)
  );
}

function runTry(interp: Interpreter, statement: Try): Flow {
  for (const handler of statement.handlers) nameChanges(interp, handler);
  const flow = certainlyRaises(statement.body)
    ? runHandlers(interp, statement)
    : runBranches(interp, [
        () => {
          const body = runSuite(interp, statement.body);
          return body === 'next' && statement.orelse !== undefined
            ? runSuite(interp, statement.orelse)
            : body;
        },
        ...statement.handlers.map((handler) => (): Flow => {
          runSuite(interp, handler);
          // What a handler uses instead of data that could not be read must not blur the normal way through;
          // names that only the handler binds stay bound.
          return 'raise';
        }),
      ]);
  if (statement.final !== undefined) runSuite(interp, statement.final);
  return flow === 'raise' ? 'next' : flow;
}

/**
 * The elements that a loop is run with: each where they are known and few. Where that would multiply with the loops
 * around it, two stand for all; where these run the code often enough already, one.
 */
function roundsOf(
  interp: Interpreter,
  { known, common = UNKNOWN }: Elements,
): { readonly rounds: readonly Value[]; readonly isComplete: boolean } {
  const count = known === undefined || known.length > MAX_UNROLLED ? 2 : known.length;
  const allowed = interp.mayUnroll(count);
  if (known !== undefined && known.length <= Math.min(allowed, MAX_UNROLLED))
    return { rounds: known, isComplete: true };
  const [first = common, last = common] = known === undefined ? [] : [known[0], known.at(-1)];
  const areConstants = known?.every(({ type }) => type === 'constant') ?? true;
  const isLong = known !== undefined && known.length > MAX_UNROLLED;
  const two = areConstants || isLong ? [common, common] : [first, last];
  return { rounds: two.slice(-Math.min(allowed, 2)), isComplete: false };
}

function runFor(interp: Interpreter, statement: For): Flow {
  const iterable = evaluate(interp, statement.iterable);
  const elements = elementsOf(interp, iterable, statement.iterable);
  const { rounds, isComplete } = roundsOf(interp, elements);
  const within = isElement(iterable) ? interp.dataOf(iterable) : undefined;
  const before = rowsBefore(interp, statement);
  if (iterable.type === 'view' && iterable.form === 'groups') interp.scoresOfParts.addLoop(statement);
  const begun = interp.steps;
  for (const [at, element] of rounds.entries()) {
    if (!interp.step()) break;
    // Rounds that cost much are not all run: what each of them does was seen in the first.
    const isLast = at > 0 && interp.isCostly(((interp.steps - begun) / at) * (rounds.length - at));
    assign(interp, statement.target, element, statement.iterable);
    interp.context.enterRound(statement, counterOf(interp, statement.target, statement.iterable));
    interp.context.enterLoop({
      statement,
      isComplete: isComplete && !isLast,
      before,
      within,
      rounds: rounds.length,
    });
    for (const partition of foldsIn(element)) {
      interp.foldLoops.set(partition, statement);
      interp.foldRounds.begin(partition);
    }
    const flow = runSuite(interp, statement.body);
    interp.context.leaveLoop();
    interp.context.leaveRound();
    if (flow === 'break') takeOneFold(element);
    if (isLast || (flow === 'break' && isComplete)) break;
  }
  if (statement.orelse !== undefined) runSuite(interp, statement.orelse);
  return 'next';
}

/** Runs the body of a function with its parameters bound, and gives what it returns. */
function runBody(interp: Interpreter, body: Suite | Expr): void {
  if ('statements' in body) runSuite(interp, body);
  else interp.context.addReturn(evaluate(interp, body));
}

export const ENGINE: Engine = { evaluate, callValue, callFunction, runBody };
