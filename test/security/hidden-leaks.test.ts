import { describe, expect, it } from 'vitest';
import { analyzeLeakage, readNotebook } from '../../src/leakage/index.js';

const HEAD = `import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import train_test_split
data = pd.read_csv("cover.csv")
X, y = data.drop(columns="type"), data["type"]
X_train, X_val, y_train, y_val = train_test_split(X, y, random_state=0)
model = ExtraTreesClassifier()
`;
const FIT = 'model.fit(X_train, y_train)\n';
const SCORE = 'print("Final Validation Performance:", model.score(X_val, y_val))\n';

/** The leak: the model learns from all rows. */
const LEAK = 'model.fit(X, y)';
/** The same, before the model is trained. */
const SWAP = 'X_train, y_train = X, y';

function nested(depth: number, code: string): string {
  const tests = Array.from({ length: depth }, (_, at) => `${' '.repeat(at)}if X is not None:\n`);
  return `${tests.join('')}${' '.repeat(depth)}${code}`;
}

/** Python runs the leak in each of them; it comes after the training. */
const AFTER: Record<string, string> = {
  'a special method': `class A:\n    def __add__(self, other):\n        ${LEAK}\nA() + 1`,
  'a context manager': `class A:\n    def __enter__(self):\n        ${LEAK}\n    def __exit__(self, *a): pass\nwith A(): pass`,
  'a property': `class A:\n    @property\n    def p(self):\n        ${LEAK}\nA().p`,
  'a metaclass': `class M(type):\n    def __new__(*a):\n        ${LEAK}\n        return type.__new__(*a)\nclass A(metaclass=M): pass`,
  'a decorator': `def d(f):\n    f()\n    return f\n@d\ndef g():\n    ${LEAK}`,
  'a helper that a special method calls': `def train(a, b):\n    model.fit(a, b)\ntrain(X_train, y_train)\nclass A:\n    def __len__(self):\n        train(X, y)\n        return 1\nlen(A())`,
  'a default value': `def f(a=${LEAK}): pass`,
  'an annotation': `z: ${LEAK} = 1`,
  'a format': 'f"{1:{len(str(model.fit(X, y)))}}"',
  'a guard of a match': `match 1:\n    case 1 if ${LEAK}: pass`,
  'a pattern of a match': 'match (X, y):\n    case (a, b):\n        model.fit(a, b)',
  'a handler of an error': `try:\n    1 / 0\nexcept ZeroDivisionError:\n    ${LEAK}`,
  'the argument of an error': `try:\n    raise Exception(${LEAK})\nexcept Exception: pass`,
  'a key of sorting': `sorted([1, 2], key=lambda a: id(${LEAK}))`,
  'a thread': 'import threading\nt = threading.Thread(target=model.fit, args=(X, y))\nt.start(); t.join()',
  'a partial function': 'from functools import partial\npartial(model.fit, X)(y)',
  'a method by its name': 'getattr(model, "f" + "it")(X, y)',
  'a method caller': 'from operator import methodcaller\nmethodcaller("fit", X, y)(model)',
  'another name of exec': 'run = exec\nrun("model.fit(X, y)")',
  'the class of the model': 'type(model).fit(model, X, y)',
  'the variables of the script': 'globals()["model"].fit(X, y)',
  'an attribute of something unknown':
    'from types import SimpleNamespace as N\nn = N(m=model, X=X, y=y)\nn.m.fit(n.X, n.y)',
  'what another model has learned': 'model.estimators_ = ExtraTreesClassifier().fit(X, y).estimators_',
  'a stored model': 'import pickle\nmodel = pickle.loads(pickle.dumps(ExtraTreesClassifier().fit(X, y)))',
  'a slice of all rows': 'model.fit(X[:1_000_000], y[:1_000_000])',
  'sixty blocks': nested(61, LEAK),
  'ninety blocks': nested(90, LEAK),
  'many brackets': `${'('.repeat(160)}${LEAK}${')'.repeat(160)}`,
  'a long sum': `z = [${LEAK}]${' + []'.repeat(160)}`,
  'a long chain': `z = str(${LEAK})${'.strip()'.repeat(160)}`,
};

