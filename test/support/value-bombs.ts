/** Scripts whose values grow much faster than their text, or whose syntax nests without end: by kind, of any size. */
export type ValueBomb = readonly [kind: string, make: (size: number) => string];

const lines = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join('\n');

/** A few first lines, and one that is repeated. */
const repeated =
  (first: string, line: string, last = '') =>
  (size: number): string =>
    `${first}\n${lines(size, () => line)}\n${last}`;

const numbered =
  (first: string, line: (at: number) => string, last: (size: number) => string = () => '') =>
  (size: number): string =>
    `${first}\n${lines(size, line)}\n${last(size)}`;

/** One expression, nested. */
const nested =
  (open: string, inner: string, close: string) =>
  (size: number): string =>
    `x = ${open.repeat(size)}${inner}${close.repeat(size)}`;

const FRAME = 'import pandas as pd\nimport numpy as np\ndf = pd.read_csv("a.csv")';
const SCORED = `${FRAME}
from sklearn.model_selection import train_test_split
from sklearn.metrics import accuracy_score
from sklearn.linear_model import LogisticRegression
train, test = train_test_split(df)
model = LogisticRegression().fit(train[['a']], train['y'])
p = model.predict(test[['a']])`;
const POLARS = 'import polars as pl\ndf = pl.read_csv("a.csv")\ne = pl.col("a").mean()';

/** Values that double with each line. */
const DOUBLING: readonly ValueBomb[] = [
  ['list + list', repeated('t = [1]', 't = t + t')],
  ['list += list', repeated('t = [1]', 't += t')],
  ['tuple + tuple', repeated('t = (1,)', 't = (t) + (t)')],
  ['list of starred lists', repeated('t = [1]', 't = [*t, *t]')],
  ['set of starred sets', repeated('t = {1}', 't = {*t, *t}')],
  ['list(…) + list(…)', repeated('t = [1]', 't = list(t) + list(t)')],
  ['extend by itself', repeated('t = [1]', 't.extend(t)')],
  ['extend by a copy', repeated('t = [1]\nu = []', 't = t + t\nu.extend(t)')],
  ['zip of the doubled', repeated('t = [1]', 't = list(zip(t, t)) + list(zip(t, t))')],
  ['enumerate of the doubled', repeated('t = [1]', 't = list(enumerate(t + t))')],
  ['repeated by a number', repeated(`${FRAME}\nt = [df]`, 't = t * 2 + t * 2')],
  ['sorted and reversed', repeated('t = [1]', 't = sorted(t) + list(reversed(t))')],
  ['slices put together', repeated('t = [1]', 't = t[:] + t[0:]')],
  ['column lists', repeated(`${FRAME}\nc = ["a"]`, 'c = c + c\ndf[c] = 1')],
  ['columns selected by them', repeated(`${FRAME}\nc = ["a"]`, 'c = c + c\nd = df[c]')],
  ['columns dropped by them', repeated(`${FRAME}\nc = ["a"]`, 'c = c + c\nd = df.drop(columns=c)')],
  ['text + text', repeated('s = "a"', 's = s + s')],
  ['text += text', repeated('s = "a"', 's += s')],
  ['formatted text', repeated('s = "a"', 's = f"{s}{s}"')],
  ['text as a path', repeated('from pathlib import Path\ns = "a"', 's = s / s')],
  ['arguments by *', repeated('def f(*a): return a\nt = (1,)', 't = f(*t, *t)')],
  ['arguments of unknown code', repeated('t = [1]', 't = t + t\ng(*t)')],
  ['keywords by **', numbered('d = {}', (at) => `d = {**d, **d, "k${at}": d}\ng(**d)`)],
  ['masks put together', repeated(`${FRAME}\nm = df["a"] > 1`, 'm = m & m\nd = df[m]')],
  ['positions of positions', repeated(`${FRAME}\nq = df.index[3:]`, 'q = q[q]\nd = df.loc[q]')],
  ['column expressions', repeated(POLARS, 'e = e + e\nd = df.with_columns(e)')],
  ['column expressions as arguments', repeated(POLARS, 'e = e.fill_null(e)\nd = df.select(e)')],
  ['column expressions of functions', repeated(POLARS, 'e = pl.max_horizontal(e, e)\nd = df.select(e)')],
  ['frames put under each other', repeated(SCORED, 'q = pd.concat([p, p])\np = q')],
  [
    'frames with columns, under each other',
    repeated(`${SCORED}\ntest["p"] = p`, 'test = pd.concat([test, test])'),
  ],
  ['frames put side by side', repeated(`${SCORED}\ntest["p"] = p`, 'test = pd.concat([test, test], axis=1)')],
];

