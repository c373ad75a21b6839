import type { Module, Stmt } from '../syntax/ast.js';
import { countText } from '../values/work.js';
import type { Score, Value } from './values.js';
import { Scope, scoresIn } from './values.js';

const MAX_DEPTH = 8;
/** Calls of functions of the script that are followed, all together. */
const MAX_CALLS = 400;

/** What a script computes and shows, while it is followed. */
export class Follower {
  readonly #module: Module;
  readonly scope = new Scope();
  readonly scores: Score[] = [];
  readonly shown: Score[] = [];
  /** Paths of what is imported, by name. */
  readonly imports = new Map<string, string>();
  #depth = 0;
  #calls = 0;

  constructor(module: Module) {
    this.#module = module;
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
      for (const score of scoresIn(value)) if (!this.shown.includes(score)) this.shown.push(score);
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
