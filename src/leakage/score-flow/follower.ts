import type { Expr, Module, Stmt } from '../syntax/ast.js';
import { countText } from '../values/work.js';
import type { Arguments } from './estimators.js';
import type { Prediction, Score, Value } from './values.js';
import { Scope, scoresIn, type UserFunction, wayOf } from './values.js';

const MAX_DEPTH = 8;
/** Calls of functions of the script that are followed, all together. */
const MAX_CALLS = 400;

/** How statements and expressions are run: they need each other. */
export interface Engine {
  readonly evaluate: (follower: Follower, scope: Scope, expression: Expr) => Value;
  readonly bind: (follower: Follower, scope: Scope, target: Expr, value: Value) => void;
  readonly runFunction: (follower: Follower, called: UserFunction, args: Arguments) => Value;
}

/** What a script computes and shows, while it is followed. */
export class Follower {
  readonly #module: Module;
  readonly #engine: Engine;
  readonly scope = new Scope();
  readonly scores: Score[] = [];
  readonly shown: Score[] = [];
  /** All predictions, also those that are not scored. */
  readonly predictions: Prediction[] = [];
  /** Tables that the script writes, by the name of the file. */
  readonly files = new Map<string, Value>();
  /** Paths of what is imported, by name. */
  readonly imports = new Map<string, string>();
  /** Names that are read and that nothing binds. */
  readonly unbound = new Set<string>();
  #depth = 0;
  #calls = 0;

  constructor(module: Module, engine: Engine) {
    this.#module = module;
    this.#engine = engine;
  }

  evaluate(scope: Scope, expression: Expr): Value {
    return this.#engine.evaluate(this, scope, expression);
  }

  bind(scope: Scope, target: Expr, value: Value): void {
    this.#engine.bind(this, scope, target, value);
  }

  runFunction(called: UserFunction, args: Arguments): Value {
    return this.#engine.runFunction(this, called, args);
  }

  get statements(): readonly Stmt[] {
    return this.#module.body.statements;
  }

  get source(): string {
    return this.#module.source;
  }

  text({ start, end }: { start: number; end: number }): string {
    countText(end - start);
    return this.#module.source.slice(start, end).replaceAll(/\s+/g, '').replaceAll("'", '"');
  }

  show(values: readonly Value[]): void {
    for (const value of values)
      for (const score of scoresIn(value)) {
        score.shownAs ??= wayOf(value);
        if (!this.shown.includes(score)) this.shown.push(score);
      }
  }

  /** Runs the body of a function, unless calls are too many or too deep. */
  call<T>(run: () => T): T | undefined {
    if (this.#depth >= MAX_DEPTH || this.#calls >= MAX_CALLS) return undefined;
    this.#depth += 1;
    this.#calls += 1;
    try {
      return run();
    } finally {
      this.#depth -= 1;
    }
  }
}
