import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { type EvaluationReport, evaluatePairs, reportOn } from '../../scripts/evaluation/labeled-pairs.js';
import {
  buildFreshHonest,
  buildHandmade,
  buildIndependent,
  buildPairs,
  buildRewrites,
  type Part,
} from './pairs/build-pairs.js';
import { reliabilityTable } from './reliability-table.js';

/** The smallest recall of a disguise; every one not named here may miss one in twenty-five. */
const MIN_RECALL: Readonly<Record<string, number>> = {
  partial: 0.95,
  combined: 0.95,
  'prose-light-reword': 0.8,
};

/** Set by `npm run test:labeled`, which continuous integration runs: `npm test` takes each sixth of the pairs. */
const takesAll = process.env.ALL_LABELED_SCRIPTS === '1';
const PART = 6;

describe.each<Part>(['tuning', 'unseen'])('SPEC-SIL-009: copies and honest solutions, %s pairs', (part) => {
  let report: EvaluationReport;
  beforeAll(async () => {
    const pairs = [...buildPairs(part)].filter((_, at) => takesAll || at % PART === 0);
    report = reportOn(await evaluatePairs(pairs));
  });

  it('SPEC-SIL-009: finds at least 97 % of all copies', () => {
    expect(report.recall.of).toBeGreaterThan(takesAll ? 500 : 80);
    expect(report.recall.fraction).toBeGreaterThanOrEqual(0.97);
  });

  it('SPEC-SIL-009: finds every disguise', () => {
    for (const { kind, label, flagged } of report.kinds) {
      if (label === 'clean') continue;
      expect([kind, flagged.fraction >= (MIN_RECALL[kind] ?? 0.96)]).toEqual([kind, true]);
    }
  });

  it('SPEC-SIL-009: flags at most one honest solution in a hundred', () => {
    expect(report.falsePositives.of).toBeGreaterThan(takesAll ? 250 : 40);
    expect(report.falsePositives.fraction).toBeLessThanOrEqual(0.01);
    for (const kind of ['same-task-independent', 'same-task-textbook']) {
      const sameTask = report.kinds.find((each) => each.kind === kind);
      expect([kind, sameTask?.flagged.fraction]).toEqual([kind, 0]);
    }
  });

  it('SPEC-SIL-009: of the verdicts with some confidence, about as many are right', () => {
    for (const { meanConfidence, right } of report.reliability) {
      // So few right ones, or fewer, must not be a surprise if the confidence is true.
      expect(atMost(right.count, right.of, meanConfidence)).toBeGreaterThan(0.025);
    }
  });

  if (takesAll)
    it('SPEC-SIL-009: the documentation shows this very reliability table', () => {
      const page = readFileSync(new URL('../../docs/contamination.md', import.meta.url), 'utf8');
      expect(page).toContain(reliabilityTable(part, report));
    });
});

describe('SPEC-SIL-009: programs written after the checks, and copies disguised by hand', () => {
  const TEXTBOOK = 'edit-distance';

  it('SPEC-SIL-009: the documentation tells how many copies are found, kind by kind', async () => {
    const { kinds } = reportOn(await evaluatePairs(buildHandmade()));
    const page = readFileSync(new URL('../../docs/measurements/contamination.md', import.meta.url), 'utf8');
    for (const { kind, flagged } of kinds)
      expect(page).toMatch(
        new RegExp(`\\| ${kind} \\| \\d+ of ${flagged.of} \\| ${flagged.count} of ${flagged.of} \\|`),
      );
  });

  it('SPEC-SIL-009: independent scripts for one task are not accused, but for a textbook program written alike', async () => {
    const pairs = buildFreshHonest();
    const taskOf = new Map(pairs.map(({ id, task }) => [id, task]));
    const evaluated = await evaluatePairs(pairs);
    expect(evaluated.length).toBeGreaterThan(100);
    const flagged = evaluated.filter(({ result }) => result.contaminated);
    expect(flagged.map(({ pair }) => taskOf.get(pair.id))).toEqual([TEXTBOOK, TEXTBOOK]);
  });

  it('SPEC-SIL-009: independent programs for 27 more tasks are not accused; copies rewritten as a whole are missed', async () => {
    const pairs = buildIndependent();
    const taken = pairs.filter(({ label }, at) => takesAll || label !== 'clean' || at % PART === 0);
    const { kinds } = reportOn(await evaluatePairs(taken));
    const page = readFileSync(new URL('../../docs/measurements/contamination.md', import.meta.url), 'utf8');
    expect(kinds.map(({ kind }) => kind)).toEqual(['rewritten', 'same-task-independent']);
    for (const { kind, flagged } of kinds) {
      const all = pairs.filter((pair) => pair.kind === kind).length;
      expect(page).toContain(`| independent | ${kind} | ${flagged.count} of ${all} |`);
    }
    expect(kinds.find(({ label }) => label === 'clean')?.flagged.count).toBe(0);
  });
});

describe('SPEC-SIL-009: what no check is made for', () => {
  it('SPEC-SIL-009: the documentation tells how many translations and rewritten programs are found', async () => {
    const evaluated = await evaluatePairs(buildRewrites());
    const page = readFileSync(new URL('../../docs/measurements/contamination.md', import.meta.url), 'utf8');
    for (const { kind, flagged } of reportOn(evaluated).kinds)
      expect(page).toContain(`| contaminated | ${kind} | ${flagged.count} of ${flagged.of} |`);
    const translated = evaluated.filter(({ pair }) => pair.kind === 'translated');
    for (const { result } of translated)
      expect(result).toMatchObject({
        confidence: 0.5,
        note: expect.stringMatching(/in another language; translations are not found/),
      });
  });
});

/** Probability of at most `count` right ones of `of` (binomial distribution), summed over the wrong ones. */
function atMost(count: number, of: number, probability: number): number {
  let term = probability ** of;
  let fewerWrong = 0;
  for (let wrong = 0; wrong < of - count; wrong++) {
    fewerWrong += term;
    term *= ((of - wrong) / (wrong + 1)) * ((1 - probability) / probability);
  }
  return 1 - fewerWrong;
}
