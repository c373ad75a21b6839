import { describe, expect, it } from 'vitest';
import {
  CHECKS,
  ContaminationDetector,
  type ContaminationResult,
  EVASION_CHECKS,
  type RanCheck,
  type TestCase,
} from '../../src/contamination/index.js';
import { ContaminationResultSchema } from '../../src/queues/contamination.js';
import { readCorpus } from './pairs/corpus.js';

const text = (task: string, author: string): string => {
  const all = [
    'tuning-python-1.txt',
    'tuning-python-2.txt',
    'tuning-javascript.txt',
    'starters.txt',
    'prose.txt',
  ].flatMap(readCorpus);
  const found = all.find((each) => each.task === task && each.author === author);
  if (found === undefined) throw new Error(`no ${task} by ${author}`);
  return found.text;
};
const KNOWN = text('islands', 'chen');

async function checked(
  known: string,
  output: string,
  testCase: Partial<TestCase> = {},
  detector = new ContaminationDetector(),
): Promise<ContaminationResult> {
  detector.addToTrainingSet('task', known);
  const result = await detector.checkContamination(output, {
    id: 'task',
    name: 'Task',
    difficulty: 'hard',
    ...testCase,
  });
  // Whatever the case, the result keeps to the contract of the queue.
  expect(ContaminationResultSchema.parse(structuredClone(result))).toEqual(result);
  return result;
}

function ran(result: ContaminationResult, name: (typeof EVASION_CHECKS)[number]): RanCheck {
  const check = result.checks[name];
  if (check?.status !== 'ran') throw new Error(`${name} did not run: ${result.checks.skipped[name]}`);
  return check;
}

