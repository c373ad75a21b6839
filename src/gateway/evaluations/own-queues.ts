import { PayloadError } from '../../errors.js';
import type { FleetConnection } from '../../producers/fleet-connection.js';

/** Most queues that are remembered. */
const MOST_QUEUES = 1_000;

/**
 * The pipeline's own queues that the gateway has met, kept in Redis for all gateways: the board shows them, and
 * evaluations are handed out from them.
 */
export class OwnQueues {
  readonly #fleet: FleetConnection;
  readonly #known = new Set<string>();

  constructor(fleet: FleetConnection) {
    this.#fleet = fleet;
  }

  /** @throws PayloadError where there are too many. */
  async remember(queue: string): Promise<void> {
    if (this.#known.has(queue)) return;
    if ((await this.#fleet.client.scard(this.#key)) >= MOST_QUEUES && !(await this.#isRemembered(queue))) {
      throw new PayloadError('invalid-payload', `evaluation.queue: there are ${MOST_QUEUES} queues already`, {
        field: 'evaluation.queue',
      });
    }
    await this.#fleet.client.sadd(this.#key, queue);
    this.#known.add(queue);
  }

  /** Names, in alphabetical order. */
  async list(): Promise<string[]> {
    return (await this.#fleet.client.smembers(this.#key)).sort();
  }

  /** Whether there is such a queue: remembered, or made by a producer that does not go through the gateway. */
  async exists(queue: string): Promise<boolean> {
    if (this.#known.has(queue) || (await this.#isRemembered(queue))) return true;
    const { client } = this.#fleet;
    if ((await client.exists(`${this.#fleet.prefix}:${queue}:events`)) === 0) return false;
    await this.remember(queue);
    return true;
  }

  async #isRemembered(queue: string): Promise<boolean> {
    return (await this.#fleet.client.sismember(this.#key, queue)) === 1;
  }

  get #key(): string {
    return `${this.#fleet.prefix}::queues`;
  }
}
