import { afterEach, describe, expect, it } from 'vitest';
import {
  ContaminationDetector,
  DEFAULT_CONTAMINATION_CONFIG,
  EXPECTED_SOLVE_TIMES,
  getContaminationDetector,
  resetContaminationDetector,
  type TestCase,
} from '../../src/contamination/index.js';
import { PayloadError, UsageError } from '../../src/errors.js';

const easy = (id: string): TestCase => ({ id, name: id, difficulty: 'easy' });

describe('SPEC-SIL-009: the published test cases', () => {
  it('SPEC-SIL-009: an output equal to the known solution is a copy by similarity', async () => {
    const detector = new ContaminationDetector();
    const solution = 'function add(a, b) { return a + b; }';
    detector.addToTrainingSet('sum-two', solution);
    const result = await detector.checkContamination(solution, easy('sum-two'));
    expect(result.contaminated).toBe(true);
    expect(result.checks.similarity?.contaminated).toBe(true);
  });

  it('SPEC-SIL-009: five seconds for a hard task are suspiciously fast', async () => {
    const detector = new ContaminationDetector();
    const testCase: TestCase = { id: 'quick', name: 'Quick', difficulty: 'hard', solveTime: 5_000 };
    const result = await detector.checkContamination('some answer', testCase);
    expect(result.checks.timing?.contaminated).toBe(true);
  });

  it('SPEC-SIL-009: the solution as the second of three thoughts is a jump', async () => {
    const detector = new ContaminationDetector();
    const solution = 'The answer is to use map and filter';
    detector.addToTrainingSet('leap', solution);
    const result = await detector.checkContamination(solution, {
      id: 'leap',
      name: 'Leap',
      difficulty: 'medium',
      thoughtChain: ['Let me look at this problem', solution, 'Done'],
    });
    expect(result.checks.reasoning?.jumpsToSolution).toBe(true);
  });

  it('SPEC-SIL-009: a slow answer of its own after some exploring is clean', async () => {
    const detector = new ContaminationDetector();
    detector.addToTrainingSet('other', 'function add(a, b) { return a + b; }');
    const result = await detector.checkContamination('A completely novel solution approach', {
      id: 'novel',
      name: 'Novel',
      difficulty: 'medium',
      solveTime: 200_000,
      thoughtChain: [
        'Let me understand the problem',
        'One approach could be a table...',
        'But alternatively a stack...',
        'Actually, what if both...',
        'After considering the options, I think a stack',
        'Here is my solution',
      ],
    });
    expect(result.contaminated).toBe(false);
    expect(result).not.toHaveProperty('reason');
  });
});

describe('SPEC-SIL-009: defaults and the detector of the process', () => {
  afterEach(resetContaminationDetector);

  it('SPEC-SIL-009: thresholds and expected times are the published ones', () => {
    expect(DEFAULT_CONTAMINATION_CONFIG).toMatchObject({
      similarityThreshold: 0.95,
      fastSolveThreshold: 0.1,
      minExplorationDepth: 3,
    });
    expect(EXPECTED_SOLVE_TIMES).toEqual({ easy: 60_000, medium: 300_000, hard: 900_000 });
  });

  it('SPEC-SIL-009: the shared detector is one; another configuration for it is an error', () => {
    const detector = getContaminationDetector({ similarityThreshold: 0.9 });
    expect(getContaminationDetector()).toBe(detector);
    expect(getContaminationDetector({ similarityThreshold: 0.9 })).toBe(detector);
    expect(() => getContaminationDetector({ similarityThreshold: 0.8 })).toThrow(UsageError);
    resetContaminationDetector();
    expect(getContaminationDetector({ similarityThreshold: 0.8 })).not.toBe(detector);
  });

  it('SPEC-SIL-009: an unknown setting or one out of range is refused by name', () => {
    expect(() => new ContaminationDetector({ similarityThreshold: 1.5 })).toThrow(
      /config\.similarityThreshold/,
    );
    expect(() => new ContaminationDetector({ minExplorationDepth: 1.5 })).toThrow(/whole number/);
    const unknown = { similarity: 0.5 } as Record<string, number>;
    expect(() => new ContaminationDetector(unknown)).toThrow(/unknown setting/);
  });
});

