import type { Piscina } from 'piscina';

/** How long an idle thread waits for another worker of its process, in milliseconds. */
const SPARE_MS = 10_000;
/** Maximum number of idle threads of one kind. */
const MAX_SPARE = 2;

interface Spare {
  readonly pool: Piscina;
  readonly stop: () => void;
}

const spares = new Map<string, Spare[]>();

/**
 * Stores the idle thread of a worker that stops, for the next worker of the process: to start a thread takes longer than most
 * tasks do. It does not keep the process alive.
 * @param key Threads with the same key are interchangeable.
 * @returns false if there are enough of them.
 */
export function storeSpareThread(key: string, pool: Piscina): boolean {
  const list = spares.get(key) ?? [];
  if (list.length >= MAX_SPARE) return false;
  const drop = () => {
    take(key, pool);
    void pool.destroy();
  };
  const timer = setTimeout(drop, SPARE_MS).unref();
  pool.on('error', drop);
  spares.set(key, [
    ...list,
    {
      pool,
      stop: () => {
        clearTimeout(timer);
        pool.off('error', drop);
      },
    },
  ]);
  return true;
}

export function hasSpareThread(key: string): boolean {
  return (spares.get(key) ?? []).length > 0;
}

/** An idle thread with this key, if there is one. */
export function takeSpareThread(key: string): Piscina | undefined {
  const pool = spares.get(key)?.[0]?.pool;
  if (pool !== undefined) take(key, pool);
  return pool;
}

/** Ends all idle threads at once. */
export async function endSpareThreads(): Promise<void> {
  const all = [...spares.entries()].flatMap(([key, list]) => list.map(({ pool }) => ({ key, pool })));
  for (const { key, pool } of all) take(key, pool);
  await Promise.all(all.map(({ pool }) => pool.destroy()));
}

function take(key: string, pool: Piscina): void {
  const list = spares.get(key) ?? [];
  list.find((spare) => spare.pool === pool)?.stop();
  spares.set(
    key,
    list.filter((spare) => spare.pool !== pool),
  );
}
