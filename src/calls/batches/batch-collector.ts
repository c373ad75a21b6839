import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { batchBase, spendBase } from '../../queues/redis-keys.js';
import { replyList, replyText, runScript } from '../../queues/run-script.js';
import type { Clock } from '../clock.js';
import { packAnswer } from '../ledger/stored-answer.js';
import { CallFault, type CallOutcome } from '../outcome.js';
import { billedTokens, settledCall } from '../settled-call.js';
import type { BatchProvider, BatchRequest } from './batch-provider.js';
import type { BatchTiming } from './batch-timing.js';
import { leaveCancelledLines } from './cancelled-lines.js';
import { findCreated } from './find-created.js';
import { inDoubt, lineOutcome, ResultLineSchema, removedEnd, unbilled } from './line-outcome.js';
import { CLAIM_LINES, END_LINE, FORGET_BATCH, RECORD_BATCH, RETURN_LINES } from './line-scripts.js';
import { readBatch, readLine, requestOf, type StoredBatch } from './stored-batch.js';

/** Lines that are read or ended at once. */
const AT_ONCE = 50;

export interface CollectorOptions {
  readonly client: Redis;
  readonly prefix: string;
  readonly provider: BatchProvider;
  readonly timing: BatchTiming;
  readonly clock: Clock;
  readonly log: {
    info(fields: Record<string, unknown>, message: string): void;
    warn(fields: Record<string, unknown>, message: string): void;
  };
  /** Adds a line to the log of a job. */
  readonly logOfJob: (jobKey: string, message: string) => Promise<void>;
  /** Whether a live worker with these credentials looks after its batches. */
  readonly isServed: (account: string) => Promise<boolean>;
}

/**
 * Looks after the batches of one account: sends lines that wait, asks how batches are, and writes their results to the ledgers
 * of the jobs. Only one worker of an account does so at a time. Each step is written so that the next worker can continue
 * after a crash at any point.
 */
export class BatchCollector {
  readonly #options: CollectorOptions;
  readonly #base: string;
  /** When lines are sent again after the provider took none. */
  #sendAgainAt = 0;
  /** The provider refused a batch as too large: later ones are smaller. */
  #maxBytes: number;

  constructor(options: CollectorOptions) {
    this.#options = options;
    this.#base = batchBase(options.prefix);
    this.#maxBytes = options.timing.maxBytes;
  }

