import type { Expr, For, If, Stmt, Suite, Try } from '../syntax/ast.js';
import { union } from '../values/facts.js';
import { newCell } from '../values/join.js';
import { type Cell, Scope } from '../values/store.js';
import { type ClassOf, constant, type Library, UNKNOWN, type Value } from '../values/value.js';
import { assign, deleteTarget } from './assign.js';
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
      const value = evaluate(machine, statement.value);
      for (const target of statement.targets) assign(machine, target, value, statement.value);
      return 'next';
    }
    case 'augmented': {
      const operand = evaluate(machine, statement.value);
      const before = evaluate(machine, statement.target);
      const value = binaryValue(machine, statement.operator, before, operand, {
        node: statement.value,
        left: statement.target,
        right: statement.value,
      });
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
      const first = runSuite(machine, statement.body);
      if (first === 'next' || first === 'continue') {
        evaluate(machine, statement.test);
        runSuite(machine, statement.body);
      }
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
      define(machine, statement.name, { type: 'function', definition: statement, scope: machine.scope });
      return 'next';
    case 'class':
      define(machine, statement.name, makeClass(machine, statement));
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
      for (const name of statement.names) machine.scope.globals.add(name);
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

function makeClass(machine: Machine, statement: Stmt & { type: 'class' }): ClassOf {
  const bases = statement.bases.map((base) => evaluate(machine, base));
  const scope = new Scope(machine.scope, true);
  const outer = machine.scope;
  machine.scope = scope;
  runSuite(machine, statement.body);
  machine.scope = outer;
  const members: ReadonlyMap<string, Cell<Value>> = scope.names;
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

function runTry(machine: Machine, statement: Try): Flow {
  const flow = runBranches(machine, [
    () => {
      const body = runSuite(machine, statement.body);
      return body === 'next' && statement.orelse !== undefined ? runSuite(machine, statement.orelse) : body;
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
    for (const partition of foldsIn(element)) machine.foldLoops.set(partition, statement);
    const flow = runSuite(machine, statement.body);
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
