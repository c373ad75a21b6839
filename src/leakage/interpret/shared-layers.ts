import type { Training } from '../values/facts.js';
import type { Cell } from '../values/store.js';
import type { EstimatorState, Instance, Value } from '../values/value.js';
import { countWork } from '../values/work.js';

/** Networks that are remembered. */
const MAX_NETWORKS = 64;

/** Networks that have layers in common: what one of them has learned, the others know. */
export class SharedLayers {
  readonly #networks: Cell<EstimatorState>[] = [];
  readonly #instances: Instance[] = [];

  addNetwork(network: Value): void {
    if (
      network.type === 'estimator' &&
      network.cell.value.role === 'network' &&
      this.#networks.length < MAX_NETWORKS
    )
      this.#networks.push(network.cell);
  }

  addInstance(instance: Instance): void {
    if (this.#instances.length < MAX_NETWORKS) this.#instances.push(instance);
  }

  /** What a network that was never trained itself has learned: as a part of another one, or from the same input on. */
  trainingOf(cell: Cell<EstimatorState>): Training | undefined {
    const { training, options, role } = cell.value;
    if (training !== undefined || role !== 'network') return training;
    const input = inputOf(options);
    countWork(this.#networks.length + this.#instances.length);
    for (const other of this.#networks) {
      const state = other.value;
      if (other === cell || state.training === undefined) continue;
      const isPart = state.steps.some((step) => step.type === 'estimator' && step.cell === cell);
      if (isPart || other === input || (input !== undefined && inputOf(state.options) === input))
        return state.training;
    }
    for (const { attributes, learned } of this.#instances) {
      if (learned.value.training === undefined) continue;
      countWork(attributes.size);
      for (const { value } of attributes.values())
        if (value.type === 'estimator' && value.cell === cell) return learned.value.training;
    }
    return undefined;
  }
}

/** Where a network of layers begins: `Model(inputs, outputs)`, or the network of `Model(other.input, …)`. */
function inputOf(options: EstimatorState['options']): object | undefined {
  const value =
    options.get('inputs') ?? (options.has('1') || options.has('outputs') ? options.get('0') : undefined);
  if (value?.type === 'estimator') return value.cell;
  return value?.type === 'method' && value.receiver.type === 'estimator' ? value.receiver.cell : undefined;
}
