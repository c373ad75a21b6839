import { getEventListeners, setMaxListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { firstAbort } from '../../src/gateway/http/first-abort.js';
import { collectGarbage } from '../support/collect-garbage.js';

/** Signals that live as long as the process. */
const closing = new AbortController();
const closed = new AbortController();
setMaxListeners(0, closing.signal, closed.signal);

describe('the first abort of several signals', () => {
  it.each(['over', 'closing', 'closed'] as const)('comes with %s, with its reason', (name) => {
    const all = {
      over: new AbortController(),
      closing: new AbortController(),
      closed: new AbortController(),
    };
    const signal = firstAbort(all.over.signal, [all.closing.signal, all.closed.signal]);
    expect(signal.aborted).toBe(false);
    const reason = new Error(name);
    all[name].abort(reason);
    expect(signal.reason).toBe(reason);
    expect(firstAbort(all.over.signal, [all.closing.signal, all.closed.signal]).reason).toBe(reason);
  });

  it('leaves nothing at the signals that live on', async () => {
    const rounds = async (count: number) => {
      for (let round = 0; round < count; round += 1) {
        const over = new AbortController();
        firstAbort(over.signal, [closing.signal, closed.signal]).addEventListener('abort', () => undefined);
        over.abort();
        if (round % 1_000 === 0) await setImmediate();
      }
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const before = await rounds(5_000);
    const after = await rounds(20_000);
    expect(getEventListeners(closing.signal, 'abort')).toEqual([]);
    // With AbortSignal.any it is several times as much.
    expect(after - before).toBeLessThan(2 ** 20);
  });
});
