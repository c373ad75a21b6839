import { union } from '../values/facts.js';
import type { Partition, Region } from '../values/region.js';
import type { Cell } from '../values/store.js';
import type { EstimatorState } from '../values/value.js';

/** In which round of a loop over folds a network was trained last. */
interface Round {
  readonly partition: Partition;
  readonly at: number;
}

/** Networks that go on learning from fold to fold: what they learned stays until their weights are set again. */
export class FoldRounds {
  readonly #rounds = new Map<Partition, number>();
  readonly #trained = new Map<Cell<EstimatorState>, Round>();

  /** Begins a round of a loop over these folds. */
  begin(partition: Partition): void {
    this.#rounds.set(partition, (this.#rounds.get(partition) ?? 0) + 1);
  }

  /** Forgets what a network has learned: its weights are set. */
  reset(network: Cell<EstimatorState>): void {
    this.#trained.delete(network);
  }

  /** Forgets what all networks have learned: the code sets parameters of layers, of whatever network they are. */
  resetAll(): void {
    this.#trained.clear();
  }

  /**
   * The rows that a network has seen after it is trained on these: in the second fold also those of the first, which are
   * all rows together.
   * Source: Keras, `Model.fit`: training goes on from the weights that the model has. In PyTorch, weights are kept as well.
   */
  train(network: Cell<EstimatorState>, rows: readonly Region[]): readonly Region[] {
    const [region] = rows;
    const partition = region?.partition;
    if (rows.length !== 1 || region?.parent === undefined || partition?.form !== 'folds') return rows;
    const at = this.#rounds.get(partition);
    if (at === undefined) return rows;
    const before = this.#trained.get(network);
    this.#trained.set(network, { partition, at });
    const isFurther = before !== undefined && before.partition === partition && before.at !== at;
    return isFurther ? union(rows, [region.parent]) : rows;
  }
}
