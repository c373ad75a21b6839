/** Gives `vi.waitFor` and `vi.waitUntil` the limit of the suite, which the configuration of vitest can give to `expect.poll` alone. */
import { vi } from 'vitest';
import { WAIT_LIMIT_MS } from './wait-limit-ms.js';

/** Test files of one process share `vi`. */
const LIMITED = Symbol.for('solution-fleet.wait-limit');

if (!(LIMITED in vi)) {
  const { waitFor, waitUntil } = vi;
  type Options = Parameters<typeof waitFor>[1];
  const limited = (options: Options) =>
    typeof options === 'number' ? options : { timeout: WAIT_LIMIT_MS, ...options };
  const within: Pick<typeof vi, 'waitFor' | 'waitUntil'> = {
    waitFor: (check, options) => waitFor(check, limited(options)),
    waitUntil: (check, options) => waitUntil(check, limited(options)),
  };
  Object.assign(vi, within, { [LIMITED]: true });
}
