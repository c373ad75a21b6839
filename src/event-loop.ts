/** How long loops may keep the process from everything else, in milliseconds. */
const MAX_BUSY_MS = 20;

/** Things that are worked on at the same time by `mapInChunks`. */
const CHUNK = 100;

/** Loops that have yielded and go on one after the other, each in a turn of the event loop of its own. */
const yielded: (() => void)[] = [];
let turnStartedAt = Number.NEGATIVE_INFINITY;

function resumeNext(): void {
  turnStartedAt = performance.now();
  yielded.shift()?.();
  if (yielded.length > 0) setImmediate(resumeNext);
}

/**
 * For loops over thousands of things whose steps wait for nothing: lets the process serve others where such loops have kept
 * it busy for long enough. All loops share that time: many at once keep others waiting no longer than one does.
 */
export async function yieldWhenBusy(): Promise<void> {
  if (performance.now() - turnStartedAt < MAX_BUSY_MS) return;
  await new Promise<void>((resolve) => {
    if (yielded.push(resolve) === 1) setImmediate(resumeNext);
  });
}

/** As `Promise.all` over a map, but a part at a time: neither the process nor Redis has thousands of them to do at once. */
export async function mapInChunks<T, R>(
  items: readonly T[],
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const done: R[] = [];
  for (let start = 0; start < items.length; start += CHUNK) {
    await yieldWhenBusy();
    const chunk = items.slice(start, start + CHUNK);
    done.push(...(await Promise.all(chunk.map((item, at) => work(item, start + at)))));
  }
  return done;
}