describe('SPEC-SIL-009: the known set', () => {
  it('SPEC-SIL-009: membership is by exact hash, letter case and white space set aside', () => {
    const detector = new ContaminationDetector();
    detector.addToTrainingSet('a', 'return x +  1');
    expect(detector.isInTrainingSet(' RETURN x\n+ 1 ')).toBe(true);
    expect(detector.isInTrainingSet('return x + 2')).toBe(false);
  });

  it('SPEC-SIL-009: one test case may have several known solutions, and equal ones count once', async () => {
    const detector = new ContaminationDetector();
    await detector.loadTrainingSet([
      { testCaseId: 'a', solution: 'first way to solve it' },
      { testCaseId: 'a', solution: 'second, quite another way' },
      { testCaseId: 'a', solution: 'First  way to solve it' },
      { testCaseId: 'b', solution: 'first way to solve it' },
    ]);
    expect(detector.getTrainingSetSize()).toBe(3);
    const result = await detector.checkContamination('second, quite another way', easy('a'));
    expect(result.checks.similarity?.similarity).toBe(1);
    detector.clearTrainingSet();
    expect(detector.getTrainingSetSize()).toBe(0);
    expect(detector.isInTrainingSet('first way to solve it')).toBe(false);
  });

  it('SPEC-SIL-009: removing really removes, and only from the test case named', async () => {
    const detector = new ContaminationDetector();
    const solution = 'a solution that two tasks have in common';
    detector.addToTrainingSet('a', solution);
    detector.addToTrainingSet('b', solution);
    expect(detector.removeFromTrainingSet('a', solution)).toBe(true);
    expect(detector.removeFromTrainingSet('a', solution)).toBe(false);
    expect(detector.isInTrainingSet(solution)).toBe(true);
    const result = await detector.checkContamination(solution, easy('a'));
    expect(result.checks.similarity).toBeUndefined();
    expect(detector.removeFromTrainingSet('b', solution)).toBe(true);
    expect(detector.isInTrainingSet(solution)).toBe(false);
  });

  it('SPEC-SIL-009: an empty solution or test case id is refused', async () => {
    const detector = new ContaminationDetector();
    expect(() => detector.addToTrainingSet('a', ' \n')).toThrow(PayloadError);
    await expect(detector.loadTrainingSet([{ testCaseId: '', solution: 'x' }])).rejects.toThrow(/testCaseId/);
  });
});

describe('SPEC-SIL-009: timing', () => {
  const detector = new ContaminationDetector();
  const timed = (solveTime: number, difficulty = 'easy'): TestCase =>
    ({ id: 't', name: 't', difficulty, solveTime }) as TestCase;

  it('SPEC-SIL-009: exactly a tenth of the expected time is not too fast', () => {
    expect(detector.checkTiming(timed(6_000))).toEqual({
      actualTime: 6_000,
      expectedTime: 60_000,
      ratio: 0.1,
      contaminated: false,
    });
    expect(detector.checkTiming(timed(5_999)).contaminated).toBe(true);
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])(
    'SPEC-SIL-009: a solve time of %s is refused, not flagged',
    async (time) => {
      expect(() => detector.checkTiming(timed(time))).toThrow(PayloadError);
      await expect(detector.checkContamination('x', timed(time))).rejects.toThrow(/testCase\.solveTime/);
    },
  );

  it('SPEC-SIL-009: an unknown difficulty is refused', async () => {
    await expect(detector.checkContamination('x', timed(1, 'brutal'))).rejects.toThrow(
      /easy, medium, hard, got "brutal"/,
    );
  });
});

describe('SPEC-SIL-009: reasoning', () => {
  const detector = new ContaminationDetector();

  it('SPEC-SIL-009: each distinct thought counts once', () => {
    const thoughts = ['Hmm, what if I sort', 'hmm,  what if I sort', 'Actually no'];
    const result = detector.analyzeReasoning(thoughts);
    expect(result.thoughtCount).toBe(2);
    expect(result.explorationDepth).toBe(2);
    expect(result.suspiciousPatterns).toEqual([
      'Very short reasoning chain',
      'Minimal exploration before answer',
    ]);
  });

  it('SPEC-SIL-009: a claim to know counts in the first two thoughts only', () => {
    const late = ['a', 'b', 'Obviously c'];
    expect(detector.analyzeReasoning(late).suspiciousPatterns).not.toContain(
      'Claims immediate knowledge early in chain',
    );
    expect(detector.analyzeReasoning(['Obviously c', ...late]).suspiciousPatterns).toContain(
      'Claims immediate knowledge early in chain',
    );
  });

  it('SPEC-SIL-009: the solution late in a long chain is not a jump, and its position is reported', () => {
    const solution = 'sort the numbers, then walk from both ends toward the middle';
    const chain = [...Array.from({ length: 8 }, (_, i) => `thought ${i} about something`), solution];
    const result = detector.analyzeReasoning(chain, solution);
    expect(result.jumpsToSolution).toBe(false);
    expect(result.solutionAt).toBe(8);
  });

  it('SPEC-SIL-009: without a known solution nothing can be jumped to', () => {
    expect(detector.analyzeReasoning(['anything', 'at all']).jumpsToSolution).toBe(false);
  });
});
