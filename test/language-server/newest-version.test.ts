import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { NewestVersion } from '../../src/language-server/newest-version.js';

/** Work that ends when the test says so, or when it is aborted. */
interface Work {
  readonly version: number;
  readonly signal: AbortSignal;
  readonly end: () => void;
}

let version: number;
let works: Work[];
let failures: string[];
let newest: NewestVersion;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  version = 0;
  works = [];
  failures = [];
  newest = new NewestVersion(
    (signal) =>
      new Promise((end, fail) => {
        signal.addEventListener('abort', () => fail(new Error('aborted')));
        works.push({ version, signal, end });
      }),
    (message) => failures.push(message),
  );
});
afterEach(() => vi.useRealTimers());

async function type(times = 1): Promise<void> {
  for (let at = 0; at < times; at += 1) {
    version += 1;
    newest.changed();
  }
  await setImmediate();
}
async function pass(ms: number): Promise<void> {
  vi.advanceTimersByTime(ms);
  await setImmediate();
}
const versions = () => works.map((work) => work.version);

it('waits until nobody types, and takes versions that came together as one', async () => {
  await type(5);
  await pass(20);
  await type();
  await pass(20);
  expect(versions()).toEqual([]);
  await pass(20);
  expect(versions()).toEqual([6]);
});

it('works on one version at a time, and then on the newest one alone', async () => {
  await type();
  await pass(100);
  await type();
  await pass(100);
  await type();
  await pass(100);
  expect(versions()).toEqual([1]);
  works[0]?.end();
  await pass(0);
  expect(versions()).toEqual([1, 3]);
  works[1]?.end();
  await pass(10_000);
  expect(versions()).toEqual([1, 3]);
});

it('aborts work on an older version that goes on for long, and reports no failure of it', async () => {
  await type();
  await pass(100);
  await pass(5_000);
  expect(works[0]?.signal.aborted).toBe(false);
  await type();
  await pass(0);
  expect(works[0]?.signal.aborted).toBe(true);
  await pass(100);
  expect(versions()).toEqual([1, 2]);

  await type();
  await pass(900);
  expect(works[1]?.signal.aborted).toBe(false);
  await pass(200);
  expect([works[1]?.signal.aborted, versions()]).toEqual([true, [1, 2, 3]]);
  // The limit of one version is not that of the next.
  await pass(5_000);
  expect([works[2]?.signal.aborted, failures]).toEqual([false, []]);
});

it('begins nothing once it is closed', async () => {
  await type();
  await pass(100);
  await type();
  newest.close();
  works[0]?.end();
  await pass(5_000);
  expect([versions(), failures]).toEqual([[1], []]);
});

it('tells of work that fails, and goes on', async () => {
  newest = new NewestVersion(
    () => Promise.reject(new Error(`version ${version}`)),
    (message) => failures.push(message),
  );
  await type();
  await pass(100);
  await type();
  await pass(100);
  expect(failures).toEqual(['version 1', 'version 2']);
});
