import { describe, expect, it } from 'vitest';
import { inlineFunction } from '../../src/leakage/repair/inline/inline-call.js';
import type { FunctionDefinition } from '../../src/leakage/syntax/ast.js';
import { parseModule } from '../../src/leakage/syntax/parse-module.js';
import { statementsIn } from '../../src/leakage/syntax/walk.js';
import { WorkAllowance } from '../../src/leakage/values/work.js';

/** The script with its first function inlined; nothing where that is not certain. */
async function inlined(lines: readonly string[]): Promise<string[] | undefined> {
  const module = await parseModule(`${lines.join('\n')}\n`);
  const text = new WorkAllowance(1_000_000).run(() => {
    const definition = module.body.statements
      .flatMap((statement) => [...statementsIn(statement)])
      .find((one): one is FunctionDefinition => one.type === 'function' && one.name !== 'main');
    return definition === undefined ? undefined : inlineFunction(module, definition);
  });
  return text?.trimEnd().split('\n');
}

describe('a function that is called once', () => {
  it('is replaced by its lines, which take the names of the call', async () => {
    const text = await inlined([
      'def prepare(df, width=3):',
      '    df["wide"] = df["size"] * width',
      '    y = df.pop("price")  # the label',
      '    return df, y',
      '',
      'X, label = prepare(pd.read_csv("a.csv"))',
    ]);
    expect(text).toEqual([
      'X = pd.read_csv("a.csv")',
      'X["wide"] = X["size"] * 3',
      'label = X.pop("price")  # the label',
    ]);
  });

  it('keeps what is said of it, and the indentation of its call', async () => {
    const text = await inlined([
      '# Fills gaps.',
      'def fill(df):',
      '    """Means of all columns."""',
      '    return (',
      '        df.fillna(',
      '            df.mean()))',
      '',
      'def main():',
      '    for path in paths:',
      '        table = fill(read(path))',
    ]);
    expect(text).toEqual([
      'def main():',
      '    for path in paths:',
      '        # Fills gaps.',
      '        # Means of all columns.',
      '        df = read(path)',
      '        table = (',
      '            df.fillna(',
      '                df.mean()))',
    ]);
  });

  it('gets new names for variables that the lines around the call use as well', async () => {
    const text = await inlined([
      'def scale(df):',
      '    top = df.max()',
      '    return df / top',
      '',
      'top = 5',
      'table = scale(frame)',
      'print(table, top)',
    ]);
    expect(text).toEqual([
      'top = 5',
      'scale_top = frame.max()',
      'table = frame / scale_top',
      'print(table, top)',
    ]);
  });

  it('keeps two tables apart that are one when it is called', async () => {
    const text = await inlined([
      'def add(df, ref):',
      '    df = df.merge(ref.groupby("k").mean())',
      '    df["n"] = len(ref)',
      '    return df',
      '',
      'df = add(df, df)',
    ]);
    expect(text).toEqual(['ref = df', 'df = df.merge(ref.groupby("k").mean())', 'df["n"] = len(ref)']);
  });

  it('may be a method that another method of the object calls', async () => {
    const text = await inlined([
      'class Study:',
      '    def prepare(self, df):',
      '        self.scaler = StandardScaler()',
      '        return self.scaler.fit_transform(df)',
      '',
      '    def run(self, frame):',
      '        X = self.prepare(frame)',
      '        return X',
    ]);
    expect(text).toEqual([
      'class Study:',
      '    def run(self, frame):',
      '        self.scaler = StandardScaler()',
      '        X = self.scaler.fit_transform(frame)',
      '        return X',
    ]);
  });

  it('may change a variable that the call replaces, if nothing reads it in between', async () => {
    const rebinds = ['def clean(df):', '    df = df.dropna()', '    return df', ''];
    expect(await inlined([...rebinds, 'train = clean(train)'])).toEqual(['train = train.dropna()']);
    expect(await inlined([...rebinds, 'train = clean(train).join(train)'])).toEqual([
      'df = train',
      'df = df.dropna()',
      'train = df.join(train)',
    ]);
    const reading = ['def rows():', '    return len(train)', ''];
    expect(await inlined([...rebinds, ...reading, 'train = clean(train)', 'print(rows())'])).toEqual([
      ...reading,
      'df = train',
      'df = df.dropna()',
      'train = df',
      'print(rows())',
    ]);
  });
});

