import type { Call, Expr, FunctionDefinition, Module, Span, Stmt } from '../../syntax/ast.js';
import { expressionsIn } from '../../syntax/walk.js';
import { freshName } from '../context.js';
import { itemsOf } from '../tidy/draft.js';
import { argumentsOf, type PassedArgument } from './arguments.js';
import { boundIn, boundWithin, namesInSuite, type Scope, statementsOfSuite } from './scopes.js';

/** A function that is to be inlined, and its call. */
export interface Situation {
  readonly module: Module;
  readonly definition: FunctionDefinition;
  /** Its statements that count. */
  readonly body: readonly Stmt[];
  /** What it gives in the end. */
  readonly result: Expr | undefined;
  readonly statement: Stmt;
  readonly call: Call;
  readonly scope: Scope;
}

interface Locals {
  /** What the names of the function become where it is called. */
  readonly names: ReadonlyMap<string, string>;
  /** Lines that give parameters their values. */
  readonly bindings: readonly string[];
}

/** The names of a function where its lines are put instead of its call; undefined where two variables could become one. */
export function localNames(situation: Situation): Locals | undefined {
  const { module, definition, body, call, scope } = situation;
  const args = argumentsOf(definition, call, scope);
  const assigned = boundIn(body);
  const locals = new Set([...definition.params.map(({ name }) => name), ...assigned]);
  const inner = boundWithin(body);
  const isGlobal = globalNames(module).some((name) => locals.has(name));
  if (args === undefined || isGlobal || [...locals].some((name) => inner.has(name))) return undefined;
  const outer = namesInSuite(body).flatMap(({ id }) => (locals.has(id) || inner.has(id) ? [] : [id]));
  // In a function around, such a name is another variable.
  if (scope.owner !== undefined && outer.some((id) => scope.bound.has(id))) return undefined;
  return new Naming(situation, { args, assigned, locals, taken: new Set([...outer, ...inner]) }).locals();
}

interface Names {
  readonly args: readonly PassedArgument[];
  readonly assigned: ReadonlySet<string>;
  readonly locals: ReadonlySet<string>;
  /** Names that mean something else in the body. */
  readonly taken: ReadonlySet<string>;
}

class Naming {
  readonly #situation: Situation;
  readonly #known: Names;
  /** What the statement of the call assigns. */
  readonly #targets: ReadonlySet<string>;
  /** Names that functions read where the script itself calls: they would see what the inlined lines do. */
  readonly #read: ReadonlySet<string>;
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();

  constructor(situation: Situation, known: Names) {
    this.#situation = situation;
    this.#known = known;
    this.#targets = targetsOutside(situation);
    this.#read = readInFunctions(situation);
  }

  locals(): Locals | undefined {
    const { args, assigned, locals } = this.#known;
    const substituted = this.#nameParameters(new Set());
    this.#nameResults();
    for (const local of locals) if (!this.#nameLocal(local)) return undefined;
    // What stands for a parameter must stay what it was.
    const changed = new Set([...assigned].map((name) => this.#names.get(name) ?? name));
    const rebound = [...substituted].filter(([, argument]) => changed.has(argument)).map(([name]) => name);
    for (const name of rebound) {
      this.#names.delete(name);
      if (!this.#nameLocal(name)) return undefined;
    }
    return { names: this.#names, bindings: args.flatMap((argument) => this.#binding(argument)) };
  }

  /** Parameters that can have the name of what they are passed. Returns those that become another variable of the script. */
  #nameParameters(substituted: Set<[string, string]>): ReadonlySet<[string, string]> {
    const { source } = this.#situation.module;
    for (const { name, value } of this.#known.args) {
      const argument = value.type === 'name' ? value.id : undefined;
      const isRebound = this.#known.assigned.has(name);
      if (argument !== undefined && isRebound && this.#isReplaced(argument)) {
        if (argument === name || !this.#isInBody(argument)) this.#take(name, argument);
      } else if (argument === name && !isRebound) this.#take(name, name);
      else if (!isRebound && isSubstitutable(value, source, name)) {
        this.#names.set(name, source.slice(value.start, value.end));
        if (argument !== undefined) substituted.add([name, argument]);
      }
    }
    return substituted;
  }

  /** Whether the statement of the call gives a variable another value, so that the lines of the function may do so before. */
  #isReplaced(name: string): boolean {
    return this.#targets.has(name) && !this.#read.has(name) && !this.#taken.has(name);
  }

  #isInBody(name: string): boolean {
    return this.#known.locals.has(name) || this.#known.taken.has(name);
  }

  #take(name: string, becomes: string): void {
    this.#names.set(name, becomes);
    this.#taken.add(becomes);
  }

  /** What the function gives is called what it is called where it is taken. */
  #nameResults(): void {
    const { locals } = this.#known;
    for (const [local, wanted] of resultNames(this.#situation)) {
      const isOpen =
        this.#isFree(wanted) && !this.#isArgument(wanted) && (wanted === local || !locals.has(wanted));
      if (locals.has(local) && !this.#names.has(local) && isOpen) this.#take(local, wanted);
    }
  }

  #nameLocal(local: string): boolean {
    const { module, definition, body, scope } = this.#situation;
    if (this.#names.has(local)) return true;
    const isOpen = !scope.names.has(local) || (this.#targets.has(local) && !this.#isArgument(local));
    const isSame = isOpen && this.#isFree(local);
    if (!isSame && isImported(body, local)) return false;
    this.#take(local, isSame ? local : freshName(module.source, `${definition.name}_${local}`, this.#taken));
    return true;
  }

  #isFree(name: string): boolean {
    return !this.#taken.has(name) && !this.#known.taken.has(name) && !this.#read.has(name);
  }

  #isArgument(name: string): boolean {
    return this.#situation.call.args.some(({ value }) =>
      [...expressionsIn(value)].some((part) => part.type === 'name' && part.id === name),
    );
  }

  #binding({ name, value }: PassedArgument): string[] {
    const plain = this.#situation.module.source.slice(value.start, value.end);
    const becomes = this.#names.get(name) ?? name;
    if (becomes === plain) return [];
    return [`${becomes} = ${plain.includes('\n') ? `(${plain})` : plain}`];
  }
}

