import type {
  Assign,
  Call,
  ClassDefinition,
  Expr,
  For,
  FunctionDefinition,
  If,
  Lambda,
  Stmt,
  Suite,
  Try,
} from '../syntax/ast.js';
import { expressionsIn, statementsIn } from '../syntax/walk.js';
import { union } from '../values/facts.js';
import { newCell } from '../values/join.js';
import { type Cell, Scope } from '../values/store.js';
import {
  type ClassOf,
  constant,
  type FunctionOf,
  type Library,
  UNKNOWN,
  type Value,
} from '../values/value.js';
import { assign, deleteTarget } from './assign.js';
import { argumentsOf, callValue } from './calls.js';
import { chosenBy, noteRowTest } from './choices.js';
import { evaluate, truthOf } from './expressions.js';
import { elementsOf } from './iterate.js';
import type { Machine } from './machine.js';
import { binaryValue } from './operators.js';
import { foldsIn, takeOneFold } from './splitters.js';
import { slidingVariable } from './windows.js';

/** Where the code goes after a statement. */
export type Flow = 'next' | 'return' | 'break' | 'continue' | 'raise';

/** Loops over more known elements than this are run as over one unknown element. */
const MAX_UNROLLED = 12;

/** Modules whose names are imported by `*`; each unknown name is looked up in all of them. */
const MAX_STARS = 64;

export function runSuite(machine: Machine, suite: Suite): Flow {
  for (const statement of suite.statements) {
    if (!machine.step()) return 'next';
    const flow = runStatement(machine, statement);
    if (flow !== 'next') return flow;
  }
  return 'next';
}

function runStatement(machine: Machine, statement: Stmt): Flow {
  if (!machine.enter(statement)) return 'next';
  const outer = machine.statement;
  machine.statement = statement;
  machine.look(statement);
  const flow = execute(machine, statement);
  machine.statement = outer;
  machine.leave();
  return flow;
}

function execute(machine: Machine, statement: Stmt): Flow {
  switch (statement.type) {
    case 'assign': {
      const made = evaluate(machine, statement.value);
      const value = goesOnFrom(machine, statement, made) ? lasting(machine, made) : made;
      for (const target of statement.targets) assign(machine, target, value, statement.value);
      return 'next';
    }
    case 'augmented': {
      const operand = evaluate(machine, statement.value);
      const before = evaluate(machine, statement.target);
      const made = binaryValue(machine, statement.operator, before, operand, {
        node: statement.value,
        left: statement.target,
        right: statement.value,
      });
      const isSameList = before.type === 'sequence' && made.type === 'sequence' && !before.cell.value.tuple;
      if (isSameList) machine.store.write(before.cell, made.cell.value);
      const value = isSameList ? before : lasting(machine, made);
      assign(machine, statement.target, value, statement.value);
      return 'next';
    }
    case 'expression':
      evaluate(machine, statement.value);
      return 'next';
    case 'if':
      return runIf(machine, statement);
    case 'for':
      return runFor(machine, statement);
    case 'while': {
      evaluate(machine, statement.test);
      machine.loops.push(statement);
      machine.unfinishedLoops += 1;
      const first = runSuite(machine, statement.body);
      if (first === 'next' || first === 'continue') {
        evaluate(machine, statement.test);
        runSuite(machine, statement.body);
      }
      machine.unfinishedLoops -= 1;
      machine.loops.pop();
      if (statement.orelse !== undefined) runSuite(machine, statement.orelse);
      return 'next';
    }
    case 'try':
      return runTry(machine, statement);
    case 'with':
      for (const { value, target } of statement.items) {
        const entered = evaluate(machine, value);
        if (target !== undefined) assign(machine, target, entered, value);
      }
      return runSuite(machine, statement.body);
    case 'function':
      define(machine, statement.name, decorated(machine, statement, makeFunction(machine, statement)));
      return 'next';
    case 'class':
      define(machine, statement.name, decorated(machine, statement, makeClass(machine, statement)));
      return 'next';
    case 'return': {
      const value = statement.value === undefined ? constant(null) : evaluate(machine, statement.value);
      machine.frames.at(-1)?.returns.push(value);
      return 'return';
    }
    case 'import':
      for (const { name, path } of statement.bindings) {
        define(machine, name, { type: 'library', path } satisfies Library);
      }
      if (statement.star !== undefined && machine.stars.size < MAX_STARS) machine.stars.add(statement.star);
      if (statement.star !== undefined) machine.skip(statement, `names imported by * from ${statement.star}`);
      return 'next';
    case 'delete':
      for (const target of statement.targets) deleteTarget(machine, target);
      return 'next';
    case 'jump':
      return statement.keyword;
    case 'global':
      for (const name of statement.names) {
        const outer = statement.isOuter === true ? machine.scope.parent?.lookup(name) : undefined;
        // The variable of the function around is this one: both names hold the same cell.
        if (outer !== undefined) machine.scope.names.set(name, outer);
        else machine.scope.globals.add(name);
      }
      return 'next';
    case 'other':
      if (statement.error) machine.skip(statement, 'syntax that could not be read');
      for (const part of statement.parts) evaluate(machine, part);
      if (statement.suites.length > 0) {
        machine.store.branches(statement.suites.map((suite) => () => goesOn(runSuite(machine, suite))));
      }
      return 'next';
  }
}

