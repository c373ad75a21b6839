import { JobError } from '../../errors.js';
import type { FleetClient } from '../../producers/fleet-client.js';
import type { AnswerPlace } from '../http/operation.js';
import type { Claim, Evaluations } from './evaluations.js';

/** How often queues with waiting claims are looked at, in milliseconds. */
const LOOK_MS = 250;
/** Least time for each queue that is looked at, so that a thousand queues are looked at more rarely. */
const MS_A_QUEUE = 5;
/** Queues that one round trip asks about. */
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
  /** Asked before an evaluation is claimed for it: its token may have been revoked. */
  readonly stillAllowed: () => Promise<unknown>;
  /** Room for the answer, which holds a script; none where the token has too many answers that nobody reads. */
  readonly tryRoomForAnswer: () => AnswerPlace | undefined;
}

interface Waiter extends WaitingClaim {
  isSettled: boolean;
  settle(claim: Claim | undefined): void;
  fail(thrown: unknown): void;
}

/**
 * Claims that wait, first come first served. However many wait for one queue, it is looked at once, and a queue in which
 * nothing is to be had costs a few commands.
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

  /** Resolves with an evaluation, or with undefined when the time is over or the client has gone. */
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
      // What is wrong in one queue concerns those alone who wait for it.
      await Promise.all(
        ready.map((queue) => this.#serveQueue(queue).catch((thrown: unknown) => this.#fail([queue], thrown))),
      );
    } catch (thrown) {
      // Redis is away: whoever waits is told so, as whoever asks is.
      this.#fail(queues, thrown);
    }
  }

  #fail(queues: readonly string[], thrown: unknown): void {
    for (const queue of queues) for (const waiter of this.#waiters.get(queue) ?? []) waiter.fail(thrown);
  }

  /** Those of the queues in which something waits, is due, or is held by somebody who may have vanished. */
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

  /** Gives evaluations of a queue to those who wait for them, as long as there are both. */
  async #serveQueue(queue: string): Promise<void> {
    /** One whose client left while it was claimed. Without a next client it comes back when its lease runs out. */
    let spare: Claim | undefined;
    for (;;) {
      const next = this.#nextWithRoom(queue);
      if (next === undefined) return;
      const { waiter, place } = next;
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
          place.keep();
          waiter.settle(claim);
        }
      } finally {
        if (!isTaken) place.release();
      }
    }
  }

  /** The first who waits and whose token has room for the answer: the others do not keep it waiting. */
  #nextWithRoom(queue: string): { readonly waiter: Waiter; readonly place: AnswerPlace } | undefined {
    for (const waiter of this.#waiters.get(queue) ?? []) {
      const place = waiter.tryRoomForAnswer();
      if (place !== undefined) return { waiter, place };
    }
    return undefined;
  }

  /** The claim with the lease that its next holder asked for; undefined where it was lost or cancelled meanwhile. */
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

/** Tells whoever may no longer claim so. */
async function isStillAllowed(waiter: Waiter): Promise<boolean> {
  try {
    await waiter.stillAllowed();
    return true;
  } catch (thrown) {
    waiter.fail(thrown);
    return false;
  }
}