function nameOf(part: Expr): string[] {
  return part.type === 'name' ? [part.id] : [];
}

/** A name, or a number: a text may stand in quotes of the same kind. */
function isSubstitutable(value: Expr, source: string, name: string): boolean {
  if (value.type === 'name') return true;
  // `n.bit_length()` is not `5.bit_length()`.
  const isCalled = new RegExp(`(?<![\\w.])${name}\\s*[.[(]`).test(source);
  return value.type === 'constant' && typeof value.value !== 'string' && !isCalled;
}

/** Names that the statement of a call gives a value, and that it reads nowhere but in the call. */
function targetsOutside({ statement, call }: Situation): ReadonlySet<string> {
  const [target, other] = statement.type === 'assign' ? statement.targets : [];
  if (statement.type !== 'assign' || target === undefined || other !== undefined) return new Set();
  const isOutside = ({ start, end }: Span): boolean => end <= call.start || start >= call.end;
  const read = new Set([...expressionsIn(statement.value)].filter(isOutside).flatMap(nameOf));
  return new Set(
    itemsOf(target)
      .flatMap(nameOf)
      .filter((name) => !read.has(name)),
  );
}

/** What the function calls that which it gives, and what it is called where it is taken. */
function resultNames({ statement, call, result }: Situation): [string, string][] {
  const [target, other] = statement.type === 'assign' && statement.value === call ? statement.targets : [];
  if (target === undefined || other !== undefined || result === undefined) return [];
  const [returned, assigned] = [itemsOf(result), itemsOf(target)];
  const isPaired = result.type === target.type && returned.length === assigned.length;
  if (!isPaired || new Set(returned.flatMap(nameOf)).size !== returned.length) return [];
  return returned.flatMap((item, at): [string, string][] => {
    const wanted = assigned[at];
    return item.type === 'name' && wanted?.type === 'name' ? [[item.id, wanted.id]] : [];
  });
}

function readInFunctions({ module, definition, scope }: Situation): ReadonlySet<string> {
  const read = new Set<string>();
  for (const other of scope.owner === undefined ? module.body.statements : []) {
    if ((other.type !== 'function' && other.type !== 'class') || other === definition) continue;
    const bound = boundIn(other.body.statements);
    if (other.type === 'function') for (const { name } of other.params) bound.add(name);
    for (const { id } of namesInSuite(other.body.statements)) if (!bound.has(id)) read.add(id);
  }
  return read;
}

function globalNames({ body }: Module): string[] {
  return [...statementsOfSuite(body.statements)].flatMap((one) => (one.type === 'global' ? one.names : []));
}

function isImported(body: readonly Stmt[], name: string): boolean {
  return [...statementsOfSuite(body)].some(
    (statement) =>
      statement.type === 'import' && statement.bindings.some((one) => one.name.split('.')[0] === name),
  );
}
