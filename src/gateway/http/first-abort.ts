/**
 * Aborted with the first of several signals, as `AbortSignal.any` would be. That one keeps a record of every signal that it
 * made as long as the given ones live, and those of the gateway live as long as its process.
 *
 * @param over Aborted in any case, and soon: then nothing is left at the other signals.
 */
export function firstAbort(over: AbortSignal, others: readonly AbortSignal[]): AbortSignal {
  const controller = new AbortController();
  const signals = [over, ...others];
  const end = () => {
    for (const signal of signals) signal.removeEventListener('abort', end);
    controller.abort(signals.find(({ aborted }) => aborted)?.reason);
  };
  if (signals.some(({ aborted }) => aborted)) end();
  else for (const signal of signals) signal.addEventListener('abort', end);
  return controller.signal;
}