/** Values that are small in memory, and endless to walk. */
const SHARED: readonly ValueBomb[] = [
  ['lists of lists, printed', repeated('a = [1]', 'a = [a, a]', 'print(a)\nb = f"{a}"\nc = a == a')],
  ['wide lists of lists', repeated('a = [1]', `a = [${'a, '.repeat(60)}]`, 'print(a)\ng(a)')],
  [
    'wide lists of frames',
    repeated(FRAME, `df = [${'df, '.repeat(60)}]`, 'g(df)\nnp.mean(df)\npd.concat(df)'),
  ],
  ['dicts of dicts', repeated('a = {"k": 1}', 'a = {"l": a, "r": a}', 'print(a)\ng(a)')],
  [
    'lists joined where two ways meet',
    repeated('a = [1]\nb = [2]', 'a = [a, a]\nb = [b, b]', 'c = a\nif unknown:\n    c = b\nprint(c)'),
  ],
  [
    'dicts joined where two ways meet',
    repeated(
      'a = {"k": 1}\nb = {"k": 2}',
      'a = {"l": a, "r": a}\nb = {"l": b, "r": b}',
      'c = a if unknown else b\nprint(c)',
    ),
  ],
  [
    'a list that contains itself',
    repeated('a = []', 'a.append(a)', 'print(a)\nb = a if unknown else [a]\ng(a)'),
  ],
  [
    'a list that contains itself, as steps of a pipeline',
    repeated(
      'from sklearn.pipeline import Pipeline\na = []',
      'a.append(a)',
      'Pipeline(a).fit(a, callbacks=a, eval_set=a)',
    ),
  ],
  [
    'lists of lists, as callbacks',
    repeated(
      'import lightgbm as lgb\nm = lgb.LGBMClassifier()\na = [1]',
      'a = [a, a]',
      'm.fit(1, 2, eval_set=a, callbacks=a)',
    ),
  ],
  [
    'pipelines of pipelines',
    repeated(
      'from sklearn.pipeline import Pipeline\np = Pipeline([])',
      'p = Pipeline([p, p])',
      'p.fit(df)\np.predict(df)',
    ),
  ],
  [
    'classes with many bases',
    numbered(
      'class C0: pass',
      (at) => `class C${at + 1}(C${at}, C${at}, C${at}): pass`,
      (size) => `C${size}().nothing()`,
    ),
  ],
  [
    'objects that contain objects',
    repeated(
      'class C:\n    def __init__(self, a, b):\n        self.a = a\n        self.b = b\nc = 1',
      'c = C(c, c)',
      'print(c)\ng(c)',
    ),
  ],
];

/** Work that is the product of two numbers which both grow with the text. */
const PRODUCTS: readonly ValueBomb[] = [
  ['columns set and read', numbered(FRAME, (at) => `df["c${at}"] = df\ng(df)`)],
  ['columns set and dropped', numbered(FRAME, (at) => `df["c${at}"] = 1\ndf = df.drop(columns=["c${at}"])`)],
  [
    'selections of selections',
    numbered(FRAME, (at) => `df = df[df["a"] > ${at}]\nx = df[df["a"] > ${at}].mean()`),
  ],
  [
    'scores of one prediction',
    repeated(SCORED, 'print(accuracy_score(test["y"], model.predict(test[["a"]])))'),
  ],
  [
    'models and scores',
    repeated(SCORED, 'model.fit(train[["a"]], train["y"])\nprint(model.score(test[["a"]], test["y"]))'),
  ],
  [
    'leaks with one split',
    (size) =>
      `${FRAME}\n${lines(size, (at) => `df["c${at}"] = df["c${at}"] / df["c${at}"].mean()`)}\n${SCORED.replace(FRAME, '')}\nprint(accuracy_score(test["y"], p))`,
  ],
  [
    'leaks on one line',
    (size) =>
      `${FRAME}\n${'df = df / df.mean();'.repeat(size)}\n${SCORED.replace(FRAME, '')}\nprint(accuracy_score(test["y"], p))`,
  ],
  [
    'alternatives',
    (size) =>
      `${lines(size, (at) => `x${at} = 1`)}\nif a:\n    pass\n${lines(size, (at) => `elif b${at}:\n    x${at} = [1]`)}`,
  ],
  [
    'loops in loops',
    (size) =>
      `${FRAME}\nt = [1, 2, 3, 4, 5, 6]\n${lines(Math.min(size, 40), (at) => `${' '.repeat(at)}for i${at} in t:`)}\n${' '.repeat(Math.min(size, 40))}df = df[df["a"] > 1]`,
  ],
  [
    'comprehensions of many clauses',
    (size) => `t = [1, 2, 3, 4, 5, 6]\nx = [i ${'for i in t '.repeat(size)}]`,
  ],
  [
    'calls that call twice',
    numbered(
      'def f0(x): return [x, x]',
      (at) => `def f${at + 1}(x): return [f${at}(x), f${at}(x)]`,
      (size) => `print(f${Math.min(size, 20)}(1))`,
    ),
  ],
  ['stars and unknown names', numbered('', (at) => `from m${at} import *\nunknown${at}`)],
  ['a path that grows', repeated('import m', 'm = m.a\nm()')],
  [
    'groups that are counted',
    repeated(
      `${FRAME}\nfrom sklearn.model_selection import train_test_split`,
      'df["patient_id"].value_counts()\na, b = train_test_split(df.drop(columns=["patient_id"]))',
    ),
  ],
  ['dict entries one by one', numbered('d = {}', (at) => `d["k${at}"] = d\ng(d.items())`)],
  ['dict updates', numbered('d = {}\ne = {}', (at) => `e["k${at}"] = 1\nd.update(e)`)],
];

