import { describe, expect, it } from 'vitest';
import { sharedReading } from '../../src/gateway/http/shared-reading.js';

/** A reading whose ends the test decides. */
function readings(keepMs: number) {
  const open: { end: (value: number) => void; fail: (error: Error) => void }[] = [];
  const read = sharedReading(keepMs, () => new Promise<number>((end, fail) => open.push({ end, fail })));
  return { open, read };
}

describe('a shared reading', () => {
  it('is one for all who ask before its end, and in a time after', async () => {
    const { open, read } = readings(60_000);
    const asked = [read(undefined), read(undefined)];
    await new Promise((resolve) => setTimeout(resolve));
    asked.push(read(undefined));
    expect(open).toHaveLength(1);
    open[0]?.end(7);
    expect(await Promise.all([...asked, read(undefined)])).toEqual([7, 7, 7, 7]);
    expect(open).toHaveLength(1);
  });

  it('is shared for as long as it takes where it does not count after its end', async () => {
    const { open, read } = readings(0);
    const first = read(undefined);
    await new Promise((resolve) => setTimeout(resolve, 2));
    const second = read(undefined);
    expect(open).toHaveLength(1);
    open[0]?.end(1);
    expect([await first, await second]).toEqual([1, 1]);
    const third = read(undefined);
    open[1]?.end(2);
    expect(await third).toBe(2);
  });

  it('is repeated if it failed', async () => {
    const { open, read } = readings(60_000);
    const failed = read(undefined);
    open[0]?.fail(new Error('away'));
    await expect(failed).rejects.toThrow('away');
    const next = read(undefined);
    open[1]?.end(3);
    expect(await next).toBe(3);
  });
});
