import type { Expr, Span, Stmt } from '../syntax/ast.js';
import type { Facts, FitEvent } from '../values/facts.js';
import { union } from '../values/facts.js';
import type { Region } from '../values/region.js';
import type { FunctionOf, Value } from '../values/value.js';
import type { Counter } from './row-events.js';

/** A call of a function of the script. */
export interface Frame {
  readonly fn: FunctionOf;
  /** Offset of the call. */
  readonly site: number;
  readonly call: Expr;
  readonly statement: Stmt;
  readonly returns: Value[];
}

/** A loop that is being run. */
interface Loop {
  readonly statement: Stmt;
  /** Whether all rounds of it are run. */
  readonly isComplete: boolean;
  /** Rows that its variables held before its first round. */
  readonly before: ReadonlyMap<string, readonly Region[]>;
  /** How many rounds of it are run. */
  readonly rounds: number;
  /** Where it goes through the parts of one row: what that row carries. */
  readonly within?: Facts | undefined;
  /** How many calls are around it. */
  readonly depth: number;
}

/** Fits that are recorded for the conditions of one row. */
const MAX_TESTS = 48;
const NOTHING: ReadonlySet<FitEvent> = new Set();

/**
 * What surrounds the code that is being run. What is entered is left again in the opposite order. There are no callbacks
 * for that: each would take more of the stack, which bounds how deeply code may be nested.
 */
export class ExecutionContext {
  readonly #frames: Frame[] = [];
  readonly #loops: Loop[] = [];
  readonly #rounds: number[] = [];
  readonly #repeats: Span[] = [];
  readonly #counters: (Counter | undefined)[] = [];
  readonly #computed: Set<FitEvent>[] = [];
  readonly #branches: (readonly FitEvent[])[] = [];
  readonly #tests: FitEvent[][] = [];
  #incompleteLoops = 0;

  get frames(): readonly Frame[] {
    return this.#frames;
  }

  /** Statements that call the functions that are being run, the innermost first. */
  get callers(): readonly Stmt[] {
    return this.#frames.map(({ statement }) => statement).reverse();
  }

  enterCall(frame: Frame): void {
    this.#frames.push(frame);
  }

  leaveCall(): void {
    this.#frames.pop();
  }

  /** Adds a value that the innermost call returns. */
  addReturn(value: Value): void {
    this.#frames.at(-1)?.returns.push(value);
  }

  /** Loops that are being run, outermost first. */
  loops(): Stmt[] {
    return this.#loops.map(({ statement }) => statement);
  }

  get innermostLoop(): Stmt | undefined {
    return this.#loops.at(-1)?.statement;
  }

  /** What the one row carries whose parts the innermost loop goes through, if it does so. */
  get rowGoneThrough(): Facts | undefined {
    return this.#loops.at(-1)?.within;
  }

  /** Whether not every round of a loop is run: what its rounds change has another value in the end. */
  get isInIncompleteLoop(): boolean {
    return this.#incompleteLoops > 0;
  }

  /** Records a computation over many rows in the rounds that are being run. */
  addComputed(fit: FitEvent): void {
    for (const computed of this.#computed) if (computed.size < MAX_TESTS) computed.add(fit);
  }

  /** What the innermost round has computed over many rows. */
  get computedInRound(): ReadonlySet<FitEvent> {
    return this.#computed.at(-1) ?? NOTHING;
  }

  /** The outermost loop of the function that is being run. */
  get outermostLoop(): Loop | undefined {
    return this.#loops.find(({ depth }) => depth === this.#frames.length);
  }

  /** How often the code that is being run is run by the loops around it, through all calls. */
  get rounds(): number {
    return this.#rounds.at(-1) ?? 1;
  }

  enterLoop({ isComplete, ...loop }: Omit<Loop, 'depth'>): void {
    this.#loops.push({ ...loop, isComplete, depth: this.#frames.length });
    this.#rounds.push(this.rounds * Math.max(1, loop.rounds));
    if (!isComplete) this.#incompleteLoops += 1;
  }

  leaveLoop(): void {
    this.#rounds.pop();
    if (this.#loops.pop()?.isComplete === false) this.#incompleteLoops -= 1;
  }

  /** Enters a round of a loop or comprehension; `counter` is its variable if it goes through positions. */
  enterRound(repeat: Span, counter: Counter | undefined): void {
    this.#repeats.push(repeat);
    this.#counters.push(counter);
    this.#computed.push(new Set());
  }

  leaveRound(): void {
    this.#repeats.pop();
    this.#counters.pop();
    this.#computed.pop();
  }

  /** The innermost loop or comprehension. */
  get repeat(): Span | undefined {
    return this.#repeats.at(-1);
  }

  /** The loop or comprehension that goes on by a counter. */
  repeatOf(counter: Counter): Span | undefined {
    return this.#repeats[this.#counters.lastIndexOf(counter)];
  }

  /** The counter by this name of a loop or comprehension that is being run. */
  counter(name: string): Counter | undefined {
    return this.#counters.findLast((counter) => counter?.name === name);
  }

  /** Choices that the code depends on (`if score > best:`). */
  get choices(): readonly FitEvent[] {
    return this.#branches.at(-1) ?? [];
  }

  enterBranch(choices: readonly FitEvent[]): void {
    this.#branches.push(union(this.choices, choices));
  }

  leaveBranch(): void {
    this.#branches.pop();
  }

  /** Enters a function or comprehension that is run row by row. */
  enterRow(): void {
    this.#tests.push([]);
  }

  get isInRow(): boolean {
    return this.#tests.length > 0;
  }

  /** Records what a condition on the innermost row was computed from. */
  addRowTest(fit: FitEvent): void {
    const tests = this.#tests.at(-1);
    if (tests !== undefined && tests.length < MAX_TESTS && !tests.includes(fit)) tests.push(fit);
  }

  /** Returns what the conditions on the row were computed from. */
  leaveRow(): readonly FitEvent[] {
    return this.#tests.pop() ?? [];
  }
}