/** Syntax that nests, or is longer than a call can have arguments. */
const DEEP: readonly ValueBomb[] = [
  ['parentheses', nested('(', '1', ')')],
  ['lists', nested('[', '1', ']')],
  ['dicts', nested('{1:', '1', '}')],
  ['calls', nested('f(', '1', ')')],
  ['attributes', nested('a', '', '.b')],
  ['subscripts', nested('a', '', '[0]')],
  ['calls of calls', nested('a', '', '()')],
  ['not', nested('not ', '1', '')],
  ['minus', nested('-', '1', '')],
  ['lambdas', nested('lambda: ', '1', '')],
  ['conditionals', nested('1 if a else ', '1', '')],
  ['sums', (size) => `x = ${Array.from({ length: size }, () => '1').join(' + ')}`],
  ['comparisons', (size) => `x = ${Array.from({ length: size }, () => '1').join(' < ')}`],
  ['or', (size) => `x = ${Array.from({ length: size }, () => 'a').join(' or ')}`],
  ['await', nested('await ', 'a', '')],
  ['assignments', (size) => `${'x = '.repeat(size)}1`],
  [
    'formatted texts',
    (size) => `x = ${'f"{'.repeat(Math.min(size, 400))}1${'}"'.repeat(Math.min(size, 400))}`,
  ],
  [
    'items of a list',
    (size) => `x = [${'1,'.repeat(size * 20)}]\nfor i in range(3): y = x[i:[${'1,'.repeat(size * 20)}]]`,
  ],
  ['arguments', (size) => `t = [1]\nx = zip(${'t,'.repeat(size * 20)})\nf(${'t,'.repeat(size * 20)})`],
  [
    'functions in functions',
    (size) => `${lines(Math.min(size, 300), (at) => `${' '.repeat(at)}def f():`)}\n${' '.repeat(300)}pass`,
  ],
  [
    'if in if',
    (size) => `${lines(Math.min(size, 300), (at) => `${' '.repeat(at)}if a:`)}\n${' '.repeat(300)}pass`,
  ],
  [
    'calls through deep expressions',
    (size) =>
      `${lines(24, (at) => `def f${at}(x): return ${'g('.repeat(Math.min(size, 140))}f${at + 1}(x)${')'.repeat(Math.min(size, 140))}`)}\nf0(1)`,
  ],
  [
    'calls through deep statements',
    (size) => {
      const depth = Math.min(size, 50);
      const body = lines(depth, (at) => `${' '.repeat(at + 1)}if a:`);
      return `${lines(24, (at) => `def f${at}(x):\n${body}\n${' '.repeat(depth + 2)}f${at + 1}(x)`)}\nf0(1)`;
    },
  ],
  ['functions', numbered('', (at) => `def f${at}(): pass`)],
  ['decorators', (size) => `${'@a\n'.repeat(size)}def f(): pass`],
];

export const VALUE_BOMBS: readonly ValueBomb[] = [...DOUBLING, ...SHARED, ...PRODUCTS, ...DEEP];
