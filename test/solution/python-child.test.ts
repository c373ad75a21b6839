import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PythonParser } from '../../src/solution/python-parser.js';

/** Processes that this one has started and that run Python. */
function pythonChildren(): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const parent = /^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
      return (
        parent === String(process.pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('ast.parse')
      );
    } catch {
      // It has ended meanwhile.
      return false;
    }
  });
}

/** Soft limit of a process: what happens before it could do more. */
function limitOf(pid: string, name: string): number {
  const line = readFileSync(`/proc/${pid}/limits`, 'utf8')
    .split('\n')
    .find((text) => text.startsWith(name));
  return Number(line?.slice(name.length).trim().split(/\s+/)[0]);
}

describe.skipIf(process.platform !== 'linux')('the process that Python parses in', () => {
  it('has limits of memory and of processor time, which move on with each text', async () => {
    const before = new Set(pythonChildren());
    const parser = new PythonParser('python3', { shortMs: 5_000, longMs: 5_000 });
    expect(await parser.parse('x = 1')).toEqual({ ok: true });
    const [pid = '', ...others] = pythonChildren().filter((child) => !before.has(child));
    expect(others).toEqual([]);
    expect(limitOf(pid, 'Max address space')).toBe(2 ** 30);
    const seconds = limitOf(pid, 'Max cpu time');
    expect(seconds).toBeGreaterThanOrEqual(6);
    expect(seconds).toBeLessThanOrEqual(12);
    process.kill(Number(pid), 'SIGKILL');
  });

  it('gives no result for a text that takes more memory, and goes on', async () => {
    const parser = new PythonParser('python3', { shortMs: 20_000, longMs: 60_000 });
    expect(await parser.parse(`x = [${'0,'.repeat(2_000_000)}]`)).toBe('undecided');
    expect(await parser.parse('x = 1')).toEqual({ ok: true });
  });
});
