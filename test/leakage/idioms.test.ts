import { describe, expect, it } from 'vitest';
import { analyzeLeakage } from '../../src/leakage/index.js';
import {
  CHOICE_HEAD,
  CLEAN_STEPS,
  LEAKY_CHOICES,
  LEAKY_STEPS,
  STEP_HEAD,
  STEP_TAIL,
  scoredOnTestRows,
} from './idioms.js';

async function explanations(source: string): Promise<string[]> {
  const { findings, parsed } = await analyzeLeakage(source);
  expect(parsed).toBe(true);
  return findings.map(({ explanation }) => explanation);
}

describe('idioms', () => {
  it.each(LEAKY_STEPS)('a step that takes something from all rows is found: %s', async (step) => {
    expect(await explanations(STEP_HEAD + step + STEP_TAIL)).not.toEqual([]);
  });

  it.each(CLEAN_STEPS)('a step that takes nothing from other rows is clean: %s', async (step) => {
    expect(await explanations(STEP_HEAD + step + STEP_TAIL)).toEqual([]);
  });

  it.each(LEAKY_CHOICES)('a choice on the scored rows is found: %s', async (choice) => {
    expect(await explanations(`${CHOICE_HEAD}${choice}\n`)).not.toEqual([]);
  });

  it.each(LEAKY_CHOICES)('the same choice, scored on other rows, is clean: %s', async (choice) => {
    expect(await explanations(`${CHOICE_HEAD}${scoredOnTestRows(choice)}\n`)).toEqual([]);
  });
});
