import { describe, expect, it } from 'vitest';
import {
  ContaminationDetector,
  type ContaminationResult,
  fingerprintsOf,
  PreparedText,
} from '../../src/contamination/index.js';
import { readCorpus, seeded } from './pairs/corpus.js';

const KNOWN =
  readCorpus('tuning-python-1.txt').find((each) => each.task === 'islands' && each.author === 'chen')?.text ??
  '';

async function check(known: string, output: string): Promise<ContaminationResult> {
  const detector = new ContaminationDetector();
  detector.addToTrainingSet('task', known);
  return detector.checkContamination(output, { id: 'task', name: '', difficulty: 'easy' });
}

describe('SPEC-SIL-009: odd input', () => {
  it.each([
    '',
    ' ',
    '\n\n',
    '\0',
    '\u200b',
    '```',
    '```python\n',
    '"""',
    "'",
    '/*',
    '`${',
    '\ud800',
    '\udc00\ud800',
    '(((',
    '}}}',
    '#',
  ])('SPEC-SIL-009: the output %j is clean', async (output) => {
    const result = await check(KNOWN, output);
    expect(result.contaminated).toBe(false);
    expect(result.confidence).toBeGreaterThan(0.9);
  });

  it('SPEC-SIL-009: an output of hundreds of kilobytes with a copy in it', async () => {
    const random = seeded(3);
    const rows: string[] = [];
    let length = 0;
    while (length < 300_000) {
      const row = `row_${rows.length} = load(${Math.floor(random() * 1e9)}, name="${random().toString(36)}")`;
      rows.push(row);
      length += row.length + 1;
    }
    rows.splice(rows.length >> 1, 0, KNOWN);
    const result = await check(KNOWN, rows.join('\n'));
    expect(result.checks.containment).toMatchObject({ status: 'ran', contaminated: true });
  });

  it('SPEC-SIL-009: forty kilobytes of one character, of brackets and of quotes', async () => {
    for (const unit of ['a', '(', '"', "'''", '`', '/*', '\u200b', '  \n']) {
      const result = await check(KNOWN, unit.repeat(Math.ceil(40_000 / unit.length)));
      expect(result.contaminated).toBe(false);
    }
  });

  it('SPEC-SIL-009: two binary files that no lexer can read are not equal', async () => {
    const binary = (seed: number): string => {
      const random = seeded(seed);
      return Array.from({ length: 20_000 }, () => String.fromCharCode(Math.floor(random() * 256))).join('');
    };
    const different = await check(binary(1), binary(2));
    expect(different.contaminated).toBe(false);
    expect((await check(binary(1), binary(1))).contaminated).toBe(true);
  });

  it('SPEC-SIL-009: texts that only open something are not equal to one another', async () => {
    const result = await check(`/* ${'one two three '.repeat(40)}`, `/* ${'four five six '.repeat(40)}`);
    expect(result.contaminated).toBe(false);
  });

  it('SPEC-SIL-009: a one-line known solution against itself', async () => {
    const line = 'const total = prices.filter((price) => price > 0).reduce((sum, price) => sum + price, 0);';
    const result = await check(line, line);
    expect(result.checks.similarity?.similarity).toBe(1);
    expect(result.contaminated).toBe(true);
  });

  it('SPEC-SIL-009: a known solution with one block repeated ten times is wholly contained in its copy', async () => {
    const block = (n: number): string =>
      `def read_${n}(path):\n    rows = []\n    for line in open(path):\n        rows.append(line.strip().split(','))\n    return rows[1:]\n\n\n`;
    const known = Array.from({ length: 10 }, (_, n) => block(n)).join('');
    const copy = known.replace(/\brows\b/g, 'lines').replace(/\bpath\b/g, 'file');
    const { checks } = await check(known, copy);
    expect(checks.containment).toMatchObject({ value: 1 });
    expect(checks.fingerprint).toMatchObject({ value: 1 });
  });

  it('SPEC-SIL-009: line ends, tabs and a byte order mark make no difference', async () => {
    const windows = `\ufeff${KNOWN.replace(/\n/g, '\r\n').replace(/ {4}/g, '\t')}`;
    const { checks } = await check(KNOWN, windows);
    expect(checks.containment).toMatchObject({ value: 1 });
    expect(checks.exact).toMatchObject({ value: 1 });
    expect((await check(KNOWN, KNOWN.replace(/\n/g, '\r'))).checks.containment).toMatchObject({ value: 1 });
  });

  it('SPEC-SIL-009: a chain of 10,000 thoughts', async () => {
    const detector = new ContaminationDetector();
    detector.addToTrainingSet('task', KNOWN);
    const thoughtChain = Array.from(
      { length: 10_000 },
      (_, i) => `thought ${i}: hmm, ${'what about the border? '.repeat(4)}`,
    );
    thoughtChain[9_000] = KNOWN;
    const { checks } = await detector.checkContamination('x', {
      id: 'task',
      name: '',
      difficulty: 'easy',
      thoughtChain,
    });
    expect(checks.reasoning).toMatchObject({
      thoughtCount: 10_000,
      solutionAt: 9_000,
      jumpsToSolution: false,
    });
  });

  it('SPEC-SIL-009: lone surrogates and other scripts do not make different texts equal', async () => {
    const detector = new ContaminationDetector();
    detector.addToTrainingSet('a', 'text with \ud800 in it');
    expect(detector.isInTrainingSet('text with \ud801 in it')).toBe(false);
    expect(detector.isInTrainingSet('text with \ud800 in it')).toBe(true);
    const sentence = '归并排序把数组分成两半，分别排好序，然后把两个有序的部分合并成一个。'.repeat(2);
    expect((await check(sentence, `前言。${sentence}后记。`)).contaminated).toBe(true);
  });

  it('SPEC-SIL-009: of a set with one broken solution the ones before it are loaded', async () => {
    const detector = new ContaminationDetector();
    const solutions = [
      { testCaseId: 'a', solution: 'one' },
      { testCaseId: 'b', solution: '' },
    ];
    await expect(detector.loadTrainingSet(solutions)).rejects.toMatchObject({
      code: 'invalid-payload',
      field: 'solution',
    });
    expect(detector.getTrainingSetSize()).toBe(1);
  });
});

