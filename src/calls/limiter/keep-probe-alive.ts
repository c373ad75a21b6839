import { messageOf } from '../../errors.js';
import { limiterKey } from '../../queues/redis-keys.js';
import { runScript } from '../../queues/run-script.js';
import type { CallControl } from '../call-control.js';
import { RENEW_PROBE } from '../call-scripts.js';
import { renewRepeatedly } from '../renew-repeatedly.js';

/**
 * Renews a half-open probe while this process lives.
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
  return renewRepeatedly(
    clock,
    async () =>
      (await runScript(client, RENEW_PROBE, [limiterKey(prefix, model)], [by, now?.() ?? ''])) === 1,
    (thrown) => warn(`the half-open probe of ${model} could not be renewed: ${messageOf(thrown)}`),
  );
}
