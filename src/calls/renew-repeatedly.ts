import type { Clock } from './clock.js';

/** How often a lease in Redis is renewed, in milliseconds: some renewals may be late before it expires. */
const RENEW_MS = 1_500;

/**
 * Renews a lease while this process lives: the fleet then waits for a slow call, but not for one whose worker crashed.
 *
 * @param renew Returns whether the lease was still owned; if not, it is renewed no more.
 * @param onError Called if a renewal fails; it is renewed no more.
 * @returns stops the renewal
 */
export function renewRepeatedly(
  clock: Clock,
  renew: () => Promise<boolean>,
  onError: (thrown: unknown) => void,
): () => void {
  let cancel: () => void = () => undefined;
  let isActive = true;
  const renewLater = () => {
    cancel = clock.after(RENEW_MS, () => {
      renew().then((renewed) => {
        if (isActive && renewed) renewLater();
      }, onError);
    });
  };
  renewLater();
  return () => {
    isActive = false;
    cancel();
  };
}