describe('SPEC-SIL-009: work grows no faster than the texts', () => {
  const time = (work: () => unknown): number => {
    const start = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(start);
    return user + system;
  };

  // Inputs that make a careless reader quadratic.
  it.each([
    ['an unclosed docstring with escaped quotes', (n: number) => `"""${'\\""" '.repeat(n)}`],
    ['nested brackets', (n: number) => '(['.repeat(n)],
    ['comparisons in a row', (n: number) => `if ${'a > b and '.repeat(n)}c:\n    pass`],
    ['the same statement', (n: number) => 'x = y\n'.repeat(n)],
    ['fences', (n: number) => '```\na\n'.repeat(n)],
    [
      'blocks inside blocks',
      (n: number) => Array.from({ length: Math.min(n, 400) }, (_, i) => `${' '.repeat(i)}if x:`).join('\n'),
    ],
    ['loops without a body', (n: number) => 'for i in range(3):\n'.repeat(n)],
    ['templates inside templates', (n: number) => '`${'.repeat(n)],
    ['object literals', (n: number) => `const a = ${'{ b: ['.repeat(n)}`],
  ])('SPEC-SIL-009: %s', (_, make) => {
    const read = (n: number): number => {
      const source = make(n);
      return time(() => fingerprintsOf(new PreparedText(source)));
    };
    read(500);
    const small = read(500);
    const large = read(5_000);
    // Ten times the text: about ten times the work; quadratic work would be a hundred times.
    expect(large).toBeLessThan(40 * small + 25_000);
  });
});
