/** How long a loop over many things may keep the process from others, in milliseconds. */
const MAX_BUSY_MS = 20;

/**
 * For loops over thousands of things whose steps wait for nothing: the returned function lets other requests be served where
 * the loop has gone on for long enough.
 */
export function breathing(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < MAX_BUSY_MS) return;
    await new Promise<void>((resolve) => setImmediate(resolve));
    since = performance.now();
  };
}
