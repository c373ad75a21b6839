import { JobError } from '../../errors.js';
import type { FleetClient } from '../../producers/fleet-client.js';
import type { AnswerSlot } from '../http/operation.js';
import type { Claim, Evaluations } from './evaluations.js';

/** How often queues with waiting claims are checked, in milliseconds. */
const LOOK_MS = 250;
/** Minimum time for each checked queue, so that a thousand queues are checked more rarely. */
const MS_A_QUEUE = 5;
/** How many queues one round trip checks. */
const PAGE = 100;
/** BullMQ's scores of delayed jobs are milliseconds times this. */
const DELAYED_SCALE = 0x1000;

/** A claim that waits for an evaluation. */
export interface WaitingClaim {
  readonly queue: string;
  readonly leaseMs: number;
  /** Id of the caller. */
  readonly owner: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Called before an evaluation is claimed for it: its token may have been revoked. */
  readonly stillAllowed: () => Promise<unknown>;
  /** A slot for the answer, which contains a script; undefined if the token has too many unread answers. */
  readonly tryRoomForAnswer: () => AnswerSlot | undefined;
}

interface Waiter extends WaitingClaim {
  isSettled: boolean;
  settle(claim: Claim | undefined): void;
  fail(thrown: unknown): void;
}

/**
 * Claims that wait, first come first served. A queue is checked once however many claims wait for it, and an empty queue
 * costs a few commands.
 */
export class WaitingClaims {
  readonly #fleet: FleetClient;
  readonly #evaluations: Evaluations;
  readonly #waiters = new Map<string, Waiter[]>();
  #looking: Promise<void> | undefined;

  constructor(fleet: FleetClient, evaluations: Evaluations) {
    this.#fleet = fleet;
    this.#evaluations = evaluations;
  }

  /** Resolves with an evaluation, or with undefined when the time is over or the client has left. */
  wait(claim: WaitingClaim): Promise<Claim | undefined> {
    if (claim.signal.aborted) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      const end = () => {
        waiter.isSettled = true;
        clearTimeout(timer);
        claim.signal.removeEventListener('abort', leave);
        this.#remove(waiter);
      };
      const waiter: Waiter = {
        ...claim,
        isSettled: false,
        settle: (claimed) => {
          end();
          resolve(claimed);
        },
        fail: (thrown) => {
          end();
          reject(thrown);
        },
      };
      const leave = () => waiter.settle(undefined);
      const timer = setTimeout(leave, claim.timeoutMs);
      claim.signal.addEventListener('abort', leave, { once: true });
      this.#waiters.set(claim.queue, [...(this.#waiters.get(claim.queue) ?? []), waiter]);
      this.#looking ??= this.#look();
    });
  }

  #remove(waiter: Waiter): void {
    const others = (this.#waiters.get(waiter.queue) ?? []).filter((other) => other !== waiter);
    if (others.length === 0) this.#waiters.delete(waiter.queue);
    else this.#waiters.set(waiter.queue, others);
  }

  async #look(): Promise<void> {
    while (this.#waiters.size > 0) {
      const ms = Math.max(LOOK_MS, this.#waiters.size * MS_A_QUEUE);
      await new Promise((resolve) => setTimeout(resolve, ms));
      const queues = [...this.#waiters.keys()];
      for (let from = 0; from < queues.length; from += PAGE) {
        await this.#serve(queues.slice(from, from + PAGE));
      }
    }
    this.#looking = undefined;
  }

  async #serve(queues: readonly string[]): Promise<void> {
    try {
      const ready = await this.#withWork(queues);
      // A failure in one queue only concerns the claims that wait for it.
      await Promise.all(
        ready.map((queue) => this.#serveQueue(queue).catch((thrown: unknown) => this.#fail([queue], thrown))),
      );
    } catch (thrown) {
      // Redis is away: waiting claims fail like new ones.
      this.#fail(queues, thrown);
    }
  }

  #fail(queues: readonly string[], thrown: unknown): void {
    for (const queue of queues) for (const waiter of this.#waiters.get(queue) ?? []) waiter.fail(thrown);
  }

  /** Those queues in which a job waits, is due, or is active with a lease that may have expired. */
  async #withWork(queues: readonly string[]): Promise<string[]> {
    const due = (Date.now() + 1) * DELAYED_SCALE;
    const pipeline = this.#fleet.client.pipeline();
    for (const queue of queues) {
      const key = (name: string) => this.#fleet.jobKey(queue, name);
      pipeline.llen(key('wait')).zcard(key('prioritized')).llen(key('active'));
      pipeline.zcount(key('delayed'), '-inf', due);
    }
    const answers = (await pipeline.exec()) ?? [];
    for (const [error] of answers) if (error !== null) throw error;
    const counts = answers.map(([, count]) => Number(count));
    return queues.filter((_, index) => counts.slice(index * 4, index * 4 + 4).some((count) => count > 0));
  }

  /** Gives evaluations of a queue to waiting claims while there are both. */
  async #serveQueue(queue: string): Promise<void> {
    /** A claim whose client left meanwhile. If no other client waits, its lease expires. */
    let spare: Claim | undefined;
    for (;;) {
      const next = this.#nextWithRoom(queue);
      if (next === undefined) return;
      const { waiter, slot } = next;
      let isTaken = false;
      try {
        if (!(await isStillAllowed(waiter)) || waiter.isSettled) continue;
        const passedOn = spare && (await this.#passOn(spare, waiter.leaseMs));
        spare = undefined;
        const claim = passedOn ?? (await this.#evaluations.claim(queue, waiter.leaseMs, waiter.owner));
        if (claim === undefined) return;
        if (waiter.isSettled) spare = claim;
        else {
          isTaken = true;
          slot.keep();
          waiter.settle(claim);
        }
      } finally {
        if (!isTaken) slot.release();
      }
    }
  }

  /** The first waiting claim whose token has a slot for the answer; it need not wait for claims before it without one. */
  #nextWithRoom(queue: string): { readonly waiter: Waiter; readonly slot: AnswerSlot } | undefined {
    for (const waiter of this.#waiters.get(queue) ?? []) {
      const slot = waiter.tryRoomForAnswer();
      if (slot !== undefined) return { waiter, slot };
    }
    return undefined;
  }

  /** The claim with the lease that the next client requested; undefined if it was lost or cancelled meanwhile. */
  async #passOn(claim: Claim, leaseMs: number): Promise<Claim | undefined> {
    try {
      await this.#evaluations.heartbeat(claim, leaseMs);
      return { ...claim, leaseMs };
    } catch (thrown) {
      if (thrown instanceof JobError) return undefined;
      throw thrown;
    }
  }
}

/** Fails a waiting claim whose caller may no longer claim. */
async function isStillAllowed(waiter: Waiter): Promise<boolean> {
  try {
    await waiter.stillAllowed();
    return true;
  } catch (thrown) {
    waiter.fail(thrown);
    return false;
  }
}