/** A value that each round makes of that of the round before: not known where not every round is run. */
function lasting(machine: Machine, value: Value): Value {
  return machine.unfinishedLoops > 0 && value.type === 'constant' ? UNKNOWN : value;
}

/** Whether a variable of constants gets another one: in the end it may hold a third. */
function goesOnFrom(machine: Machine, { targets: [target] }: Assign, value: Value): boolean {
  if (machine.unfinishedLoops === 0 || target?.type !== 'name' || value.type !== 'constant') return false;
  const before = machine.scope.lookup(target.id)?.value;
  return before?.type === 'constant' && before.value !== value.value;
}

function goesOn(flow: Flow): boolean {
  return flow === 'next';
}

function define(machine: Machine, name: string, value: Value): void {
  const cell = machine.scope.names.get(name);
  if (cell === undefined) machine.scope.names.set(name, newCell(value));
  else if (cell.value.type === 'library' && value.type === 'library') {
    // `try: from a import X / except ImportError: from b import X`: the first one counts.
    if (machine.statement.suite.owner?.type !== 'try') machine.store.write(cell, value);
  } else machine.store.write(cell, value);
}

/** A function with the values of its parameters as they are now. */
export function makeFunction(machine: Machine, definition: FunctionDefinition | Lambda): FunctionOf {
  const defaults = new Map<string, Value>();
  for (const { name, fallback } of definition.params) {
    if (fallback !== undefined) defaults.set(name, evaluate(machine, fallback));
  }
  return { type: 'function', definition, scope: machine.scope, ...(defaults.size > 0 ? { defaults } : {}) };
}

/** What the decorators of the script make of a function or class; those of libraries are taken to leave it as it is. */
function decorated(
  machine: Machine,
  statement: FunctionDefinition | ClassDefinition,
  made: FunctionOf | ClassOf,
): Value {
  let value: Value = made;
  for (const decorator of statement.decorators.toReversed()) {
    const callee = evaluate(machine, decorator);
    if (callee.type !== 'function') continue;
    const call: Call = {
      type: 'call',
      callee: decorator,
      args: [],
      start: decorator.start,
      end: decorator.end,
    };
    value = callValue(machine, callee, argumentsOf([value], [decorator]), call);
  }
  return value;
}

function makeClass(machine: Machine, statement: Stmt & { type: 'class' }): ClassOf {
  const bases = statement.bases.map((base) => evaluate(machine, base));
  const scope = new Scope(machine.scope, true);
  const outer = machine.scope;
  machine.scope = scope;
  runSuite(machine, statement.body);
  machine.scope = outer;
  const members: Map<string, Cell<Value>> = scope.names;
  return { type: 'class', definition: statement, members, bases };
}

function runIf(machine: Machine, statement: If): Flow {
  const runs: (() => Flow)[] = [];
  let hasElse = false;
  for (const { test, body } of statement.branches) {
    const value = test === undefined ? undefined : evaluate(machine, test);
    const truth = value === undefined ? true : truthOf(value);
    if (truth === false) continue;
    if (value !== undefined) noteRowTest(machine, value);
    const choice = value === undefined || test === undefined ? [] : chosenBy(machine, value, test, statement);
    runs.push(() => {
      const outer = machine.choices;
      machine.choices = union(outer, choice);
      const flow = runSuite(machine, body);
      machine.choices = outer;
      return flow;
    });
    if (truth === true) {
      hasElse = true;
      break;
    }
  }
  return runBranches(machine, hasElse ? runs : [...runs, () => 'next']);
}

