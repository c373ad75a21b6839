import type { Expr, Span, Stmt } from '../../syntax/ast.js';
import { expressionsIn } from '../../syntax/walk.js';
import { freshName } from '../context.js';
import { itemsOf } from '../tidy/draft.js';
import { argumentsOf, type PassedArgument } from './arguments.js';
import { globalNames, namesOutsideInner, readElsewhere, readLater } from './captures.js';
import { codeWords, stringSpans, unseenWords } from './code-words.js';
import { boundIn, boundWithin, expressionsInSuite, statementsOfSuite } from './scopes.js';
import type { Situation } from './situation.js';
import { boundAround, isGuarded, isInLoop } from './surroundings.js';
import { maybeUnbound } from './unbound.js';

interface Locals {
  /** What the names of the function become where it is called. */
  readonly names: ReadonlyMap<string, string>;
  /** Lines that give parameters their values. */
  readonly bindings: readonly string[];
}

/** The names of a function where its lines are put instead of its call; undefined where two variables could become one. */
export function localNames(situation: Situation): Locals | undefined {
  const { module, definition, body, statement, scope } = situation;
  const args = argumentsOf(situation);
  const assigned = boundIn(body);
  const params = new Set(definition.params.map(({ name }) => name));
  const locals = new Set([...params, ...assigned]);
  const inner = boundWithin(body);
  const globals = new Set(globalNames(module));
  if (args === undefined || [...locals].some((name) => globals.has(name) || inner.has(name)))
    return undefined;
  const outer = namesOutsideInner(body).filter((id) => !locals.has(id));
  // In a function around, such a name is another variable.
  const other = new Set([...(scope.owner === undefined ? [] : scope.bound), ...boundAround(scope.owner)]);
  if ([...outer, ...unseenWords(module, body)].some((id) => !locals.has(id) && other.has(id)))
    return undefined;
  // In the next round they would have the values of the last one.
  const unbound = maybeUnbound(body, locals, params);
  const later = new Set([...readLater(body)].filter((name) => locals.has(name)));
  if (isInLoop(statement) && unbound.size + later.size > 0) return undefined;
  const taken = new Set([...outer, ...inner]);
  const found = new Naming(situation, {
    args,
    assigned,
    locals,
    taken,
    inner,
    globals,
    own: new Set([...unbound, ...later]),
    later,
  }).locals();
  return found !== undefined && isCertainlyRenamed(situation, found) ? found : undefined;
}

/** Whether every mention of a variable that gets another name is one that is read here: not in a `raise`, an `except` or a type. */
function isCertainlyRenamed({ module, definition, body }: Situation, { names }: Locals): boolean {
  const [first, last] = [body[0], body.at(-1)];
  if (first === undefined || last === undefined) return true;
  const renamed = new Set([...names].filter(([name, becomes]) => name !== becomes).map(([name]) => name));
  const unseen = unseenWords(module, body);
  if ([...renamed].some((name) => unseen.has(name))) return false;
  const text = module.source.slice(first.start, Math.min(last.end, definition.end));
  const words = codeWords(text);
  const strings = stringSpans(text, first.start);
  const seen = new Map<string, number>();
  const see = (name: string): unknown => seen.set(name, (seen.get(name) ?? 0) + 1);
  const isInString = ({ start }: Span): boolean =>
    strings.some((one) => one.start <= start && start < one.end);
  for (const part of expressionsInSuite(body)) {
    if (isInString(part)) continue;
    if (part.type === 'name') see(part.id);
    if (part.type === 'call') for (const { name } of part.args) if (name !== undefined) see(name);
  }
  return [...renamed].every((name) => (words.get(name) ?? 0) === (seen.get(name) ?? 0));
}

interface Names {
  readonly args: readonly PassedArgument[];
  readonly assigned: ReadonlySet<string>;
  readonly locals: ReadonlySet<string>;
  /** Names that mean something else in the body. */
  readonly taken: ReadonlySet<string>;
  /** Those of its lambdas and comprehensions. */
  readonly inner: ReadonlySet<string>;
  /** Names that functions of the script may give other values. */
  readonly globals: ReadonlySet<string>;
  /** Variables that no name of the lines around may replace. */
  readonly own: ReadonlySet<string>;
  /** Variables that are read when the function is over. */
  readonly later: ReadonlySet<string>;
}

class Naming {
  readonly #situation: Situation;
  readonly #known: Names;
  /** What the statement of the call assigns. */
  readonly #targets: ReadonlySet<string>;
  /** Names that functions, lambdas and generators read: they would see what the inlined lines do. */
  readonly #read: ReadonlySet<string>;
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();

  constructor(situation: Situation, known: Names) {
    this.#situation = situation;
    this.#known = known;
    // Where the script goes on after an error, it has the old values.
    this.#targets = isGuarded(situation.statement) ? new Set() : targetsOutside(situation);
    this.#read = readElsewhere(situation.module, situation.scope.statements, situation.definition);
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
      if (argument !== undefined && !this.#mayReplace(name, argument)) continue;
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

  /** Whether a variable that is passed is the same as the parameter as long as the function runs, and after it if need be. */
  #mayReplace(name: string, argument: string): boolean {
    const { inner, globals, own } = this.#known;
    return !inner.has(argument) && !globals.has(argument) && !own.has(name);
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
    const { locals, own } = this.#known;
    for (const [local, wanted] of resultNames(this.#situation)) {
      if (own.has(local) || !this.#targets.has(wanted)) continue;
      const isOpen =
        this.#isFree(wanted) && !this.#isArgument(wanted) && (wanted === local || !locals.has(wanted));
      if (locals.has(local) && !this.#names.has(local) && isOpen) this.#take(local, wanted);
    }
  }

  #nameLocal(local: string): boolean {
    const { module, definition, body, scope } = this.#situation;
    if (this.#names.has(local)) return true;
    const isShared = this.#targets.has(local) && !this.#isArgument(local) && !this.#known.own.has(local);
    const isOpen = !scope.names.has(local) || isShared;
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

/** A name, or a number: a text may stand in quotes of the same kind, and a sign binds less than a power. */
function isSubstitutable(value: Expr, source: string, name: string): boolean {
  if (value.type === 'name') return true;
  // `n.bit_length()` is not `5.bit_length()`.
  const isOther = new RegExp(`(?<![\\w.])${name}(?:\\s*[.[(]| is\\b)`).test(source);
  const isPlain = value.type === 'constant' && /^[\w.]+$/.test(source.slice(value.start, value.end));
  return isPlain && typeof value.value !== 'string' && !isOther;
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

function isImported(body: readonly Stmt[], name: string): boolean {
  return [...statementsOfSuite(body)].some(
    (statement) =>
      statement.type === 'import' && statement.bindings.some((one) => one.name.split('.')[0] === name),
  );
}
