/**
 * Waits for work that cannot be interrupted, until the signal is aborted. The work itself then goes on, and its outcome is
 * dropped.
 * @throws the signal's reason once it is aborted.
 */
export function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** Whether work succeeds within `ms`; work that fails in time is thrown. */
export async function succeedsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** As `Promise.all` over a map, with so many at the same time. Nothing is begun after one has failed. */
export async function mapAtOnce<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const entries = items.entries();
  let failed = false;
  const oneAfterTheOther = async () => {
    for (const [index, item] of entries) {
      if (failed) return;
      try {
        results[index] = await work(item, index);
      } catch (thrown) {
        failed = true;
        throw thrown;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, oneAfterTheOther));
  return results;
}
