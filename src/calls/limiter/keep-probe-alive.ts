import { messageOf } from '../../errors.js';
import { limiterKey } from '../../queues/redis-keys.js';
import { runScript } from '../../queues/run-script.js';
import type { CallControl } from '../call-control.js';
import { RENEW_PROBE } from '../call-scripts.js';

/** How often a half-open probe is renewed, in milliseconds: some renewals may be late before it expires. */
const RENEW_MS = 1_500;

/**
 * Renews a half-open probe while this process lives: the fleet then waits for a slow probe, but not for one whose worker
 * crashed.
 *
 * @param by Id of the attempt that sent it.
 * @returns stops the renewal
 */
export function keepProbeAlive(
  { client, prefix, clock, now }: CallControl,
  model: string,
  by: string,
  warn: (message: string) => void,
): () => void {
  let cancel: () => void = () => undefined;
  let isActive = true;
  const renewLater = () => {
    cancel = clock.after(RENEW_MS, () => {
      runScript(client, RENEW_PROBE, [limiterKey(prefix, model)], [by, now?.() ?? '']).then(
        (renewed) => {
          if (isActive && renewed === 1) renewLater();
        },
        (thrown: unknown) =>
          warn(`the half-open probe of ${model} could not be renewed: ${messageOf(thrown)}`),
      );
    });
  };
  renewLater();
  return () => {
    isActive = false;
    cancel();
  };
}
