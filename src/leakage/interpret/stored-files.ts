import type { FitEvent } from '../values/facts.js';
import { newEstimator, newTable } from '../values/join.js';
import type { Cell } from '../values/store.js';
import type { EstimatorState, Value } from '../values/value.js';
import { type Arguments, argument, argumentExpression } from './arguments.js';
import type { Interpreter } from './interpreter.js';

/** The file that a call reads or writes: its name, or the text that gives it. */
export function fileOf(interp: Interpreter, args: Arguments, position = 0): string | undefined {
  const names = ['path', 'path_or_buf', 'filepath', 'filepath_or_buffer', 'filename', 'file', 'fname', 'f'];
  const value = argument(args, position, ...names);
  const expression = argumentExpression(args, position, ...names);
  if (expression === undefined || value === undefined || value.type === 'table') return undefined;
  if (value.type === 'opaque' && value.file !== undefined) return value.file;
  return value.type === 'constant' ? String(value.value) : interp.text(expression);
}

/** The best state of a network, which a callback writes to a file. */
interface Checkpoint {
  /** Nothing where nobody knows the name. */
  readonly file: string | undefined;
  readonly network: Cell<EstimatorState>;
  /** What decided which state is the best. */
  readonly events: readonly FitEvent[];
}

/** Files of one checkpoint and of one value: those that were written first are forgotten. */
const MAX_FILES = 256;

/** What a script writes to files and reads again, by the name of the file or the text that gives it. */
export class StoredFiles {
  readonly #values = new Map<string, Value>();
  #checkpoints: Checkpoint[] = [];

  /** Stores what a value is now: what is changed later stays as it was in the file. */
  write(file: string, value: Value): void {
    if (this.#values.size >= MAX_FILES) return;
    this.#values.set(file, copyOf(value));
  }

  read(file: string): Value | undefined {
    const value = this.#values.get(file);
    if (value !== undefined) return copyOf(value);
    const saved = this.#checkpoints.findLast((checkpoint) => checkpoint.file === file);
    if (saved === undefined) return undefined;
    return newEstimator(withEvents(saved.network.value, saved.events));
  }

  addCheckpoint(checkpoint: Checkpoint): void {
    this.#checkpoints = [...this.#checkpoints.slice(-MAX_FILES), checkpoint];
  }

  /** What chose the weights that a network loads from this file. */
  chosenWeights(file: string | undefined): readonly FitEvent[] {
    const saved = this.#checkpoints.findLast(
      (checkpoint) => checkpoint.file === file || checkpoint.file === undefined || file === undefined,
    );
    return saved?.events ?? [];
  }
}

function copyOf(value: Value): Value {
  if (value.type === 'table') return newTable(value.cell.value);
  return value.type === 'estimator' ? newEstimator(value.cell.value) : value;
}

/** A model whose state was chosen by these. */
export function withEvents(state: EstimatorState, events: readonly FitEvent[]): EstimatorState {
  const { training } = state;
  if (training === undefined || events.length === 0) return state;
  return { ...state, training: { ...training, fits: [...new Set([...training.fits, ...events])] } };
}
