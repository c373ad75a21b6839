import { Session } from 'node:inspector/promises';
import { expect } from 'vitest';

/** A folder of sources that compute over the texts of users, which is for threads to do. */
type Computing = 'contamination' | 'leakage' | 'solution';

/**
 * Largest part of a work that the main thread may have been seen at: it may look at a text before and after. Where it does the
 * work it is all of it, whatever else the machine and this process do.
 */
const MAX_FRACTION = 0.5;

/**
 * Watches the main thread from now on, by samples of the functions that run on it. Its processor time would tell less: it also
 * collects garbage, and does what else the process does.
 * @returns a function that does the same work once more, in place, and expects that the main thread did not do it before
 */
export async function watchMainThread(
  folder: Computing,
): Promise<(inPlace: () => Promise<unknown>) => Promise<void>> {
  const stop = await startSampling(folder);
  return async (inPlace) => {
    const before = await stop();
    const stopInPlace = await startSampling(folder);
    await inPlace();
    const needed = await stopInPlace();
    expect(needed).toBeGreaterThan(0);
    expect(before).toBeLessThan(MAX_FRACTION * needed);
  };
}

/** @returns a function that ends the sampling, and tells in how many samples this thread ran a function of the folder */
async function startSampling(folder: Computing): Promise<() => Promise<number>> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.start');
  return async () => {
    const { profile } = await session.post('Profiler.stop');
    session.disconnect();
    const computing = profile.nodes.filter(({ callFrame }) => callFrame.url.includes(`/src/${folder}/`));
    return computing.reduce((sum, { hitCount = 0 }) => sum + hitCount, 0);
  };
}
