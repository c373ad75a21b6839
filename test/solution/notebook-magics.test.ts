import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { neutralizeMagics, parsesAsPython } from '../../src/solution/index.js';
import { parsePython } from '../../src/solution/python-syntax.js';

const magics = [
  ['a line magic', '%matplotlib inline\nx = 1', '0                 \nx = 1'],
  ['a shell command', "!pip install 'x\nx = 1", '0              \nx = 1'],
  [
    'a shell command on several lines',
    '!pip install \\\n  x \\\n  y\nx = 1',
    '0             \n     \n   \nx = 1',
  ],
  ['an assigned shell command', 'files = !ls *.csv\nx = 1', 'files = 0        \nx = 1'],
  ['two assigned values', 'a, b = !ls', 'a, b = 0  '],
  ['an assigned magic', 'where = %pwd', 'where = 0   '],
  ['an assigned magic with code', 'took = %timeit -o f(x)', 'took =            f(x)'],
  ['help in front', '?frame', '0     '],
  ['help after', 'frame.head?', '0          '],
  ['more help after', 'frame??\n', '0      \n'],
  ['a timed statement', '%time model.fit(X)', '     \fmodel.fit(X)'],
  ['a timed statement with options', '%timeit -n 10 -r3 x = f(1)', '                 \fx = f(1)'],
  ['a timed block', 'if a:\n    %time for i in x: f(i)\n    b', 'if a:\n     \f    for i in x: f(i)\n    b'],
  ['help on a timing magic', '%time?', '0     '],
  ['a cell magic above code', '%%time\nx = f()', '0     \nx = f()'],
  ['a cell that is written and is code', '%%writefile a.py\nx = f()', '0               \nx = f()'],
  ['a shell cell', '%%bash\nls (\n\nx = 1', '0     \n#s (\n\nx = 1'],
  [
    'a shell cell between markers',
    '# %%\n%%bash\nls (\n\nif\n# %%\nx = 1',
    '# %%\n0     \n#s (\n\n#f\n# %%\nx = 1',
  ],
  ['Windows line breaks', '!ls\r\nx = 1\r\n', '0  \r\nx = 1\r\n'],
] as const;

describe('neutralizeMagics', () => {
  it.each(magics)('makes Python of %s, every line as long as before', async (_name, text, expected) => {
    expect(neutralizeMagics(text)).toBe(expected);
    expect(expected.split('\n').map((line) => line.length)).toEqual(
      text.split('\n').map((line) => line.length),
    );
    expect(await parsesAsPython(expected)).toMatchObject({ ok: true });
  });

  it.each([
    ['a remainder within brackets', 'x = (a\n  % b)'],
    ['a remainder on a continued line', 'x = a \\\n  % b'],
    ['text in a string', 'x = """\n!ls\n%time y\nwhat?\n"""'],
    ['text in a string that a backslash continues', "x = 'a \\\n!ls'"],
    ['a comparison', 'x = a != b'],
    ['formatting', "print('a = %s' % x)\nx %= 2\nkey = '%d' % 3"],
    ['comments', '# !ls\n# %time x\nx = 1  # why?'],
    ['an annotation and a default', "def f(a: str = '%s', *, b=None): pass"],
  ])('leaves Python alone: %s', (_name, text) => {
    expect(neutralizeMagics(text)).toBe(text);
  });

  it('keeps the statement after %time at its offset in the syntax tree', async () => {
    const text = 'if a:\n    x = 1\n    %time scaler.fit(X)\ny = 2\n';
    const tree = await parsePython(neutralizeMagics(text));
    const [call] = tree.rootNode.descendantsOfType('call');
    expect(tree.rootNode.hasError).toBe(false);
    expect([call?.startIndex, call?.endIndex]).toEqual([text.indexOf('scaler'), text.indexOf('\ny')]);
    tree.delete();
  });

  it('keeps the length of any text', () => {
    const piece = fc.constantFrom(
      '%time ',
      '!',
      '?',
      '%%bash',
      ' ',
      '\n',
      '\r',
      '"""',
      "'",
      '(',
      ')',
      'x',
      '= ',
      '# %%',
      '\\',
      '-n ',
      '😀',
      '\ud800',
      '\0',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const text = pieces.join('');
        const neutral = neutralizeMagics(text);
        expect(neutral.length).toBe(text.length);
        expect(neutral.replace(/[^\r\n]/g, '')).toBe(text.replace(/[^\r\n]/g, ''));
      }),
      { numRuns: 150 },
    );
  });
});

describe('parsesAsPython on notebooks', () => {
  const environment = process.env.FLEET_PYTHON;
  afterEach(() => {
    if (environment === undefined) delete process.env.FLEET_PYTHON;
    else process.env.FLEET_PYTHON = environment;
  });

  it.each([
    ['the interpreter in force', environment],
    ['the syntax tree', ''],
  ])('takes magics for no errors, and gives the place of the real ones: %s', async (_name, interpreter) => {
    if (interpreter !== undefined) process.env.FLEET_PYTHON = interpreter;
    for (const [, text] of magics) expect(await parsesAsPython(text)).toMatchObject({ ok: true });
    expect(await parsesAsPython('!ls (\n%time x = 1\ny = )\n')).toMatchObject({ ok: false, line: 3 });
  });
});
