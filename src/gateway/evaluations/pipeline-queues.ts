import { PayloadError } from '../../errors.js';
import type { FleetClient } from '../../producers/fleet-client.js';
import {
  countQueues,
  isRememberedQueue,
  MAX_QUEUES,
  MAX_QUEUES_PER_TOKEN,
  rememberedQueues,
  rememberQueue,
} from '../../queues/pipeline-queues.js';
import type { NamedQueue } from '../../queues/queue-fields.js';

/**
 * The pipeline queues that gateways have used, stored in Redis for all gateways: the board shows them. A name is added once a
 * job is stored in its queue, and housekeeping removes it when the queue is empty.
 */
export class PipelineQueues {
  readonly #fleet: FleetClient;
  /** Names that requests under way will add, by token; they count like those in Redis. */
  readonly #coming = new Map<string, { readonly owner: string; requests: number }>();

  constructor(fleet: FleetClient) {
    this.#fleet = fleet;
  }

  /**
   * Submits jobs to pipeline queues, and adds the queues when the jobs are stored. A rejected submission adds nothing.
   * @param owner Id of the token.
   * @throws PayloadError if there are too many queues; and what the work throws.
   */
  async within<T>(queues: readonly NamedQueue[], owner: string, work: () => Promise<T>): Promise<T> {
    const unknown: NamedQueue[] = [];
    for (const named of queues) if (!(await this.#isRemembered(named.queue))) unknown.push(named);
    const { client, prefix } = this.#fleet;
    const taken: string[] = [];
    try {
      for (const named of unknown) {
        this.#take(named, owner, await countQueues(client, prefix, owner));
        taken.push(named.queue);
      }
      const done = await work();
      for (const { queue } of unknown) await rememberQueue(client, prefix, queue, owner);
      return done;
    } finally {
      for (const queue of taken) this.#release(queue);
    }
  }

  /** Names, in alphabetical order. */
  list(): Promise<string[]> {
    return rememberedQueues(this.#fleet.client, this.#fleet.prefix);
  }

  /**
   * Whether there is such a queue: known, or created by a producer that does not use the gateway. The latter is added if
   * there is room.
   */
  async exists(queue: string, owner: string): Promise<boolean> {
    if (await this.#isRemembered(queue)) return true;
    const { client, prefix } = this.#fleet;
    if ((await client.exists(`${prefix}:${queue}:events`)) === 0) return false;
    const { all, ofOwner } = await countQueues(client, prefix, owner);
    if (all < MAX_QUEUES && ofOwner < MAX_QUEUES_PER_TOKEN) await rememberQueue(client, prefix, queue, owner);
    return true;
  }

  #isRemembered(queue: string): Promise<boolean> {
    return isRememberedQueue(this.#fleet.client, this.#fleet.prefix, queue);
  }

  #take({ queue, field }: NamedQueue, owner: string, counts: { all: number; ofOwner: number }): void {
    const known = this.#coming.get(queue);
    if (known === undefined) {
      const others = [...this.#coming.values()];
      const own = others.filter((coming) => coming.owner === owner).length;
      if (counts.all + others.length >= MAX_QUEUES) {
        throw tooMany(field, `there are ${MAX_QUEUES} queues with jobs already`);
      }
      if (counts.ofOwner + own >= MAX_QUEUES_PER_TOKEN) {
        throw tooMany(field, `this token has jobs in ${MAX_QUEUES_PER_TOKEN} queues already`);
      }
      this.#coming.set(queue, { owner, requests: 1 });
    } else known.requests += 1;
  }

  #release(queue: string): void {
    const known = this.#coming.get(queue);
    if (known === undefined) return;
    known.requests -= 1;
    if (known.requests === 0) this.#coming.delete(queue);
  }
}

function tooMany(field: string, why: string): PayloadError {
  return new PayloadError(
    'invalid-payload',
    `${field}: ${why}; use one of them, or wait until one is empty`,
    {
      field,
    },
  );
}
