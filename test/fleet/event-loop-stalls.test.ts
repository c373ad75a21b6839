import { setTimeout as wait } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { watchStalls } from '../../src/fleet/event-loop-stalls.js';

/** Keeps the event loop from all else. */
function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

it('tells the longest stall since it was asked to start again, also while its end has not been noticed yet', async () => {
  const [early, late] = [watchStalls(), watchStalls()];
  onTestFinished(() => {
    for (const watch of [early, late]) watch.stop();
  });
  await wait(0);
  const began = performance.now();
  block(500);
  expect(early.maxMs()).toBeGreaterThan(200);
  await expect.poll(() => early.maxMs()).toBeGreaterThan(200);
  expect(early.maxMs()).toBeLessThanOrEqual(performance.now() - began);
  late.reset();
  await wait(0);
  expect(late.maxMs()).toBeLessThan(early.maxMs());
});
