import { FlowProducer, Queue, QueueEvents, Worker } from 'bullmq';
import { workerConnection } from '../../src/queues/connection.js';

/** The peer of most rows: BullMQ with its defaults and a processor that does nothing. */
export class BareBullmq {
  readonly queue: Queue;
  readonly #url: string;
  readonly #prefix: string;
  readonly #closers: (() => Promise<unknown>)[] = [];

  constructor(url: string, prefix: string, name = 'bare') {
    this.#url = url;
    this.#prefix = prefix;
    this.queue = new Queue(name, { connection: workerConnection(url), prefix });
    this.#closers.push(() => this.queue.close());
  }

  worker(concurrency: number, queue = this.queue.name): Worker {
    const worker = new Worker(queue, async () => 'done', {
      connection: workerConnection(this.#url),
      prefix: this.#prefix,
      concurrency,
    });
    this.#closers.push(() => worker.close());
    return worker;
  }

  async events(queue = this.queue.name): Promise<QueueEvents> {
    const events = new QueueEvents(queue, { connection: workerConnection(this.#url), prefix: this.#prefix });
    await events.waitUntilReady();
    this.#closers.push(() => events.close());
    return events;
  }

  flows(): FlowProducer {
    const flows = new FlowProducer({ connection: workerConnection(this.#url), prefix: this.#prefix });
    this.#closers.push(() => flows.close());
    return flows;
  }

  async close(): Promise<void> {
    for (const close of this.#closers.reverse()) await close();
  }
}

/** Resolves when a worker has completed so many jobs. */
export function completed(worker: Worker, count: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let left = count;
    worker.on('completed', () => {
      left -= 1;
      if (left === 0) resolve();
    });
    worker.on('failed', (_job, error) => reject(error));
  });
}
