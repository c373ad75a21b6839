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
  ])('%s', async (_name, lines) => {
    expect(await inlined(lines)).toBeUndefined();
  });
});
