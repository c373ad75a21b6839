import {
  type AddNodeOpts,
  FlowProducer,
  type JobNode,
  QueueKeys,
  type QueueOptions,
  RedisConnection,
  RedisQueueBackend,
} from 'bullmq';
import type { Redis } from 'ioredis';
import { yieldWhenBusy } from '../../event-loop.js';

/** BullMQ creates and adds all jobs of a flow, maybe thousands, without a pause. This producer yields to the event loop. */
export class YieldingFlowProducer extends FlowProducer {
  /** When the next job of each flow may be created. */
  readonly #next = new WeakMap<AddNodeOpts['entries'], Promise<void>>();

  constructor(client: Redis, options: QueueOptions) {
    super(options, (name, backendOptions) => {
      const keys = new QueueKeys(options.prefix);
      return new YieldingBackend(
        new RedisConnection(client, { shared: true }),
        name,
        keys.getKeys(name),
        (type) => keys.toKey(name, type),
        backendOptions,
      );
    });
  }

  protected override async addNode(options: AddNodeOpts): Promise<JobNode> {
    const { entries } = options;
    const next = (this.#next.get(entries) ?? Promise.resolve()).then(yieldWhenBusy);
    this.#next.set(entries, next);
    await next;
    return super.addNode(options);
  }
}

class YieldingBackend extends RedisQueueBackend {
  override async addJobToTransaction(
    ...args: Parameters<RedisQueueBackend['addJobToTransaction']>
  ): Promise<string> {
    await yieldWhenBusy();
    return super.addJobToTransaction(...args);
  }
}