/** Runs alternatives; the code goes on where at least one of them does. */
function runBranches(machine: Machine, runs: readonly (() => Flow)[]): Flow {
  const only = runs[0];
  if (runs.length === 1 && only !== undefined) return only();
  const flows: Flow[] = [];
  const anyGoesOn = machine.store.branches(
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
function runHandlers(machine: Machine, statement: Try): Flow {
  const body = runSuite(machine, statement.body);
  if (body !== 'raise' || statement.handlers.length === 0) return body;
  return runBranches(
    machine,
    statement.handlers.map((handler) => () => runSuite(machine, handler)),
  );
}

/** Names a handler that changes data or models: what it does is not followed beyond it. */
function nameChanges(machine: Machine, handler: Suite): void {
  const [first] = handler.statements;
  const end = handler.statements.at(-1)?.end;
  if (first === undefined || end === undefined) return;
  const trains = hasTraining(machine, first.start, end);
  const changes = handler.statements
    .flatMap((statement) => [...statementsIn(statement)])
    .flatMap((statement) => (statement.type === 'assign' ? statement.targets : []))
    .flatMap((target) => [...expressionsIn(target)])
    .some((target) => target.type === 'name' && isData(machine.scope.lookup(target.id)?.value));
  if (trains || changes) machine.skip(first, 'what is trained or changed where an error is handled');
}

/** Whether a call that trains stands between two places; such calls are in the order of the script. */
function hasTraining(machine: Machine, start: number, end: number): boolean {
  const { trainings } = machine.module.landmarks;
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

function runTry(machine: Machine, statement: Try): Flow {
  for (const handler of statement.handlers) nameChanges(machine, handler);
  const flow = certainlyRaises(statement.body)
    ? runHandlers(machine, statement)
    : runBranches(machine, [
        () => {
          const body = runSuite(machine, statement.body);
          return body === 'next' && statement.orelse !== undefined
            ? runSuite(machine, statement.orelse)
            : body;
        },
        ...statement.handlers.map((handler) => (): Flow => {
          runSuite(machine, handler);
          // What a handler puts in place of data that could not be read must not blur the normal way through;
          // names that only the handler binds stay bound.
          return 'raise';
        }),
      ]);
  if (statement.final !== undefined) runSuite(machine, statement.final);
  return flow === 'raise' ? 'next' : flow;
}

function runFor(machine: Machine, statement: For): Flow {
  const iterable = evaluate(machine, statement.iterable);
  const elements = elementsOf(machine, iterable, statement.iterable);
  const known = elements.known !== undefined && elements.known.length <= MAX_UNROLLED;
  const rounds: readonly Value[] = known
    ? (elements.known ?? [])
    : [elements.common ?? UNKNOWN, elements.common ?? UNKNOWN];
  for (const element of rounds) {
    if (!machine.step()) break;
    assign(machine, statement.target, element, statement.iterable);
    const sliding = slidingVariable(statement.target, statement.iterable);
    if (sliding !== undefined) machine.sliding.push(sliding);
    machine.loops.push(statement);
    if (!known) machine.unfinishedLoops += 1;
    for (const partition of foldsIn(element)) machine.foldLoops.set(partition, statement);
    const flow = runSuite(machine, statement.body);
    if (!known) machine.unfinishedLoops -= 1;
    machine.loops.pop();
    if (sliding !== undefined) machine.sliding.pop();
    if (flow === 'break') takeOneFold(element);
    if (flow === 'break' && known) break;
  }
  if (statement.orelse !== undefined) runSuite(machine, statement.orelse);
  return 'next';
}

/** Runs the body of a function with its parameters bound, and gives what it returns. */
export function runBody(machine: Machine, body: Suite | Expr): void {
  if ('statements' in body) runSuite(machine, body);
  else machine.frames.at(-1)?.returns.push(evaluate(machine, body));
}
