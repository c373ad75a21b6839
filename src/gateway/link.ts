import { setMaxListeners } from 'node:events';
import { ConfigurationError, messageOf, RedisError } from '../errors.js';
import { type RedisHealth, redisHealth } from '../queues/redis-health.js';
import { asRedisError } from '../queues/redis-refusal.js';
import { BUILT_IN_CONTRACTS, type KindRegistry } from '../queues/registry.js';
import { Admission } from './admission/admission.js';
import { Access } from './auth/access.js';
import { isLoopback } from './auth/same-origin.js';
import { TokenStore } from './auth/token-store.js';
import { Evaluations } from './evaluations/evaluations.js';
import { PipelineQueues } from './evaluations/pipeline-queues.js';
import { WaitingClaims } from './evaluations/waiting-claims.js';
import type { Gateway } from './gateway.js';
import type { GatewayOptions } from './gateway-options.js';
import { Collector } from './metrics/collector.js';
import { Statistics } from './metrics/statistics.js';

/** Pause between two attempts to reach a Redis that is away, in milliseconds. */
const RETRY_MS = 1_000;
/**
 * Longest wait for the reply to a write that tests Redis, in milliseconds. It waits for commands that were sent before it, such
 * as those of a batch of thousands, and a busy gateway must not look broken.
 */
const HEALTH_MS = 4_000;

const OPEN =
  'NO LOGIN: this gateway has no tokens, so everybody on this machine may submit, read and cancel jobs. ' +
  'Make a token with "fleet token add", and from then on it asks for one.';
const NO_LONGER_OPEN =
  'This fleet had tokens and has none now, so nobody can log in. Make one with "fleet token add NAME --role admin", ' +
  'or start with FLEET_AUTH=open to let everybody on this machine in.';

/**
 * The gateway's connection to the fleet. It may start while Redis is away: then every request is rejected at once until Redis
 * is there.
 */
export class FleetLink {
  readonly closing = new AbortController();
  /** The kinds that have routes. */
  readonly kinds: KindRegistry;
  readonly #options: GatewayOptions;
  #gateway: Gateway | undefined;
  #collector: Collector | undefined;
  #connecting: Promise<void> | undefined;
  #health: Promise<RedisHealth> | undefined;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.kinds = options.kinds ?? BUILT_IN_CONTRACTS;
    // Every open stream listens for the end.
    setMaxListeners(0, this.closing.signal);
  }

  /**
   * Connects, or keeps trying in the background if Redis is away.
   * @throws RedisError `redis-unsuitable`; ConfigurationError if tokens are needed and there are none.
   */
  async open(): Promise<void> {
    try {
      await this.#connect(true);
    } catch (thrown) {
      if (!isAway(thrown)) throw thrown;
      this.#options.logger.error(
        { reason: messageOf(thrown) },
        'Redis is away; requests are refused until it is there',
      );
      this.#connecting = this.#keepTrying();
    }
  }

  /** @throws RedisError `redis-unreachable` until the first connection is made. */
  require(): Gateway {
    if (this.#gateway !== undefined) return this.#gateway;
    throw new RedisError('redis-unreachable', 'the gateway has not reached Redis yet');
  }

  /** Whether Redis accepts writes now; concurrent callers share one of them. */
  health(): Promise<RedisHealth> {
    this.#health ??= this.#ask().finally(() => {
      this.#health = undefined;
    });
    return this.#health;
  }

  async #ask(): Promise<RedisHealth> {
    const fleet = this.#gateway?.fleet;
    return fleet === undefined ? { redis: 'away' } : redisHealth(fleet.client, fleet.prefix, HEALTH_MS);
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.#connecting;
    this.#gateway?.access.close();
    await this.#collector?.close();
    await this.#gateway?.evaluations.close();
    await this.#gateway?.fleet.close();
  }

  async #keepTrying(): Promise<void> {
    const { signal } = this.closing;
    while (!signal.aborted && this.#gateway === undefined) {
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      if (signal.aborted) return;
      try {
        await this.#connect(false);
      } catch (thrown) {
        this.#options.logger.warn({ reason: messageOf(thrown) }, 'Redis cannot be used yet');
      }
    }
  }

  async #connect(isStart: boolean): Promise<void> {
    const { settings, logger, redisUrl, stalledCheckMs } = this.#options;
    const fleet = await this.#options.openFleet(this.kinds);
    try {
      const tokens = new TokenStore(fleet.client, fleet.prefix);
      const access = await this.#openAccess(tokens, isStart);
      const statistics = new Statistics(fleet);
      fleet.feed.report = (reason) =>
        logger.warn({ reason }, 'events of the queues cannot be read; trying again');
      const pipelineQueues = new PipelineQueues(fleet);
      const evaluations = new Evaluations(fleet, pipelineQueues, redisUrl, logger, stalledCheckMs);
      this.#gateway = {
        settings,
        logger,
        fleet,
        tokens,
        access,
        statistics,
        costs: this.#options.costs,
        admission: new Admission(fleet, statistics, settings.maxWaiting, () => tokens.submitters()),
        feed: fleet.feed,
        pipelineQueues,
        evaluations,
        waitingClaims: new WaitingClaims(fleet, evaluations),
        closing: this.closing.signal,
      };
      this.#collector = new Collector(fleet, redisUrl, logger);
      const authenticates = await access.needsToken();
      logger.info({ authenticates }, 'connected to the fleet');
    } catch (thrown) {
      await fleet.close();
      throw thrown;
    }
  }

  async #openAccess(tokens: TokenStore, isStart: boolean): Promise<Access> {
    const { host, settings, announce } = this.#options;
    const isLocal = isLoopback(host);
    const access = new Access(tokens, settings.auth, isLocal);
    try {
      const { needsTokens, hasTokens } = await access.start();
      if (!needsTokens) announce(OPEN);
      else if (!hasTokens) {
        const mustHave = !isLocal || settings.auth === 'required';
        const problem = mustHave
          ? `A gateway on ${host} needs a token, and there is none. Make one with "fleet token add NAME --role admin", or listen on 127.0.0.1.`
          : NO_LONGER_OPEN;
        if (isStart && mustHave) throw new ConfigurationError(problem);
        announce(`${problem} Until then every request is refused.`);
      }
      return access;
    } catch (thrown) {
      access.close();
      throw thrown;
    }
  }
}

function isAway(thrown: unknown): boolean {
  const typed = asRedisError(thrown);
  return typed instanceof RedisError && typed.code === 'redis-unreachable';
}
