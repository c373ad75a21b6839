/**
 * Aborted with the first of several signals, like `AbortSignal.any`. That function keeps a record of every signal that it
 * made while its sources live, and the gateway's signals live as long as its process.
 *
 * @param over Always aborted soon: then the listeners on the other signals are removed.
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
