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
        client,
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
  readonly #client: Redis;
  #mayLackScripts = false;

  constructor(client: Redis, ...args: ConstructorParameters<typeof RedisQueueBackend>) {
    super(...args);
    this.#client = client;
  }

  /**
   * Redis may begin to refuse writes between two commands. A script in a transaction then fails by itself, and the transaction
   * succeeds; `FlowProducer` looks at no such failure, so jobs would count as added that are stored nowhere.
   * @throws the first failure of a job of the flows.
   */
  override async addFlow(
    ...args: Parameters<RedisQueueBackend['addFlow']>
  ): ReturnType<RedisQueueBackend['addFlow']> {
    if (this.#mayLackScripts) {
      await loadFlowScripts(this.#client);
      this.#mayLackScripts = false;
    }
    try {
      const results = await super.addFlow(...args);
      for (const [error] of results) if (error) throw error;
      return results;
    } catch (thrown) {
      // Of a transaction that was refused, ioredis takes the scripts as loaded, and sends only their hashes from then on.
      this.#mayLackScripts = true;
      throw thrown;
    }
  }

  override async addJobToTransaction(
    ...args: Parameters<RedisQueueBackend['addJobToTransaction']>
  ): Promise<string> {
    await yieldWhenBusy();
    return super.addJobToTransaction(...args);
  }
}

/** Loads what BullMQ adds flows with; nothing in Redis refuses that, and it changes nothing where they are loaded. */
async function loadFlowScripts(client: Redis): Promise<void> {
  const { scriptsSet } = client as unknown as { scriptsSet: Readonly<Record<string, { lua: string }>> };
  const ofFlows = Object.entries(scriptsSet).filter(([name]) => /^(?:add|releaseParent)/.test(name));
  await Promise.all(ofFlows.map(([, { lua }]) => client.script('LOAD', lua)));
}