/** They are before the training. */
const BEFORE: Record<string, string> = {
  'a pattern that binds': 'match (X, y):\n    case (X_train, y_train): pass',
  'names that a comprehension binds': '[((X_train := a), (y_train := b)) for a, b in [(X, y)]]',
  'a variable of the function around':
    'def f():\n    a, b = X_train, y_train\n    def g():\n        nonlocal a, b\n        a, b = X, y\n    g()\n    return a, b\nX_train, y_train = f()',
  'the variables of the script': 'globals().update(X_train=X, y_train=y)',
  'a module of its own name': 'import __main__\n__main__.X_train = X\n__main__.y_train = y',
  'another method of the class':
    '_f = ExtraTreesClassifier.fit\nExtraTreesClassifier.fit = lambda s, a, b: _f(s, X, y)',
  'another method of the model': '_f = model.fit\nmodel.__dict__["fit"] = lambda a, b: _f(X, y)',
  'the same file': 'd = pd.read_csv("cover.csv")\nX_train, y_train = d.drop(columns="type"), d["type"]',
  'a file that it wrote':
    'data.to_csv("t.csv")\nd = pd.read_csv("t.csv")\nX_train, y_train = d.drop(columns="type"), d["type"]',
  'rows that are put in': 'X_train.loc[X_val.index] = X_val',
  ...Object.fromEntries(
    [
      'if "\\x61" == "a":',
      'if "\\141" == "a":',
      'if r"\\n" == "\\\\n":',
      'if b"a" != "a":',
      'if 9007199254740993 != 9007199254740992:',
      'if 1j:',
      'if True == 1:',
      'if ~0 == -1:',
      'if {1: "a", True: "b"}[1] == "b":',
      'if f"{True}" == "True":',
      'if f"{1.0}" == "1.0":',
      'if f"{1:03d}" == "001":',
      'if str(None) == "None":',
      'a = [2]\na.insert(0, 1)\nif a[0] == 1:',
      'a = [1, 2]\na.pop(0)\nif a[0] == 2:',
      'a = [1, 2]\ndel a[0]\nif a[0] == 2:',
      'a = [1, 2]\na[:] = [3]\nif a[0] == 3:',
      'a = [1]\nb = a\nb += [2]\nif len(a) == 2:',
      'a = {"k": 0}\na.update(k=1)\nif a["k"] == 1:',
      'def f(a=[]):\n    a.append(1)\n    return len(a)\nf()\nif f() == 2:',
      'k = 1\ndef g(a=k): return a\nk = 2\nif g() == 1:',
      'class A:\n    k = 1\nA.k = 2\nif A().k == 2:',
      'def d(f): return lambda: 2\n@d\ndef g(): return 1\nif g() == 2:',
      'i = 0\nwhile i < 9: i += 1\nif i == 9:',
      'i = 0\nfor _ in range(9): i = i + 1\nif i == 9:',
      's = "a"\nfor _ in range(9):\n    if s == "b": s = "c"\n    elif s == "a": s = "b"\nif s == "c":',
      'k = 1\ntry:\n    k = 2\n    raise ValueError\nexcept ValueError: pass\nif k == 2:',
      'try:\n    int("x")\nexcept ValueError:',
    ].map((code) => [code, `${code}\n    ${SWAP}`]),
  ),
};

async function isSilent(script: string): Promise<boolean> {
  const { findings, notFollowed } = await analyzeLeakage(script);
  return findings.length === 0 && notFollowed.length === 0;
}

describe('a leak that is hidden from readers of the script', () => {
  it.each(Object.entries(AFTER))('is found, or has a note, after %s', async (_, code) => {
    expect(await isSilent(`${HEAD}${FIT}${code}\n${SCORE}`)).toBe(false);
  });

  it.each(Object.entries(BEFORE))(
    'is found, or has a note, if %j decides what is trained on',
    async (_, code) => {
      expect(await isSilent(`${HEAD}${code}\n${FIT}${SCORE}`)).toBe(false);
    },
  );

  it('has no note if there is nothing to hide', async () => {
    const honest = `${HEAD}DEBUG = False
def train(model, a, b):
    try:
        return model.fit(a, b)
    finally:
        print("trained", type(model).__name__, model.__class__.__name__, getattr(model, "n_jobs", None))
print(f"{len(X_train):,} rows", 3 if DEBUG else 4)
for fold in range(3):
    train(model, X_train, y_train)
`;
    expect(await isSilent(honest + SCORE)).toBe(true);
  });

  it.each([
    ['lines below %%bash', [`${HEAD}${FIT}%%bash\necho`, LEAK, SCORE]],
    ['lines below a comment and %%bash', [HEAD, `# c\n%%bash\n${LEAK}`, SCORE]],
    ['a cell that Python runs as a script', [`%%script python3 -u\n${HEAD}${LEAK}\n${SCORE}`]],
    ['a cell that the shell runs', [`%%sh\npython - <<END\n${HEAD}${LEAK}\n${SCORE}END`]],
    ['a cell of an unknown magic', [HEAD, FIT, `%%mine\n${LEAK}`, SCORE]],
    ['another file', [HEAD, FIT, '%run -i more.py', SCORE]],
    ['a cell that is run again', [HEAD, FIT, '%rerun 1', SCORE]],
    ['IPython', [HEAD, FIT, 'get_ipython().ex("model.fit(X, y)")', SCORE]],
    ['a cell for IPython', [HEAD, FIT, 'get_ipython().run_cell("model.fit(X, y)")', SCORE]],
    ['a function without a body', [HEAD, 'def f():', `    ${LEAK}`, LEAK, SCORE]],
    ['a text without an end', [HEAD, 's = """', LEAK, SCORE, 't = """ """']],
  ])('is found, or has a note, in a notebook after %s', async (_, sources) => {
    const cells = sources.map((source) => ({ cell_type: 'code', source }));
    const { source, leftOut } = readNotebook(JSON.stringify({ cells }));
    expect(leftOut.some(({ mayTrain }) => mayTrain) || !(await isSilent(source))).toBe(true);
  });
});
