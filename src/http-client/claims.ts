import { type OptionNames, rejectUnknownOptions } from '../known-options.js';
import type { GatewayConnection } from './connection.js';
import type { components } from './openapi-types.js';
import { MAX_POLL_MS } from './polling.js';

export interface HttpClaimOptions {
  /** How long the lease holds without `extend`, in milliseconds; default: 60,000. */
  readonly leaseMs?: number;
  /** How long to wait for an evaluation, in milliseconds; default: 0. */
  readonly waitMs?: number;
}

/** An evaluation that is this program's until its lease runs out, with its script as the check left it. */
export interface HttpClaim extends Readonly<components['schemas']['Claim']> {
  /**
   * Makes the lease hold for so long from now, in milliseconds; default: as long as the claim asked for.
   * @throws FleetError `lease-lost` if another program has the evaluation; `job-cancelled`: drop the work.
   */
  extend(leaseMs?: number): Promise<void>;
  /** Ends the evaluation with its result, any JSON. @throws FleetError `lease-lost`, `job-cancelled`. */
  complete(result: unknown): Promise<void>;
  /**
   * Ends this try without a result.
   * @param options.retryable false: no other try may help. Default: true.
   * @throws FleetError `lease-lost`, `job-cancelled`.
   */
  fail(message: string, options?: HttpFailOptions): Promise<void>;
}

export interface HttpFailOptions {
  /** Whether another try may help; default: true. */
  readonly retryable?: boolean;
}

const CLAIM_OPTIONS: OptionNames<HttpClaimOptions> = { leaseMs: true, waitMs: true };
const FAIL_OPTIONS: OptionNames<HttpFailOptions> = { retryable: true };

/** Takes the next evaluation of a queue, by long requests; undefined if none comes in time. */
export async function claimEvaluation(
  gateway: GatewayConnection,
  queue: string,
  options: HttpClaimOptions = {},
): Promise<HttpClaim | undefined> {
  rejectUnknownOptions(options, CLAIM_OPTIONS);
  const { leaseMs, waitMs = 0 } = options;
  const giveUpAt = performance.now() + waitMs;
  const body = { queue, ...(leaseMs === undefined ? {} : { leaseMs }) };
  for (;;) {
    const left = Math.min(Math.max(Math.ceil(giveUpAt - performance.now()), 0), MAX_POLL_MS);
    const query = waitMs === 0 ? {} : { wait: `${left}ms` };
    const claimed = await gateway.send((api) =>
      api.POST('/v1/evaluations/claim', { params: { query }, body }),
    );
    if (claimed !== undefined) return withEnds(gateway, claimed);
    if (performance.now() >= giveUpAt) return undefined;
  }
}

function withEnds(gateway: GatewayConnection, claimed: components['schemas']['Claim']): HttpClaim {
  const { queue, id, lease } = claimed;
  const mine = { queue, id, lease };
  return {
    ...claimed,
    extend: async (leaseMs = claimed.leaseMs) => {
      await gateway.send((api) => api.POST('/v1/evaluations/heartbeat', { body: { ...mine, leaseMs } }));
    },
    complete: async (result) => {
      await gateway.send((api) => api.POST('/v1/evaluations/complete', { body: { ...mine, result } }));
    },
    fail: async (message, options = {}) => {
      rejectUnknownOptions(options, FAIL_OPTIONS);
      await gateway.send((api) =>
        api.POST('/v1/evaluations/fail', { body: { ...mine, message, ...options } }),
      );
    },
  };
}
