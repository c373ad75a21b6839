import type { InputSource } from './inputs/source.js';

/** One input of a target: a few texts. Any of them may hold lone surrogates. */
export type Input = readonly string[];

/** What a target prepared once per process, and how it runs one input. */
export interface Subject {
  /**
   * Runs the parser on one input and checks what it says.
   * @returns Plain data. The same input must give the same data again.
   * @throws FleetError for a refusal; BrokenInvariant; anything else is a defect.
   */
  run(input: Input): unknown;
  close?(): Promise<void>;
}

export interface Target {
  readonly name: string;
  /** What is run, in one sentence. */
  readonly about: string;
  /** Makes an input from the numbers of the source alone. */
  generate(source: InputSource): Input;
  open(): Subject | Promise<Subject>;
  /** How many tasks of the fleet one run does, each of which may take the bound; default 1. */
  readonly tasks?: number;
  /** Whether the same input may give different data: it has effects that stay. */
  readonly stateful?: true;
  /** Errors, besides those of the contract, that say "this input is refused". */
  refuses?(thrown: unknown): boolean;
}

/** What must hold for every input does not hold for this one. */
export class BrokenInvariant extends Error {
  override readonly name = 'BrokenInvariant';
}

/** @throws BrokenInvariant unless the condition holds. */
export function mustHold(condition: boolean, invariant: string): asserts condition {
  if (!condition) throw new BrokenInvariant(invariant);
}