describe('SPEC-SIL-009: a disguised copy is a copy', () => {
  it('SPEC-SIL-009: with zero-width characters strewn in, and the spans point into the text as given', async () => {
    const strewn = KNOWN.replace(/([a-z])([a-z])/g, '$1\u200b$2');
    const result = await checked(KNOWN, strewn);
    expect(result.contaminated).toBe(true);
    expect(ran(result, 'exact').value).toBe(1);
    const [span] = ran(result, 'containment').spans;
    const cut = strewn.slice(...(span?.output ?? [0, 0]));
    expect(cut.replace(/\u200b/g, '')).toBe(KNOWN.slice(...(span?.known ?? [0, 0])));
  });

  it('SPEC-SIL-009: with Cyrillic and full-width letters in its names, and right-to-left marks', async () => {
    const disguised = KNOWN.replace(/a/g, 'а')
      .replace(/o/g, 'о')
      .replace(/=/g, '＝')
      .replace(/\n/g, '\u200f\n');
    const result = await checked(KNOWN, disguised);
    expect(result.checks.similarity?.contaminated).toBe(false);
    expect(ran(result, 'exact').contaminated).toBe(true);
  });

  it('SPEC-SIL-009: in one of several fences, between prose with apostrophes', async () => {
    const answer = `I can't say it's short, but here's the idea:\n\n~~~bash\npip install nothing\n~~~\n\n1. It's this:\n\n   \`\`\`py\n${KNOWN.replace(/^/gm, '   ')}   \`\`\`\n\nDon't forget the tests.\n`;
    const result = await checked(KNOWN, answer);
    expect(ran(result, 'containment').value).toBeGreaterThan(0.95);
    expect(result.contaminated).toBe(true);
  });

  it('SPEC-SIL-009: in a fence that was cut off before its end', async () => {
    const result = await checked(KNOWN, `Here's the code:\n\n\`\`\`python\n${KNOWN}`);
    expect(ran(result, 'fingerprint').contaminated).toBe(true);
  });

  it('SPEC-SIL-009: without a fence, between lines of prose', async () => {
    const result = await checked(
      KNOWN,
      `It's a matter of joining what touches.\n\n${KNOWN}\nThat's all there is to it, isn't it?\n`,
    );
    expect(ran(result, 'containment').value).toBeGreaterThan(0.95);
  });

  it('SPEC-SIL-009: with other types declared, needless brackets and swapped comparisons', async () => {
    const known = text('rotated-search', 'ada');
    const other = known
      .replace('def search(nums, target):', 'def search(nums: list[int], target: int) -> int:')
      .replace('while lo <= hi:', 'while (hi >= lo):')
      .replace('if nums[lo] <= nums[mid]:', 'if (nums[mid] >= nums[lo]):')
      .replace('return mid', 'return (mid)');
    expect(ran(await checked(known, other), 'fingerprint').value).toBe(1);
  });

  it('SPEC-SIL-009: as a translation of TypeScript into JavaScript', async () => {
    const known = text('linked-list', 'ada');
    const plain = known
      .replace(/: (?:ListNode<T> \| null|number|void|T \| undefined)(?= [={])/g, '')
      .replace(/<T>/g, '')
      .replace(/private /g, '')
      .replace(/value: T/g, 'value');
    const result = await checked(known, plain);
    expect(result.contaminated).toBe(true);
  });

  it('SPEC-SIL-009: of another test case, by look-up', async () => {
    const detector = new ContaminationDetector();
    for (const each of readCorpus('tuning-python-2.txt'))
      detector.addToTrainingSet(`${each.task}/${each.author}`, each.text);
    detector.addToTrainingSet('elsewhere', KNOWN);
    const renamed = KNOWN.replace(/parent/g, 'boss')
      .replace(/sets/g, 'groups')
      .replace(/grid/g, 'sea');
    const result = await detector.checkContamination(renamed, { id: 'task', name: '', difficulty: 'easy' });
    const check = ran(result, 'crossTask');
    expect(check.contaminated).toBe(true);
    expect(check.known?.testCaseId).toBe('elsewhere');
    expect(result.reason).toMatch(/test case elsewhere/);
    expect(result.checks.skipped.containment).toBe('no known solution of this test case');
  });

  it('SPEC-SIL-009: inside a thought, and it is told in which', async () => {
    const thought = `I remember this one. The code is\n\n\`\`\`\n${KNOWN.replace(/parent/g, 'boss')}\`\`\`\n`;
    const chain = [
      'Let me think about the grid',
      thought,
      'So it works',
      'Hmm, fine',
      'Alternatively nothing',
      'Done',
    ];
    const result = await checked(KNOWN, 'I could not solve it.', { thoughtChain: chain });
    expect(result.checks.reasoning).toMatchObject({ jumpsToSolution: true, solutionAt: 1 });
    expect(result.checks.reasoning?.containment).toBeGreaterThan(0.9);
  });
});

/** Two curves side by side, as everybody draws them. */
function plotOf(name: string, label: string, title: string, size: string): string {
  const curve = (at: number, key: string): string[] => [
    `plt.subplot(1, 2, ${at})`,
    `plt.plot(${name}['${key}'], label='${label}')`,
    `plt.plot(${name}['val_${key}'], label='validation')`,
    `plt.title('${title}')`,
    `plt.xlabel('Epoch')`,
    `plt.legend()`,
  ];
  const lines = [`plt.figure(figsize=${size})`, ...curve(1, 'loss'), ...curve(2, 'accuracy'), 'plt.show()'];
  return `import matplotlib.pyplot as plt\n\n\ndef plot_${name}(${name}):\n    ${lines.join('\n    ')}\n`;
}

const DOUBLE = 'def double(x):\n    return x * 2\n';

describe('SPEC-SIL-009: a short copy of another task', () => {
  const checkedElsewhere = (
    known: string,
    output: string,
    starter?: string,
  ): Promise<ContaminationResult> => {
    const detector = new ContaminationDetector();
    detector.addToTrainingSet('elsewhere', known);
    return detector.checkContamination(output, { id: 'task', name: '', difficulty: 'easy', starter });
  };

  it.each([
    ['as it is', DOUBLE, DOUBLE],
    ['with other line ends and outer blank lines', DOUBLE, `\r\n${DOUBLE.replaceAll('\n', '\r\n')}\n`],
    ['with an invisible character', DOUBLE, DOUBLE.replace('*', '*\u200b')],
    ['in the fence of an answer', DOUBLE, `This doubles it:\n\n\`\`\`python\n${DOUBLE}\`\`\`\n`],
    [
      'that is prose',
      'Sort by the end, then take each that fits.',
      'sort by the end, then  take each that fits.',
    ],
  ])('SPEC-SIL-009: %s is found by its hash', async (_how, known, output) => {
    const result = await checkedElsewhere(known, output);
    expect(ran(result, 'crossTask')).toMatchObject({
      contaminated: true,
      known: { testCaseId: 'elsewhere' },
    });
    expect(result.confidence).toBeGreaterThan(0.85);
  });

  it.each([
    ['another text', DOUBLE, DOUBLE.replace('2', '3'), undefined],
    ['a few tokens', 'return x * 2', 'return x * 2', undefined],
    ['the text that the task hands out', DOUBLE, DOUBLE, DOUBLE],
  ])(
    'SPEC-SIL-009: %s is no copy, and the note says that nothing was compared',
    async (_what, known, output, starter) => {
      const result = await checkedElsewhere(known, output, starter);
      expect(result).toMatchObject({ contaminated: false, confidence: 0.5 });
      expect(result.note).toBe(
        'no known solution of task; none of the other 1 is similar enough to be compared',
      );
    },
  );
});

describe('SPEC-SIL-009: an honest solution is none', () => {
  it('SPEC-SIL-009: too little is said to be too little', async () => {
    const known = 'def double(x):\n    return x * 2\n';
    const result = await checked(known, 'def twice(n):\n    return n * 2\n');
    expect(result.contaminated).toBe(false);
    for (const name of ['containment', 'evidence', 'fingerprint'] as const) {
      expect(result.checks[name]).toMatchObject({ status: 'skipped' });
      expect(result.checks.skipped[name]).toMatch(
        /^too little to tell: the known solution has \d+ code tokens, 60 are needed/,
      );
    }
  });

  it('SPEC-SIL-009: a look-up that finds nothing does not make up for too little to tell', async () => {
    const detector = new ContaminationDetector();
    detector.addToTrainingSet('elsewhere', KNOWN);
    const result = await checked(
      'def double(x):\n    return x * 2\n',
      'def twice(n):\n    return n * 2\n',
      {},
      detector,
    );
    expect(result.checks.crossTask).toMatchObject({ status: 'ran', contaminated: false });
    expect(result.confidence).toBe(0.5);
  });

  it('SPEC-SIL-009: what a library dictates proves nothing: two plots, one of them in a long file', async () => {
    const result = await checked(
      plotOf('history', 'train', 'Loss', '(12, 4)'),
      `${KNOWN}\n\n${plotOf('log', 'training', 'Model loss', '(10, 5)')}\n\n${text('tuning temperature', 'ada')}`,
    );
    expect(result).toMatchObject({ contaminated: false, confidence: 0.5 });
    expect(result.checks.skipped.fingerprint).toMatch(
      /nearly all of the known solution is .* common material/,
    );
  });

  it('SPEC-SIL-009: little text is flagged by exact hash all the same', async () => {
    const known = 'def double(x):\n    return x * 2\n';
    expect((await checked(known, `\n${known.replace('*', '*\u200b')}`)).contaminated).toBe(true);
  });

  it('SPEC-SIL-009: what the starter gives does not count, also with a line of it changed', async () => {
    const starter = text('tuning temperature', 'starter');
    const ada = text('tuning temperature', 'ada');
    const untouched = starter
      .replace('    pass\n', '    return celsius * 9 / 5 + 32\n')
      .replace('limit)', 'bound)');
    const result = await checked(ada, untouched, { starter });
    expect(result.contaminated).toBe(false);
    // Where the task gives nearly all of the solution, nothing is left to copy.
    const known = `${KNOWN}\n\ndef extra(n):\n    return n + 1\n`;
    const whole = await checked(known, `${KNOWN}\n\ndef other(n):\n    return n - 1\n`, { starter: KNOWN });
    expect(whole.checks.skipped.fingerprint).toMatch(/starter text or common material/);
    expect(ran(await checked(known, KNOWN), 'containment').value).toBeGreaterThan(0.9);
  });

  it('SPEC-SIL-009: a quotation that both texts bring counts little', async () => {
    const quotation =
      '"We hold that a program is written for people to read, and only by the way for a machine to carry out, and that whoever forgets this will pay for it twice over, once when it breaks and once when it has to be understood again by another"';
    const known = `The author begins with a sentence that many have repeated: ${quotation}. From there he goes on to praise short functions and good names.`;
    const output = `Every course quotes it, ${quotation}, and hardly any draws a conclusion. Mine is that comments are to tell reasons.`;
    const result = await checked(known, output);
    expect(result.contaminated).toBe(false);
  });

  it('SPEC-SIL-009: what occurs in many known solutions counts little', async () => {
    const skeleton = (n: number): string =>
      `def setup_${n}(path, options):\n    handle = open(path.strip().lower(), options.get('mode', 'r'))\n    rows = [line.split(options['separator']) for line in handle.readlines()]\n    header = rows.pop(0)\n    table = {name: [row[i] for row in rows] for i, name in enumerate(header)}\n    return table, len(rows), sorted(header, reverse=True)\n`;
    const own = (n: number): string =>
      `\n\ndef solve_${n}(table):\n    best = ${n}\n    for name in table:\n        best += hash(name) % ${n + 2}\n    return best\n`;
    const lonely = await checked(
      skeleton(1) + own(1),
      `${skeleton(2)}\n\ndef answer(table):\n    return max(table, key=len)\n`,
    );
    const detector = new ContaminationDetector();
    for (let n = 0; n < 120; n++) detector.addToTrainingSet(`other-${n}`, skeleton(n) + own(n * 7));
    const among = await checked(
      skeleton(1) + own(1),
      `${skeleton(2)}\n\ndef answer(table):\n    return max(table, key=len)\n`,
      {},
      detector,
    );
    expect(ran(among, 'fingerprint').value).toBeLessThan(ran(lonely, 'fingerprint').value);
  });
});

describe('SPEC-SIL-009: the result says what was done', () => {
  it('SPEC-SIL-009: every check has its numbers or its reason', async () => {
    const result = await checked(KNOWN, text('islands', 'ada'));
    for (const name of CHECKS) {
      const check = result.checks[name];
      const hasRun = check !== undefined && !('status' in check && check.status === 'skipped');
      expect([name, hasRun !== (result.checks.skipped[name] !== undefined)]).toEqual([name, true]);
    }
    for (const name of EVASION_CHECKS) expect(result.checks[name]?.threshold).toBeGreaterThan(0);
  });

  it('SPEC-SIL-009: a check that is switched off does not run, and says so', async () => {
    const detector = new ContaminationDetector({
      skipChecks: ['similarity', 'exact', 'containment', 'evidence', 'fingerprint', 'wording'],
    });
    const result = await checked(KNOWN, KNOWN, {}, detector);
    expect(result.contaminated).toBe(false);
    expect(result.checks.similarity).toBeUndefined();
    expect(result.checks.skipped.similarity).toBe('switched off by the configuration');
    expect(result.checks.containment).toMatchObject({
      status: 'skipped',
      skipped: 'switched off by the configuration',
    });
  });

  it('SPEC-SIL-009: thresholds are set per detector and are in the result', async () => {
    const strict = await checked(
      KNOWN,
      text('islands', 'ada'),
      {},
      new ContaminationDetector({ fingerprintThreshold: 0.01 }),
    );
    expect(strict.contaminated).toBe(true);
    expect(strict.config.fingerprintThreshold).toBe(0.01);
  });

  it('SPEC-SIL-009: spans of a fingerprint pair statements that differ only in names', async () => {
    const renamed = KNOWN.replace(/\bsets\b/g, 'groups').replace(/\bgrid\b/g, 'sea');
    const { spans } = ran(await checked(KNOWN, renamed), 'fingerprint');
    expect(spans.length).toBeGreaterThan(15);
    for (const { output, known } of spans) {
      const there = renamed
        .slice(...output)
        .replace(/\bgroups\b/g, 'sets')
        .replace(/\bsea\b/g, 'grid');
      expect(there).toBe(KNOWN.slice(...known));
    }
  });

  it('SPEC-SIL-009: the strongest of several known solutions is named', async () => {
    const detector = new ContaminationDetector();
    detector.addToTrainingSet('task', text('islands', 'ada'));
    const result = await checked(KNOWN, KNOWN, {}, detector);
    const other = await detector.checkContamination(text('islands', 'ada'), {
      id: 'task',
      name: '',
      difficulty: 'easy',
    });
    expect(ran(result, 'containment').known?.hash).not.toBe(ran(other, 'containment').known?.hash);
  });

  it('SPEC-SIL-009: confidence is that of the verdict, and never leaves 0 to 1', async () => {
    const slow = await checked(KNOWN, 'print(1)', { solveTime: 90_000_000 });
    expect(slow.contaminated).toBe(false);
    expect(slow.confidence).toBeGreaterThan(0.9);
    expect(slow.confidence).toBeLessThanOrEqual(1);
    const fast = await checked(KNOWN, 'print(1)', { solveTime: 1 });
    expect(fast.contaminated).toBe(true);
    expect(fast.confidence).toBeLessThan(0.7);
    const unknown = await new ContaminationDetector().checkContamination('x', {
      id: 'a',
      name: '',
      difficulty: 'easy',
    });
    expect(unknown).toMatchObject({
      contaminated: false,
      confidence: 0.5,
      note: 'no known solution of a; nothing else was compared',
    });
    expect(slow.note).toBeUndefined();
  });
});