  /** @param signal Ends the look; a batch that is being sent is awaited. */
  async look(signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#options;
    await leaveCancelledLines(this.#options);
    const due = await client.zrangebyscore(`${this.#base}:open`, '-inf', clock.now());
    for (const name of due) {
      if (signal.aborted) return;
      await this.#lookAt(name, signal);
    }
    while (!signal.aborted && (await this.#isDue())) {
      if (!(await this.#send())) return;
    }
  }

  async #lookAt(name: string, signal: AbortSignal): Promise<void> {
    const { client, log, timing, clock, provider } = this.#options;
    const batch = await readBatch(client, this.#base, name);
    if (batch === undefined) {
      await client.zrem(`${this.#base}:open`, name);
      return;
    }
    // Before the look: a batch that cannot be looked at must not keep the others waiting.
    await client.zadd(`${this.#base}:open`, 'XX', clock.now() + timing.pollMs, name);
    if (batch.account !== provider.account) {
      // Only the account that created a batch can say whether it exists; its results may be readable with another key.
      if (batch.state === 'creating' || (await this.#options.isServed(batch.account))) return;
    }
    const limited = AbortSignal.any([signal, AbortSignal.timeout(timing.requestMs)]);
    try {
      if (batch.state === 'creating') await this.#resolve(batch, limited);
      else await this.#poll(batch, batch.id ?? '', limited, signal);
    } catch (thrown) {
      if (!(thrown instanceof CallFault)) throw thrown;
      const fields = { batch: batch.id ?? name, reason: thrown.message };
      log.warn(fields, 'a batch could not be looked at; it is tried again');
    }
  }

  /** A batch whose creation is in doubt: it is looked up, and only sent again if it certainly was not created. */
  async #resolve(batch: StoredBatch, signal: AbortSignal): Promise<void> {
    const { client, provider, log, clock, timing } = this.#options;
    const found = await findCreated(client, this.#base, batch, provider, signal);
    if (found !== undefined) {
      await this.#record(batch.name, found.id, found.isSure);
      log.warn({ batch: found.id }, 'a batch whose creation was in doubt was found');
    } else if (clock.now() - batch.at > 2 * timing.requestMs) {
      await this.#giveBack(batch.name);
      log.warn({ lines: batch.count }, 'a batch was not created; its calls are sent in the next one');
    }
  }

  async #poll(batch: StoredBatch, id: string, limited: AbortSignal, signal: AbortSignal): Promise<void> {
    const { client, provider, log } = this.#options;
    const lines = `${this.#base}:of:${batch.name}:lines`;
    const isOwn = batch.account === provider.account;
    const state = await provider.retrieve(id, limited).catch((thrown: unknown) => {
      if (isOwn && thrown instanceof CallFault && thrown.outcome.status === 404) return undefined;
      throw thrown;
    });
    if (state?.hasEnded === false) return this.#cancelIfLeft(batch, id, limited);
    if (state?.hasResults === true) {
      if (!batch.isSure && !(await this.#isOurs(batch, id, signal))) return;
      await this.#readResults(id, signal);
    }
    const rest = await client.smembers(lines);
    if (rest.length > 0)
      log.warn({ batch: id, lines: rest.length }, 'the results of a batch do not name all its calls');
    await this.#endAll(rest, inDoubt('the provider does not say how the call ended in its batch'));
    await runScript(client, FORGET_BATCH, [this.#base], [batch.name]);
    log.info({ batch: id, lines: batch.count }, 'a batch has ended');
  }

  /** Cancels a batch for which no job waits any more, if it is certainly not that of somebody else. */
  async #cancelIfLeft(
    { name, isSure, isCancelled }: StoredBatch,
    id: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { client, provider, log } = this.#options;
    const batch = `${this.#base}:of:${name}`;
    const [lines, left] = await Promise.all([
      client.scard(`${batch}:lines`),
      client.sinter(`${batch}:lines`, `${batch}:left`),
    ]);
    if (!isSure || isCancelled || lines === 0 || left.length < lines) return;
    await provider.cancel(id, signal);
    await client.hset(batch, 'cancelled', '1');
    log.info({ batch: id, lines }, 'a batch is cancelled: no job waits for it any more');
  }

  /** Whether the results of a batch that was found by its size and time are those of this one. */
  async #isOurs({ name, foreign }: StoredBatch, id: string, signal: AbortSignal): Promise<boolean> {
    const { client, provider, clock } = this.#options;
    const batch = `${this.#base}:of:${name}`;
    for await (const raw of provider.results(id, signal)) {
      const line = ResultLineSchema.safeParse(raw).data;
      if (line === undefined || (await client.sismember(`${batch}:lines`, line.custom_id)) === 0) break;
      await client.hset(batch, 'isSure', '1');
      return true;
    }
    await client
      .multi()
      .hset(batch, { state: 'creating', foreign: JSON.stringify([...foreign, id]) })
      .hdel(batch, 'id')
      .zadd(`${this.#base}:open`, 'XX', clock.now(), name)
      .exec();
    return false;
  }

  async #readResults(id: string, signal: AbortSignal): Promise<void> {
    const { provider, log } = this.#options;
    let ending: Promise<void>[] = [];
    for await (const raw of provider.results(id, signal)) {
      const { data, error } = ResultLineSchema.safeParse(raw);
      if (data === undefined) {
        log.warn({ batch: id, reason: error?.message }, 'a line of the results of a batch cannot be read');
        continue;
      }
      ending.push(this.#endLine(data.custom_id, (request) => lineOutcome(data, request)));
      if (ending.length < AT_ONCE) continue;
      await Promise.all(ending);
      ending = [];
    }
    await Promise.all(ending);
  }

  async #endAll(ids: readonly string[], outcome: CallOutcome): Promise<void> {
    for (let at = 0; at < ids.length; at += AT_ONCE)
      await Promise.all(ids.slice(at, at + AT_ONCE).map((id) => this.#endLine(id, () => outcome)));
  }

  /** Writes how a line ended, if it has no end yet. */
  async #endLine(id: string, outcomeOf: (request: string) => CallOutcome): Promise<void> {
    const { client, prefix, provider, clock } = this.#options;
    const line = await readLine(client, this.#base, id);
    if (line === undefined) return;
    const outcome = outcomeOf(line.request);
    const call = { model: line.model, ...(provider.prices === undefined ? {} : { prices: provider.prices }) };
    const { end, billed, costNano, assumedNano } = settledCall(outcome, call, clock.now());
    const settled = {
      billed,
      cost: costNano ?? false,
      assumed: assumedNano ?? false,
      tokens: billedTokens(end),
      outcome: outcome.class,
    };
    await runScript(
      client,
      END_LINE,
      [this.#base, spendBase(prefix)],
      [
        id,
        JSON.stringify(settled),
        JSON.stringify(end),
        outcome.message === undefined ? '' : packAnswer(outcome.message),
        outcome.message?.model ?? line.model,
      ],
    );
  }

  /** Whether lines are to be sent now: there are enough for a whole batch, or the oldest has waited long enough. */
  async #isDue(): Promise<boolean> {
    const { client, clock, timing } = this.#options;
    if (clock.now() < this.#sendAgainAt) return false;
    const [count, bytes, [, oldest]] = await Promise.all([
      client.zcard(`${this.#base}:pending`),
      client.get(`${this.#base}:pending-bytes`),
      client.zrange(`${this.#base}:pending`, '0', '0', 'WITHSCORES'),
    ]);
    if (oldest === undefined) return false;
    const isFull = count >= timing.maxLines || Number(bytes) >= this.#maxBytes;
    return isFull || clock.now() - Number(oldest) >= timing.collectMs;
  }

  /** Sends a batch. @returns whether the provider took it. */
  async #send(): Promise<boolean> {
    const { client, provider, timing, clock, log } = this.#options;
    const name = randomUUID();
    const args = [name, provider.account, clock.now(), timing.maxLines, this.#maxBytes];
    const ids = replyList(await runScript(client, CLAIM_LINES, [this.#base], args)).map(
      (id) => replyText(id) ?? '',
    );
    if (ids.length === 0) return false;
    const requests: BatchRequest[] = [];
    for (let at = 0; at < ids.length; at += AT_ONCE)
      requests.push(...(await Promise.all(ids.slice(at, at + AT_ONCE).map((id) => this.#requestOf(id)))));
    try {
      const created = await provider.create(requests, AbortSignal.timeout(timing.requestMs));
      // Too late: other workers took this one for dead, and the calls are in another batch.
      if (!(await this.#record(name, created.id, true)))
        await provider.cancel(created.id, AbortSignal.timeout(timing.requestMs));
      log.info({ batch: created.id, lines: ids.length }, 'a batch was sent');
      return true;
    } catch (thrown) {
      if (!(thrown instanceof CallFault)) throw thrown;
      log.warn({ lines: ids.length, reason: thrown.message }, 'a batch could not be sent');
      await this.#notSent(name, ids, thrown.outcome);
      return false;
    }
  }

  async #requestOf(customId: string): Promise<BatchRequest> {
    const line = await readLine(this.#options.client, this.#base, customId);
    if (line === undefined) throw new RangeError(`the line ${customId} of a new batch is gone`);
    return { customId, params: requestOf(line) };
  }

  async #notSent(name: string, ids: readonly string[], outcome: CallOutcome): Promise<void> {
    const { client, timing, clock } = this.#options;
    const { status, neverSent } = outcome;
    this.#sendAgainAt = clock.now() + timing.pollMs;
    const isTooLarge = status === 413 && ids.length > 1;
    if (isTooLarge) this.#maxBytes = Math.max(1, Math.floor(this.#maxBytes / 2));
    if (neverSent || isTooLarge || status === 429 || status === 402) {
      await this.#giveBack(name);
    } else if (status !== undefined && status < 500 && status !== 408 && status !== 409) {
      // The provider takes no such batch: each call learns from its own answer what is wrong.
      await this.#endAll(ids, unbilled(outcome));
      await runScript(client, FORGET_BATCH, [this.#base], [name]);
    }
    // Otherwise it may have been created: it is looked up.
  }

  async #record(name: string, id: string, isSure: boolean): Promise<boolean> {
    const { client, clock, timing } = this.#options;
    const args = [name, id, clock.now() + timing.pollMs, isSure ? '1' : ''];
    return (await runScript(client, RECORD_BATCH, [this.#base], args)) === 1;
  }

  async #giveBack(name: string): Promise<void> {
    const { client, prefix, clock } = this.#options;
    const ended = JSON.stringify(removedEnd('no job waits for it', clock.now()));
    await runScript(client, RETURN_LINES, [this.#base, spendBase(prefix)], [name, ended]);
  }
}
