import { describe, expect, it } from 'vitest';
import { analyzeLeakage } from '../../src/leakage/index.js';
import { compose, FITS, type FitForm, SCORES, SOURCES, SPLITS } from './variants.js';

const [firstSource = ''] = Object.values(SOURCES);
const [firstFit] = Object.values(FITS) as [FitForm];
const [firstScore = ''] = Object.values(SCORES);

async function isLeaky(
  source: string,
  fit: FitForm,
  split: string,
  score: string,
  leaky: boolean,
): Promise<boolean> {
  const { findings, parsed } = await analyzeLeakage(compose(source, fit, split, score, leaky));
  expect(parsed).toBe(true);
  return findings.length > 0;
}

describe('the same leak in other words', () => {
  for (const [splitName, split] of Object.entries(SPLITS)) {
    it.each(Object.entries(SOURCES))(`rows from %s, divided by ${splitName}`, async (_name, source) => {
      expect(await isLeaky(source, firstFit, split, firstScore, true)).toBe(true);
      expect(await isLeaky(source, firstFit, split, firstScore, false)).toBe(false);
    });

    it.each(Object.entries(FITS))(`fitted by %s, divided by ${splitName}`, async (_name, fit) => {
      expect(await isLeaky(firstSource, fit, split, firstScore, true)).toBe(true);
      expect(await isLeaky(firstSource, fit, split, firstScore, false)).toBe(false);
    });

    it.each(Object.entries(SCORES))(`scored by %s, divided by ${splitName}`, async (_name, score) => {
      expect(await isLeaky(firstSource, firstFit, split, score, true)).toBe(true);
      expect(await isLeaky(firstSource, firstFit, split, score, false)).toBe(false);
    });
  }
});
