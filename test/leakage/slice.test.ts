import { describe, expect, it } from 'vitest';
import { sliceScript } from '../../src/leakage/slice/slice-script.js';
import { labeledScripts } from './labeled-scripts.js';

const NOTHING = { spans: [], lines: [] };

const IDLE = Array.from({ length: 30 }, (_, at) => `print("step ${at}")`).join('\n');
const MAIN = [
  'import numpy as np',
  'from lib import load, train',
  IDLE,
  'def change(rows):',
  '    rows.sort()',
  'def look(rows):',
  '    print("so many rows:", len(rows))',
  'class Settings:',
  '    seed = 1',
  '    folds = 5',
  '    depth = 3',
  'data = load()',
  'change(data)',
  'look(data)',
  'model = train(data)',
  'model.fit(data)',
  'if model.ready:',
  '    guess = model.predict(data)',
  'else:',
  '    guess = None',
  'print(np.mean(guess), Settings.seed)',
].join('\n');

describe('the slice of a script', () => {
  it('leaves out what no score depends on, and marks it by its lines', async () => {
    const slice = await sliceScript(MAIN, NOTHING);
    expect(slice?.text.split('\n')).toEqual([
      'import numpy as np',
      'from lib import load, train',
      `# (${slice?.marker}) lines 3-32 left out`,
      ...MAIN.split('\n').slice(32),
    ]);
  });

  it('has what changes a table in place, and drops what only reads it', async () => {
    const longer = MAIN.replace(
      '    print("so many rows:", len(rows))',
      IDLE.replaceAll(/^/gm, '    '),
    ).replace('look(data)\n', `${IDLE}\nlook(data)\n`);
    const slice = await sliceScript(longer, NOTHING);
    expect(slice?.text).toContain('rows.sort()');
    expect(slice?.text).toContain('change(data)');
    expect(slice?.text).not.toContain('step');
  });

  it('has the lines that it is told to keep', async () => {
    const at = MAIN.indexOf('print("step 7")');
    const slice = await sliceScript(MAIN, { spans: [{ start: at, end: at + 5 }], lines: [20] });
    expect(slice?.text).toContain('print("step 7")');
    expect(slice?.text).toContain('print("step 17")');
    expect(slice?.gaps).toEqual([
      [3, 9],
      [11, 19],
      [21, 32],
    ]);
  });

  it.each([
    ['does not parse', `${MAIN}\ndef broken(:`],
    ['runs code that is built at run time', `${MAIN}\nexec(text)`],
    ['has nothing that trains or scores', IDLE],
    ['would lose little', MAIN.replace(IDLE, 'print(1)\nprint(2)\nprint(3)')],
  ])('is not made of a script that %s', async (_what, script) => {
    expect(await sliceScript(script, NOTHING)).toBeUndefined();
  });

  it('of a labeled script has every labeled leak, word by word', async () => {
    const sliced = await Promise.all(
      labeledScripts('twenty-seventh.jsonl').map(async ({ script, blocks }) => {
        // As real scripts have it: much that has no part in the score.
        const padded = `${IDLE}\n${script}`;
        const slice = await sliceScript(padded, NOTHING);
        return {
          isThere: slice !== undefined,
          lost: slice && blocks.filter((one) => !slice.text.includes(one)),
        };
      }),
    );
    expect(sliced.flatMap(({ lost = [] }) => lost)).toEqual([]);
    expect(sliced.filter(({ isThere }) => isThere).length).toBeGreaterThan(sliced.length / 2);
  });

  it('of a long chain of functions takes no longer than its length allows', async () => {
    const chain = Array.from({ length: 2_000 }, (_, at) => `def f${at}(x):\n    return f${at + 1}(x)`);
    const script = `${IDLE}\n${chain.join('\n')}\ny = f0(1)\nmodel.fit(y)\n`;
    await expect(sliceScript(script, NOTHING)).resolves.toSatisfy(() => true);
  });
});
