import { expect, it } from 'vitest';
import { analyzeLeakage } from '../../src/leakage/index.js';
import { kindsInIdioms } from './kinds-in-idioms.js';

const idioms = kindsInIdioms();

it.each(idioms)('REQ-SF-014: $name (leaky: $leaky)', async ({ script, leaky }) => {
  const { findings, parsed } = await analyzeLeakage(script);
  expect(parsed).toBe(true);
  if (leaky) expect(findings).not.toEqual([]);
  else expect(findings.map(({ explanation }) => explanation)).toEqual([]);
});

it('each idiom has a name of its own, and there are as many clean ones', () => {
  expect(new Set(idioms.map(({ name }) => name)).size).toBe(idioms.length);
  expect(idioms.filter(({ leaky }) => !leaky).length).toBeGreaterThan(
    0.9 * idioms.filter(({ leaky }) => leaky).length,
  );
});
