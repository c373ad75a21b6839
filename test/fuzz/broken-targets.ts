import { setImmediate } from 'node:timers/promises';
import { mustHold, type Target } from '../../fuzz/target.js';
import { JobError } from '../../src/errors.js';

/** The input on which each of these targets fails: one of their inputs. */
const TRIGGER = 'x';

function broken(name: string, breaks: () => unknown): Target {
  return {
    name,
    about: 'a target that breaks on purpose',
    generate: (source) => [
      `${source.pick(['', 'some text before '])}${source.pick(['a', 'b', TRIGGER])} and after`,
    ],
    open: () => ({
      run: ([text = '']) => (text.includes(TRIGGER) ? breaks() : text.length),
    }),
  };
}

let runs = 0;

/** Ways to end a process, or to make its end necessary. */
const DEADLY: Readonly<Record<string, () => unknown>> = {
  endless: () => {
    for (let count = 0; ; count += 1) Math.sqrt(count);
  },
  crash: () => process.exit(3),
  rejection: async () => {
    void Promise.reject(new Error('nobody waits for this'));
    await setImmediate();
  },
  heap: () => {
    const kept: number[][] = [];
    for (;;) kept.push(new Array(10_000).fill(kept.length));
  },
};

/** One target for each way of breaking, and one that refuses as it should. */
export const TARGETS: readonly Target[] = [
  broken('exception', () => {
    throw new TypeError('not of the contract');
  }),
  broken('internal', () => {
    throw new JobError('internal', 'what an unexpected error becomes');
  }),
  broken('invariant', () => mustHold(false, 'something that does not hold')),
  broken('not-deterministic', () => {
    runs += 1;
    return runs;
  }),
  // Takes more than the bound of the tests, and not enough to be ended in the middle.
  broken('slow', () => {
    const start = process.cpuUsage();
    const usedMs = () => Object.values(process.cpuUsage(start)).reduce((sum, us) => sum + us / 1_000, 0);
    while (usedMs() < 150) Math.sqrt(usedMs());
  }),
  broken('refusal', () => {
    throw new JobError('job-not-found', 'there is no such job');
  }),
  {
    name: 'deadly',
    about: 'a target that ends its process in the way that its input names',
    generate: (source) => [source.pick(Object.keys(DEADLY))],
    open: () => ({ run: ([text = '']) => DEADLY[text]?.() ?? text.length }),
  },
];
