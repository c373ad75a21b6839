import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { RunningJobs } from '../../src/fleet/running-jobs.js';

const job = (number: number) => ({
  key: `fleet:extract:${number}`,
  token: 'token',
  attempt: `attempt-${number}`,
  hasCrashed: true,
});

it('jobs that must run isolated stay away longer the more there are of them, within bounds, and less again as they end', () => {
  const jobs = new RunningJobs(new Redis({ lazyConnect: true }));
  expect(jobs.add(job(0))).toBe(true);
  expect(jobs.add(job(1))).toBe(false);
  const longest = () => jobs.putOffMs(() => 1);
  const alone = longest();
  expect(alone).toBeLessThan(1_000);
  for (let number = 2; number < 200; number += 1) expect(jobs.add(job(number))).toBe(false);
  const crowded = longest();
  expect(crowded).toBeGreaterThan(alone * 10);
  // One that comes again is not another one.
  for (let time = 0; time < 100; time += 1) jobs.add(job(5));
  expect(longest()).toBe(crowded);
  expect(jobs.putOffMs(() => 0)).toBe(500);
  for (let number = 0; number < 200; number += 1) {
    jobs.remove(job(number));
    expect(jobs.add(job(number + 1))).toBe(true);
  }
  expect(longest()).toBeLessThanOrEqual(alone);
  jobs.remove(job(200));
  for (let number = 0; number < 100_000; number += 1) jobs.add(job(number));
  expect(longest()).toBeLessThanOrEqual(121_000);
});
