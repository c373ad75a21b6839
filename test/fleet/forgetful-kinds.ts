/** A kind whose processor forgets to await; `fleet worker --kinds-from` loads this module in tests. */
import { once } from 'node:events';
import { z } from 'zod';
import { defineKind } from '../../src/processors/define-kind.js';
import type { Work } from '../../src/processors/processor.js';

const SUMMARIZED = { ablationCode: 'print("a: 1")', rawOutput: 'baseline: 0.9\nwithout a: 0.8\n' };
const summarize = ({ jobs }: Work, payload = SUMMARIZED) => jobs.child('summarize', payload, { name: 'a' });
const INVALID = { ...SUMMARIZED, ablationCode: '' };

const WAYS: Readonly<Record<string, (work: Work) => Promise<unknown>>> = {
  waits: (work) => summarize(work),
  fails: (work) => summarize(work, INVALID),
  wraps: (work) =>
    summarize(work, INVALID).catch((cause: unknown) => {
      throw new Error('a message of the author', { cause });
    }),
  late: async (work) => {
    // The test sends it when the job has completed.
    await once(process, 'SIGUSR2');
    await summarize(work);
  },
  handles: async (work) => {
    const reported = once(process, 'unhandledRejection');
    const failing = (async () => summarize(work, INVALID))();
    await reported;
    await failing.catch(() => undefined);
  },
};

export const forgetful = defineKind({
  name: 'forgetful',
  payload: z.object({ way: z.string() }),
  result: z.strictObject({ done: z.boolean() }),
  defaults: { attempts: 1 },
  process: async ({ way }, work) => {
    const request = WAYS[way];
    if (way === 'handles') await request?.(work);
    else if (request !== undefined) void (async () => request(work))();
    return { done: true };
  },
});
