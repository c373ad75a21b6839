/**
 * Waits for work that cannot be interrupted, until the signal is aborted. The work itself then goes on, and its outcome is
 * dropped.
 * @throws the signal's reason once it is aborted.
 */
export function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort);
    work.then(
      (value) => {
        signal.removeEventListener('abort', abort);
        resolve(value);
      },
      (thrown: unknown) => {
        signal.removeEventListener('abort', abort);
        reject(thrown);
      },
    );
  });
}
