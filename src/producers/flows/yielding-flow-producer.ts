import { type AddNodeOpts, FlowProducer, type JobNode } from 'bullmq';
import { yieldWhenBusy } from '../../event-loop.js';

/** BullMQ makes the jobs of a flow, which may be thousands, in one piece. This producer lets others be served meanwhile. */
export class YieldingFlowProducer extends FlowProducer {
  /** When the next job of each flow may be made. */
  readonly #next = new WeakMap<AddNodeOpts['entries'], Promise<void>>();

  protected override async addNode(options: AddNodeOpts): Promise<JobNode> {
    const { entries } = options;
    const turn = (this.#next.get(entries) ?? Promise.resolve()).then(yieldWhenBusy);
    this.#next.set(entries, turn);
    await turn;
    return super.addNode(options);
  }
}