describe('a variable of the caller does not stand for one of a function', () => {
  const APPEND = ['def f(d):', '    d = d + [9]', '    return d + [rows()]', ''];

  it('that has the name of a variable in a comprehension', async () => {
    const text = await inlined([
      'def f(df, col):',
      '    return [c for c in df if c != col]',
      '',
      'for c in names:',
      '    out = f(names, c)',
    ]);
    expect(text).toEqual(['for c in names:', '    col = c', '    out = [c for c in names if c != col]']);
  });

  it.each([
    [
      'where the script goes on after an error',
      ['train = [1]', 'try:', '    train = f(train)', 'except IndexError:', '    pass'],
    ],
    ['where a block may end an error', ['train = [1]', 'with suppress(IndexError):', '    train = f(train)']],
    ['that a lambda reads', ['rows = lambda: len(train)', 'train = f(train)']],
    [
      'that a method reads beside one of its class',
      ['class A:', '    train = 4', '    def n(self): return len(train)', 'train = f(train)'],
    ],
    [
      'that an inner function reads',
      ['def main(train):', '    def n(): return len(train)', '    train = f(train)', '    return train, n'],
    ],
    [
      'that a function in a condition reads',
      ['if x:', '    def rows(): return len(train)', 'train = f(train)'],
    ],
    [
      'that a function changes',
      ['def rows():', '    global train', '    train = train + [0]', 'train = f(train)'],
    ],
  ])('%s', async (_name, lines) => {
    const text = (await inlined([...APPEND, ...lines]))?.map((line) => line.trim());
    expect(text).toContain('d = train');
    expect(text).toContain('train = d + [rows()]');
  });

  it('that changes before a lambda is called', async () => {
    const text = await inlined([
      'def f(df):',
      '    return lambda: len(df)',
      '',
      'g = f(frame)',
      'frame = []',
    ]);
    expect(text).toEqual(['df = frame', 'g = lambda: len(df)', 'frame = []']);
  });

  it('that another function may change meanwhile', async () => {
    const text = await inlined([
      'def f(df):',
      '    reset()',
      '    return len(df)',
      '',
      'def reset():',
      '    global frame',
      '    frame = None',
      '',
      'n = f(frame)',
    ]);
    expect(text?.slice(-3)).toEqual(['df = frame', 'reset()', 'n = len(df)']);
  });

  it('and a number stands for it only where it binds as a name', async () => {
    const power = ['def f(x, k=-1):', '    return x + k ** 2', '', 'y = f(3)'];
    expect(await inlined(power)).toEqual(['k = -1', 'y = 3 + k ** 2']);
    const method = ['def f():', '    return 5', '', 'print(f().bit_length())'];
    expect(await inlined(method)).toEqual(['print((5).bit_length())']);
  });
});

