import { messageOf } from '../../errors.js';
import { runScript } from '../../queues/run-script.js';
import { type CallControl, limiterKey } from '../call-control.js';
import { RENEW_PROBE } from '../call-scripts.js';

/** How often the lease of a probe is renewed, in milliseconds: some renewals may be late before it runs out. */
const RENEW_MS = 1_500;

/**
 * Keeps the turn of a probe as long as this process lives, so that the fleet waits for one that is slow and not for one
 * whose worker has died.
 *
 * @param run The run of a job that sent it, as the ledger names it.
 * @returns ends it
 */
export function holdProbe(
  { client, prefix, clock, now }: CallControl,
  model: string,
  run: string,
  warn: (message: string) => void,
): () => void {
  let cancel: () => void = () => undefined;
  let held = true;
  const renewLater = () => {
    cancel = clock.after(RENEW_MS, () => {
      runScript(client, RENEW_PROBE, [limiterKey(prefix, model)], [run, now?.() ?? '']).then(
        (kept) => {
          if (held && kept === 1) renewLater();
        },
        (thrown: unknown) =>
          warn(`the turn of the call that tries ${model} could not be kept: ${messageOf(thrown)}`),
      );
    });
  };
  renewLater();
  return () => {
    held = false;
    cancel();
  };
}
