import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { chooseRunner } from '../agents/select-runner.js';
import { abortable } from '../async.js';
import { isSet } from '../config/load-config.js';
import type { Config } from '../config/settings.js';
import { RedisError } from '../errors.js';
import { acquireThrowawayRedis } from '../fleet/embedded-redis.js';
import type { FleetWorker } from '../fleet/worker.js';
import { FleetClient } from '../producers/fleet-client.js';
import { asRedisError } from '../queues/redis-refusal.js';
import { clientOptions } from './client-options.js';
import { type CommandRedis, openRedis } from './command-redis.js';
import { interruptible } from './interruption.js';
import { knownKinds } from './known-kinds.js';
import { ephemeralPrefix, holdPrefix, removePrefix, sweepOwnPrefixes } from './own-prefix.js';
import { isSupervised } from './start/where-jobs-run.js';
import { Submissions } from './submissions.js';
import { escapeControlCharsInLine } from './terminal/escape-control-chars.js';
import { printNote } from './terminal/print.js';

/** How a command uses the fleet. */
export interface SessionOptions {
  /** Whether it needs its jobs done: without a configured Redis there is then a worker in this process. */
  readonly work: boolean;
  /**
   * Whether its jobs are for its own worker alone: another worker of the same embedded Redis may have other agents, and
   * would send them where they must not go.
   */
  readonly isolated?: boolean;
  /** The workspace that the command names. Where its jobs are for its own worker, that worker reads in it alone. */
  readonly workspace?: string | undefined;
}

interface Session {
  readonly fleet: FleetClient;
  /** What a command says about something that was thrown in it: where its Redis is gone, that. */
  failureOf(thrown: unknown): Promise<unknown>;
  /** Aborted when what the session depends on is gone for good. */
  readonly lost?: AbortSignal;
  /** @param before is done first, while everything is still open */
  close(before: () => Promise<void>): Promise<void>;
}

/**
 * What a command needs to talk to the fleet. Without a configured Redis, the embedded one is started, and with
 * `work` also a worker in this process; with one, workers are somebody else's.
 */
async function openSession(
  config: Config,
  { work, isolated = false, workspace }: SessionOptions,
  interrupted: AbortSignal,
): Promise<Session> {
  const kinds = await knownKinds(config);
  const ownWorker = work && isSupervised(config);
  // Without an embedded Redis, one that is kept for nobody else will do.
  const throwaway = ownWorker && isolated && config.embeddedRedis === 'off';
  const redis: CommandRedis = throwaway ? await acquireThrowawayRedis() : await openRedis(config);
  const closers: (() => Promise<void>)[] = [];
  const close = (before: () => Promise<void>) => closeSession(redis, [...closers, before], interrupted);
  const prefix = ownWorker && isolated && !throwaway ? ephemeralPrefix(config.prefix) : config.prefix;
  const failureOf = (thrown: unknown) => failureIn(redis, thrown);
  const open = async () => {
    const fleet = await FleetClient.open({
      ...clientOptions(config, redis.url, kinds),
      waitForSlow: isSupervised(config),
      prefix,
    });
    closers.push(() => fleet.close());
    if (prefix !== config.prefix) {
      await holdPrefix(fleet.client, prefix);
      await sweepOwnPrefixes(fleet.client, config.prefix);
      closers.push(() => removePrefix(fleet.client, prefix));
    }
    if (ownWorker) {
      // A command shows its jobs' failures itself; of its worker, only the choice of agents is worth a line.
      printNote(escapeControlCharsInLine(chooseRunner(config.agent).reason));
      // Most commands have no worker, and what one loads takes longer than they run.
      const [{ createLogger }, { startWorker }] = await Promise.all([
        import('../fleet/logger.js'),
        import('./start-worker.js'),
      ]);
      const logger = createLogger(isSet('logLevel') ? config.logLevel : 'fatal');
      const worker = await startWorker(config, redis.url, logger, {
        prefix,
        ...(isolated ? { workspaceRoots: workspace === undefined ? [] : [workspace] } : {}),
      });
      closers.push(() => stopWorker(worker, config.drainSeconds * 1_000, [interrupted, redis.lost]));
    }
    return fleet;
  };
  try {
    // A worker that starts waits for a Redis that is away.
    const stop = redis.lost === undefined ? interrupted : AbortSignal.any([interrupted, redis.lost]);
    const fleet = await unlessAborted(stop, open);
    return { fleet, failureOf, close, ...(redis.lost === undefined ? {} : { lost: redis.lost }) };
  } catch (thrown) {
    const failure = await failureOf(thrown);
    await close(async () => undefined);
    throw failure;
  }
}