describe('a function is left alone', () => {
  const BODY = ['    return df.dropna()', ''];

  it.each([
    ['that is called twice', ['def f(df):', ...BODY, 'a = f(x)', 'b = f(y)']],
    ['that is handed over', ['def f(df):', ...BODY, 'a = x.pipe(f)']],
    ['that may return earlier', ['def f(df):', '    if df.empty:', '        return df', ...BODY, 'a = f(x)']],
    ['that is decorated', ['@cache', 'def f(df):', ...BODY, 'a = f(x)']],
    ['that yields', ['def f(df):', '    yield df', '', 'a = f(x)']],
    ['that calls itself', ['def f(df):', '    return f(df)', '']],
    ['with a function in it', ['def f(df):', '    def g(): return df', '    return g()', '', 'a = f(x)']],
    ['that sets a global', ['def f(df):', '    global n', '    n = 1', '    return df', '', 'a = f(x)']],
    ['that takes any arguments', ['def f(*df):', ...BODY, 'a = f(x)']],
    ['that gets its arguments from a list', ['def f(df):', ...BODY, 'a = f(*x)']],
    ['that reads variables by their names', ['def f(df):', '    return df.query("a > @b")', '', 'a = f(x)']],
    ['after what else its line computes', ['def f(df):', ...BODY, 'a = g(1) + f(x)']],
    ['in a comprehension', ['def f(df):', ...BODY, 'a = [f(x) for x in xs]']],
    ['in a condition', ['def f(df):', ...BODY, 'if f(x):', '    pass']],
    ['beside another statement', ['def f(df):', ...BODY, 'a = f(x); b = 1']],
    [
      'whose global is a variable of the function that calls it',
      ['def f(df):', '    return df / SCALE', '', 'def main():', '    SCALE = 2', '    return f(x)'],
    ],
    [
      'with a text of several lines, if its indentation changes',
      ['def f(df):', '    a = """x', '    y"""', '    return a', '', 'for i in x:', '        a = f(i)'],
    ],
    [
      'that is a method of another object',
      ['class A:', '    def f(self):', '        return 1', '', 'a = b.f()'],
    ],
    [
      'where a list that is its default may have changed',
      ['def f(a, seen=[]):', '    seen.append(a)', '    return seen', '', 'for i in x:', '    a = f(i)'],
    ],
    ['whose default has changed', ['N = 1', 'def f(a, n=N):', '    return a + n', '', 'N = 2', 'a = f(x)']],
    [
      'whose default is a name of its class',
      [
        'class A:',
        '    N = 1',
        '    def f(self, n=N):',
        '        return n',
        '    def run(self):',
        '        a = self.f()',
        '        return a',
      ],
    ],
    [
      'with a variable in a `raise` that gets another name',
      ['def f(df, n):', '    if df.empty:', '        raise ValueError(f"{n}")', ...BODY, 'a = f(x, m)'],
    ],
    [
      'with a parameter in an `except`',
      [
        'def f(df, error):',
        '    try:',
        '        a = df[0]',
        '    except error:',
        '        a = 0',
        '    return a',
        '',
        'b = f(x, e)',
      ],
    ],
    ['that shows names', ['def f(df):', '    print(f"{len(df)=}")', ...BODY, 'a = f(x)']],
    [
      'with types, which the script itself would look up',
      ['def f(df):', '    out: Table = df.dropna()', '    return out', '', 'a = f(x)'],
    ],
    [
      'with a lambda that is called in later rounds',
      [
        'def f(n):',
        '    m = n + 1',
        '    return lambda x: x + m',
        '',
        'for i in x:',
        '    calls.append(f(i))',
      ],
    ],
    [
      'that may leave a variable without a value in the next round',
      ['def f(n):', '    if n:', '        a = n', '    return a', '', 'for i in x:', '    b = f(i)'],
    ],
    ['with an assignment in its call', ['def f(df):', ...BODY, 'a = f(n := x)']],
    [
      'with an import that would need another name',
      ['def f():', '    import cupy as np', '    return np', '', 'xp = f()'],
    ],
    ['that an import replaces', ['def f(df):', ...BODY, 'from tools import f', 'a = f(x)']],
    ['that an import may replace', ['def f(df):', ...BODY, 'from tools import *', 'a = f(x)']],
    ['whose name is a parameter', ['def f(df):', ...BODY, 'def main(f):', '    return f(x)']],
    ['that a `raise` calls too', ['def f(df):', ...BODY, 'def g():', '    raise f(1)', '', 'a = f(x)']],
    ['that is exported', ['__all__ = ["f"]', 'def f(df):', ...BODY, 'a = f(x)']],
    [
      'whose global is a variable of a function around the caller',
      [
        'def f(df):',
        '    return df / SCALE',
        '',
        'def main():',
        '    SCALE = 2',
        '    def inner():',
        '        return f(x)',
        '    return inner()',
      ],
    ],
    [
      'that leaves a file open until it ends',
      ['def f(path):', '    out = open(path, "w")', '    out.write("a")', '    return path', '', 'a = f(x)'],
    ],
    [
      'that is a method which a class above may call',
      [
        'class A(Base):',
        '    def f(self):',
        '        return 1',
        '    def run(self):',
        '        a = self.f()',
        '        return a',
      ],
    ],
    [
      'that is a method which libraries call',
      [
        'class A:',
        '    def transform(self, df):',
        '        return df',
        '    def run(self, df):',
        '        a = self.transform(df)',
        '        return a',
      ],
    ],
    [
      'with a private name, which is another one in a class',
      [
        'def f(df):',
        '    return df / __scale',
        '',
        'class A:',
        '    def run(self):',
        '        a = f(x)',
        '        return a',
      ],
    ],
    [
      'where the caller lists its variables',
      [
        'def f(df):',
        '    a = df + 1',
        '    return a * 2',
        '',
        'def main():',
        '    b = f(x)',
        '    print(locals())',
      ],
    ],
    [
      'beside a function that may be replaced while it runs',
      [
        'def show(a): return a',
        'def swap():',
        '    global show',
        '    show = print',
        'def main():',
        '    r = show(f(x))',
        'def f(df):',
        '    swap()',
        ...BODY,
      ],
    ],
    [
      'whose global is a variable of a comprehension too',
      ['def f(xs):', '    return [i for i in xs], i', '', 'def main():', '    i = 1', '    return f(x)'],
    ],
  ])('%s', async (_name, lines) => {
    expect(await inlined(lines)).toBeUndefined();
  });
});
