import { describe, expect, it } from 'vitest';
import { deadlineField, deadlineOf } from '../../src/queues/deadline.js';

const NOW = Date.parse('2026-11-30T08:00:00Z');

describe('a deadline', () => {
  it.each([
    ['+0m', '2026-11-30T08:00:00.000Z'],
    ['+90m', '2026-11-30T09:30:00.000Z'],
    ['+6h', '2026-11-30T14:00:00.000Z'],
    ['+2d', '2026-12-02T08:00:00.000Z'],
    ['2026-12-01T06:00:00Z', '2026-12-01T06:00:00.000Z'],
    ['2026-12-01T06:00:00+02:00', '2026-12-01T04:00:00.000Z'],
    ['2026-11-29T06:00:00Z', '2026-11-29T06:00:00.000Z'],
  ])('%s is a time', (text, at) => {
    expect(new Date(deadlineOf(text, NOW) ?? 0).toISOString()).toBe(at);
  });

  it.each([
    '6h',
    '+6',
    '+1.5h',
    '+-1h',
    '+6h ',
    '+366d',
    'tomorrow',
    '',
    '2026-12-01',
    '2026-12-01T06:00:00',
    '2028-01-01T00:00:00Z',
  ])('%j is none', (text) => {
    expect(deadlineOf(text, NOW)).toBeUndefined();
    expect(deadlineField.safeParse(text).success).toBe(false);
  });
});