/** The end of a server shows in its clients first. Its supervisor tells of it a moment later. */
const LOSS_SHOWS_MS = 10_000;

/** How long a command that has said its last word may go on, in milliseconds. */
const LAST_WORD_MS = 200;
/** How long a command that was interrupted may take to end in order, in milliseconds, however slow its Redis is. */
const MAX_INTERRUPTED_MS = 30_000;

/**
 * Closes what a session has opened, the last one first, and then gives its Redis up. A Redis that is gone is not waited
 * for, nor is one that keeps nothing when the command is interrupted: clients that wait for an answer end with the process.
 */
async function closeSession(
  { lost, release }: CommandRedis,
  closers: (() => Promise<void>)[],
  interrupted: AbortSignal,
): Promise<void> {
  const inOrder = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  const limit = interrupted.aborted ? AbortSignal.timeout(MAX_INTERRUPTED_MS) : undefined;
  const giveUp = lost === undefined ? limit : AbortSignal.any([lost, interrupted]);
  try {
    await (giveUp === undefined ? inOrder() : unlessAborted(giveUp, inOrder));
  } catch (thrown) {
    if (giveUp?.aborted !== true) throw thrown;
    setTimeout(() => process.exit(), LAST_WORD_MS).unref();
  } finally {
    await release();
  }
}

/** Gives a failure its type. Where the Redis of the command has ended, the failure is that it did. */
async function failureIn({ lost }: CommandRedis, thrown: unknown): Promise<unknown> {
  const failure = asRedisError(thrown);
  if (lost === undefined || !(failure instanceof RedisError)) return failure;
  if (!lost.aborted) {
    await Promise.race([once(lost, 'abort'), wait(LOSS_SHOWS_MS, undefined, { ref: false })]);
  }
  return lost.aborted ? lost.reason : failure;
}

/** Stops the worker of a command: running jobs have their time, unless one of the signals is aborted. */
async function stopWorker(
  worker: FleetWorker,
  drainMs: number,
  hurry: readonly (AbortSignal | undefined)[],
): Promise<void> {
  const stopped = worker.stop(hurry.some((signal) => signal?.aborted) ? 0 : drainMs);
  for (const signal of hurry) signal?.addEventListener('abort', () => worker.abortRunning(), { once: true });
  await stopped;
}

/**
 * Opens a session, does something with it, and closes it whatever happens. SIGINT and SIGTERM end it: the jobs among
 * its `submissions` are cancelled, running ones of other commands go back to their queue, and it throws `Interrupted`.
 */
export function withSession<T>(
  config: Config,
  options: SessionOptions,
  action: (fleet: FleetClient, submissions: Submissions, failureOf: Session['failureOf']) => Promise<T>,
): Promise<T> {
  return interruptible(async (interrupted) => {
    const session = await openSession(config, options, interrupted);
    const submissions = new Submissions(interrupted);
    try {
      const { fleet, failureOf, lost } = session;
      const work = () => unlessAborted(interrupted, () => action(fleet, submissions, failureOf));
      return await (lost === undefined ? work() : unlessAborted(lost, work));
    } catch (thrown) {
      throw await session.failureOf(thrown);
    } finally {
      await session.close(async () => {
        if (interrupted.aborted) await submissions.cancelAll();
      });
    }
  });
}

/** Does work unless the signal is aborted, or until it is. @throws the signal's reason. */
async function unlessAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  return abortable(work(), signal);
}
