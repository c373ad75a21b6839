import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HealthFile } from '../../src/cli/health-file.js';

const WRITE_MS = 5_000;

const lines: string[] = [];
const logger = pino({}, { write: (line: string) => lines.push(line) });

beforeEach(() => {
  lines.length = 0;
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the health file of a worker', () => {
  it('has what prevents the worker from working, or nothing, and is gone when the worker has stopped', () => {
    const path = join(mkdtempSync(join(tmpdir(), 'health-')), 'health');
    const worker: { problem: string | undefined } = { problem: undefined };
    const file = new HealthFile(path, worker, logger);
    expect(readFileSync(path, 'utf8')).toBe('');
    worker.problem = 'Redis is away';
    vi.advanceTimersByTime(WRITE_MS);
    expect(readFileSync(path, 'utf8')).toBe('Redis is away');
    worker.problem = undefined;
    vi.advanceTimersByTime(WRITE_MS);
    expect(readFileSync(path, 'utf8')).toBe('');
    file.remove();
    vi.advanceTimersByTime(WRITE_MS);
    expect(existsSync(path)).toBe(false);
  });

  it('that cannot be written is a line in the log, and no end of the worker', () => {
    const file = new HealthFile('/nobody/has/this/folder', { problem: undefined }, logger);
    file.remove();
    expect(lines).toEqual([expect.stringContaining('the health file cannot be written')]);
  });

  it('is none without the setting', () => {
    new HealthFile(undefined, { problem: undefined }, logger).remove();
    vi.advanceTimersByTime(WRITE_MS);
    expect(lines).toEqual([]);
  });
});
