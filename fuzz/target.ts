import type { InputSource } from './inputs/source.js';

/** One input of a target: a few texts. Any of them may contain lone surrogates. */
export type Input = readonly string[];

/** The prepared state of a target in a process; it runs inputs. */
export interface Subject {
  /**
   * Runs the parser on one input and checks its result.
   * @returns Plain data. The same input must give the same data again.
   * @throws FleetError if the input is rejected; BrokenInvariant; anything else is a defect.
   */
  run(input: Input): unknown;
  close?(): Promise<void>;
}

export interface Target {
  readonly name: string;
  /** What it runs, in one sentence. */
  readonly about: string;
  /** Makes an input only from the numbers of the source. */
  generate(source: InputSource): Input;
  open(): Subject | Promise<Subject>;
  /** How many tasks one run does; each may use the whole bound. Default 1. */
  readonly tasks?: number;
  /** Whether the same input may give different data because of lasting effects. */
  readonly stateful?: true;
  /** Errors, besides those of the contract, that reject an input. */
  refuses?(thrown: unknown): boolean;
}

/** An invariant does not hold for this input. */
export class BrokenInvariant extends Error {
  override readonly name = 'BrokenInvariant';
}

/** @throws BrokenInvariant unless the condition holds. */
export function mustHold(condition: boolean, invariant: string): asserts condition {
  if (!condition) throw new BrokenInvariant(invariant);
}
