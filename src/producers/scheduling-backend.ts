import { type JobJson, QueueKeys, type QueueOptions, RedisConnection, RedisQueueBackend } from 'bullmq';
import type { Redis } from 'ioredis';
import { yieldWhenBusy } from '../event-loop.js';
import { inOrderOfTurns, type TurnRequest, turnCalls } from '../queues/fairness/assign-priorities.js';
import { TAKE_TURNS, UNSCHEDULED } from '../queues/fairness/priority-script.js';

/**
 * Option of a job that is given its turn in the step that adds it. BullMQ hands options on as they are, and stores only
 * those with names.
 */
const TURN = Symbol('turn');

/** Asks for a job's turn with its options. */
export interface TurnOption {
  readonly [TURN]: TurnRequest;
}

export function turnOption(request: TurnRequest): TurnOption {
  return { [TURN]: request };
}

function turnRequestOf({ opts }: JobJson): TurnRequest | undefined {
  return (opts as Partial<TurnOption>)[TURN];
}

/** A job that is delayed is given its turn when it becomes due, by the workers. */
function isDelayed({ opts }: JobJson): boolean {
  return (opts.delay ?? 0) > 0;
}

/** A job with the options that are stored with it: its id is not among them, since it is in its key. */
function withStoredOptions(job: JobJson): JobJson {
  const { jobId: _, ...opts } = job.opts;
  return { ...job, opts: turnRequestOf(job) === undefined ? opts : { ...opts, priority: UNSCHEDULED } };
}

/** Name of the script among the commands of the connection. */
const TAKE_TURNS_COMMAND = 'fleetTakeTurns';

/** What BullMQ puts into the transaction of a flow behind all jobs that it adds. */
const BEHIND_JOBS = 'releaseParentIfNoPendingDependencies';

/** Runs scripts, or collects them for a transaction. */
type ScriptRunner = Parameters<RedisQueueBackend['execCommand']>[0];
type FlowEntries = Parameters<RedisQueueBackend['addFlow']>[0];

/** Jobs of one queue that are to be placed. */
interface Placement {
  readonly prefix: string;
  readonly queue: string;
  readonly requests: readonly TurnRequest[];
}

/** Sends the commands that place jobs, or adds them to a transaction. */
function place(client: ScriptRunner, { prefix, queue, requests }: Placement): unknown[] {
  return turnCalls(prefix, queue, requests, { added: true }).map(({ keys, args }) =>
    client.runCommand(TAKE_TURNS_COMMAND, [...keys, ...args]),
  );
}

const isUnknownScript = (error: Error | null | undefined) => error?.message.startsWith('NOSCRIPT') ?? false;

/** A flow on its way: which of its jobs have yet to be placed. */
interface FlowPlacements {
  readonly placements: readonly Placement[];
  inTransaction: boolean;
}

/**
 * BullMQ's own backend, which gives new jobs their turns among tenants in the transaction that adds them: one round trip
 * instead of two, and no turn is taken for a job that never comes.
 */
export class SchedulingBackend extends RedisQueueBackend {
  readonly #flows = new WeakMap<JobJson, FlowPlacements>();
  readonly #flowOf = new WeakMap<ScriptRunner, FlowPlacements>();

  override async addJob(...[job, jobId, parentKeyOpts]: Parameters<RedisQueueBackend['addJob']>) {
    const request = turnRequestOf(job);
    if (request === undefined || isDelayed(job)) return super.addJob(job, jobId, parentKeyOpts);
    const placement = { prefix: this.redisPrefix, queue: this.name, requests: [request] };
    const client = await this.queue.client;
    const transaction = client.multi();
    await this.addJobToTransaction(transaction, job, jobId, parentKeyOpts);
    place(transaction, placement);
    const [[addError, id] = [], [placeError] = []] = (await transaction.exec()) ?? [];
    if (addError && !isUnknownScript(addError)) throw addError;
    if (placeError && !isUnknownScript(placeError)) throw placeError;
    // A Redis that forgot its scripts is told them by commands that stand alone.
    const added: string = addError ? await super.addJob(job, jobId, parentKeyOpts) : id;
    if (addError || placeError) await Promise.all(place(client, placement));
    return added;
  }

  override async addFlow(entries: FlowEntries): ReturnType<RedisQueueBackend['addFlow']> {
    const flow: FlowPlacements = { placements: placementsOf(entries), inTransaction: false };
    if (flow.placements.length === 0) return super.addFlow(entries);
    for (const { jobData } of entries) this.#flows.set(jobData, flow);
    const results = await super.addFlow(entries);
    if (!flow.inTransaction) {
      const client = await this.queue.client;
      await Promise.all(flow.placements.flatMap((placement) => place(client, placement)));
    }
    return results;
  }

  override async addJobToTransaction(
    ...[client, job, ...rest]: Parameters<RedisQueueBackend['addJobToTransaction']>
  ): Promise<string> {
    const flow = this.#flows.get(job);
    if (flow !== undefined) {
      this.#flowOf.set(client, flow);
      // BullMQ adds the jobs of a flow one after the other: a batch has thousands.
      await yieldWhenBusy();
    }
    return super.addJobToTransaction(client, withStoredOptions(job), ...rest);
  }

  override execCommand(...args: Parameters<RedisQueueBackend['execCommand']>): unknown {
    const [client, name] = args;
    const flow = this.#flowOf.get(client);
    if (flow !== undefined && name === BEHIND_JOBS && !flow.inTransaction) {
      flow.inTransaction = true;
      for (const placement of flow.placements) place(client, placement);
    }
    return super.execCommand(...args);
  }
}

function placementsOf(entries: FlowEntries): Placement[] {
  const placements = new Map<string, { prefix: string; queue: string; requests: TurnRequest[] }>();
  for (const { jobData, prefix, queueName: queue } of entries) {
    const request = turnRequestOf(jobData);
    if (request === undefined || isDelayed(jobData)) continue;
    const placement = placements.get(queue) ?? { prefix, queue, requests: [] };
    placements.set(queue, placement);
    placement.requests.push(request);
  }
  return [...placements.values()].map((placement) => ({
    ...placement,
    requests: inOrderOfTurns(placement.requests),
  }));
}

/** Backends on a producer's connection, which is the producer's own to close. */
export function placingBackend(client: Redis): (name: string, options: QueueOptions) => SchedulingBackend {
  client.defineCommand(TAKE_TURNS_COMMAND, { numberOfKeys: 1, lua: TAKE_TURNS.source });
  return (name, options) => {
    const keys = new QueueKeys(options.prefix);
    const connection = new RedisConnection(client, { shared: true });
    return new SchedulingBackend(
      connection,
      name,
      keys.getKeys(name),
      (type) => keys.toKey(name, type),
      options,
    );
  };
}
