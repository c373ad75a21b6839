/** How often the event loop is looked at, in milliseconds; a stall of less is none. */
const TICK_MS = 100;
/** Stalls that are remembered: the latest. */
const MAX_STALLS = 100;

interface Stall {
  readonly endedAt: number;
  readonly ms: number;
}

/** Tells how long the event loop was blocked. */
export interface StallWatch {
  /** Starts again: earlier stalls do not count any more. */
  reset(): void;
  /** The longest stall since the last `reset`, in milliseconds; 0: none. */
  maxMs(): number;
  stop(): void;
}

const stalls: Stall[] = [];
let watches = 0;
let lastTick = 0;
let timer: NodeJS.Timeout | undefined;

/** Since when the next tick is late. */
const lateMs = () => Math.max(0, performance.now() - lastTick - TICK_MS);

function tick(): void {
  const ms = lateMs();
  lastTick = performance.now();
  if (ms < TICK_MS) return;
  stalls.push({ endedAt: lastTick, ms });
  if (stalls.length > MAX_STALLS) stalls.shift();
}

/**
 * Watches the event loop of this process until it is stopped. All watches share one timer: an idle worker with a timer of its own for each
 * kind would wake up a hundred times a second.
 */
export function watchStalls(): StallWatch {
  let since = performance.now();
  if (watches === 0) {
    lastTick = since;
    timer = setInterval(tick, TICK_MS).unref();
  }
  watches += 1;
  let isStopped = false;
  return {
    reset: () => {
      // A stall that has just ended belongs to the time before.
      tick();
      since = performance.now();
    },
    maxMs: () => {
      // The tick after a stall may not have come yet.
      const now = lateMs();
      const ended = stalls.filter(({ endedAt }) => endedAt > since).map(({ ms }) => ms);
      return Math.round(Math.max(now < TICK_MS ? 0 : now, ...ended));
    },
    stop: () => {
      if (isStopped) return;
      isStopped = true;
      watches -= 1;
      if (watches === 0) clearInterval(timer);
    },
  };
}
