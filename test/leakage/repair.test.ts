import { describe, expect, it } from 'vitest';
import { analyzeLeakage, repairLeak } from '../../src/leakage/index.js';
import { labeledScripts } from './labeled-scripts.js';

async function reasonFor(file: string, id: string): Promise<string> {
  const script = labeledScripts(file).find((candidate) => candidate.id === id)?.script ?? '';
  const [finding] = (await analyzeLeakage(script)).findings;
  const repair = await repairLeak(script, finding?.codeBlock ?? '');
  return repair.ok ? `rewritten as ${repair.replacement}` : repair.reason;
}

describe('a repair is declined with the reason', () => {
  it('where the block is not in the script, or is empty', async () => {
    for (const block of ['y = 2', '']) {
      expect(await repairLeak('x = 1\n', block)).toEqual({
        ok: false,
        reason: 'The block is not in the script.',
      });
    }
  });

  it('where no leak begins in the block', async () => {
    const repair = await repairLeak('x = 1\ny = 2\n', 'y = 2');
    expect(repair).toEqual({ ok: false, reason: 'The analysis finds no leak that begins in this block.' });
  });

  it.each([
    ['first.txt', 'A39', /which rows the choice is to be made on is a decision/],
    ['thirty-fourth.jsonl', 'q_s28', /which past values replace the future ones is a decision/],
    ['tenth.jsonl', 'alpha-leak-014', /which columns are features is a decision/],
    ['second.txt', 'B15', /gives a value for each row/],
    ['third.txt', 'T18', /would still leak/],
  ])('%s %s', async (file, id, reason) => {
    expect(await reasonFor(file, id)).toMatch(reason);
  });
});

describe('a fit on the rows of another table besides', () => {
  const split = 'a, b, c, d = train_test_split(train["text"], train["y"], random_state=0)';
  const scriptWith = (...lines: string[]): string =>
    [
      'import numpy as np, pandas as pd',
      'from sklearn.feature_extraction.text import TfidfVectorizer',
      'from sklearn.linear_model import LogisticRegression',
      'from sklearn.model_selection import train_test_split',
      'train, test = pd.read_csv("train.csv"), pd.read_csv("test.csv")',
      'vec = TfidfVectorizer()',
      ...lines,
      'model = LogisticRegression().fit(vec.transform(a), c)',
      'print("score", model.score(vec.transform(b), d))',
      '',
    ].join('\n');
  const texts = '(list(train["text"]) + list(test["text"]))';

  it.each([
    ['before the split', `vec.fit${texts}`, split],
    ['after the split', split, `vec.fit${texts}`],
    ['of arrays', split, 'vec.fit(np.concatenate([train["text"].values, test["text"].values]))'],
    ['with `append`', 'vec.fit(train["text"].append(test["text"]))', split],
  ])('REQ-SF-019: is not moved to the training part of one of them alone: %s', async (_, ...lines) => {
    const script = scriptWith(...lines);
    const [finding] = (await analyzeLeakage(script)).findings;
    expect(await repairLeak(script, finding?.codeBlock ?? '')).toEqual({
      ok: false,
      reason: 'Not rewritten: it would still learn from `test`, which the split does not divide.',
    });
  });

  it('is another one than the use of the fit for that table', async () => {
    const script = scriptWith('vec.fit(train["text"])', 'X_test = vec.transform(test["text"])', split);
    const [finding] = (await analyzeLeakage(script)).findings;
    const repair = await repairLeak(script, finding?.codeBlock ?? '');
    expect(repair).toMatchObject({ ok: true, replacement: expect.stringContaining('vec.fit(a)') });
  });

  it('is another one than a choice of features by labels that were read from a file of their own', async () => {
    const script = `import pandas as pd
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
genes, y = pd.read_parquet("genes.parquet"), pd.read_csv("clinic.csv")["response"]
selector = SelectKBest(k=60)
X = selector.fit_transform(genes.to_numpy(), y)
print("score", cross_val_score(LogisticRegression(), X, y, cv=5).mean())
`;
    const [finding] = (await analyzeLeakage(script)).findings;
    const repair = await repairLeak(script, finding?.codeBlock ?? '');
    expect(repair).toMatchObject({
      ok: true,
      replacement: expect.stringContaining('make_pipeline(selector'),
    });
  });
});

it('what a vocabulary is learned from when it is made is named', async () => {
  const script = `import pandas as pd
from gensim.models import Word2Vec
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
df = pd.read_csv("texts.csv")
vectors = Word2Vec(sentences=df["words"], vector_size=50).wv
X = vectors[df["words"]]
a, b, c, d = train_test_split(X, df["y"], random_state=0)
print("score", LogisticRegression().fit(a, c).score(b, d))
`;
  const [finding] = (await analyzeLeakage(script)).findings;
  expect(finding?.explanation).toContain('`Word2Vec` is fitted on `df["words"]`');
});

/** A script that computes something over a whole table after it was divided. */
function afterTheSplit(...between: string[]): string {
  return [
    'import pandas as pd',
    'from sklearn.linear_model import Ridge',
    'from sklearn.model_selection import train_test_split',
    'df = pd.read_csv("rides.csv")',
    'part, rest = train_test_split(df, random_state=1)',
    ...between,
    'part["km"] = part["km"].fillna(usual)',
    'rest["km"] = rest["km"].fillna(usual)',
    'model = Ridge().fit(part[["km"]], part["fare"])',
    'print("Final Validation Performance:", model.score(rest[["km"]], rest["fare"]))',
    '',
  ].join('\n');
}

describe('a statistic of the whole table after the split', () => {
  async function repairOf(script: string): Promise<string> {
    const [finding] = (await analyzeLeakage(script)).findings;
    const repair = await repairLeak(script, finding?.codeBlock ?? '');
    return repair.ok ? repair.replacement : repair.reason;
  }

  it('REQ-SF-019: is taken from the training part', async () => {
    expect(await repairOf(afterTheSplit('usual = df["km"].median()  # typical'))).toBe(
      'usual = part["km"].median()  # typical',
    );
    const copied = afterTheSplit('part, rest = part.copy(), rest.copy()', 'usual = df["km"].median()');
    expect(await repairOf(copied)).toBe('usual = part["km"].median()');
  });

  it.each([
    ['the training part', 'part["km"] = part["km"] * 2'],
    ['the whole table', 'df["km"] = df["km"].abs()'],
    ['the whole table, in place', 'df.dropna(inplace=True)'],
  ])('stays where %s was changed on the way', async (_, line) => {
    expect(await repairOf(afterTheSplit(line, 'usual = df["km"].median()'))).toMatch(
      /^Not rewritten: `(part|df)` is changed between the split and this line/,
    );
  });
});

describe('a training with a weight for each row', () => {
  const script = (...lines: string[]): string =>
    [
      'import pandas as pd',
      'from lightgbm import LGBMRegressor, early_stopping',
      'from sklearn.model_selection import train_test_split',
      'df = pd.read_csv("rents.csv")',
      'X, y, w = df.drop(columns=["rent", "w"]), df["rent"], df["w"]',
      ...lines,
      'print("Final Validation Performance:", model.score(X_va, y_va))',
      '',
    ].join('\n');
  const all = 'X_tr, X_va, y_tr, y_va, w_tr, w_va = train_test_split(X, y, w)';
  const two = 'X_tr, X_va, y_tr, y_va = train_test_split(X, y)';

  it('REQ-SF-019: takes the weights of the training part', async () => {
    const fit = 'model = LGBMRegressor().fit(X, y, sample_weight=w)';
    expect(await repairLeak(script(all, fit), fit)).toMatchObject({
      ok: true,
      replacement: 'model = LGBMRegressor().fit(X_tr, y_tr, sample_weight=w_tr)',
    });
  });

  it.each([
    ['are not divided', two, 'model = LGBMRegressor().fit(X, y, sample_weight=w)'],
    ['are not divided, by position', two, 'model = LGBMRegressor().fit(X, y, w)'],
    [
      'would have to be divided once more',
      all,
      'model = LGBMRegressor(n_estimators=900).fit(X_tr, y_tr, sample_weight=w_tr, eval_set=[(X_va, y_va)], callbacks=[early_stopping(9)])',
    ],
  ])('is left where the weights %s', async (_, split, fit) => {
    expect((await repairLeak(script(split, fit), fit)).ok).toBe(false);
  });
});

describe('early stopping on a prepared data set', () => {
  const head = [
    'import lightgbm as lgb',
    'import pandas as pd',
    'from sklearn.metrics import r2_score',
    'from sklearn.model_selection import train_test_split',
    'df = pd.read_csv("rents.csv")',
    'X_tr, X_va, y_tr, y_va = train_test_split(df.drop(columns="rent"), df["rent"], random_state=0)',
  ];
  const training =
    'booster = lgb.train(params, dtrain, 900, valid_sets=[dtrain, dvalid], callbacks=[lgb.early_stopping(9)])';
  const tail = ['print("Final Validation Performance:", r2_score(y_va, booster.predict(X_va)))', ''];
  const script = (...lines: string[]): string =>
    [...head, 'params = {}', ...lines, training, ...tail].join('\n');
  const valid = 'dvalid = lgb.Dataset(X_va, label=y_va, reference=dtrain)';

  it('REQ-SF-019: stops on a tenth of the training rows, made in the same way', async () => {
    const source = script('dtrain = lgb.Dataset(X_tr, label=y_tr, free_raw_data=False)', valid);
    expect(await repairLeak(source, training)).toMatchObject({
      ok: true,
      replacement: [
        'fit_x, stop_x, fit_y, stop_y = train_test_split(X_tr, y_tr, test_size=0.1, random_state=0)',
        'fit_set = lgb.Dataset(fit_x, label=fit_y, free_raw_data=False)',
        'stop_set = lgb.Dataset(stop_x, label=stop_y, free_raw_data=False, reference=fit_set)',
        training.replaceAll('dtrain', 'fit_set').replaceAll('dvalid', 'stop_set'),
      ].join('\n'),
    });
  });

  it.each([
    ['holds more values for each row', ['dtrain = lgb.Dataset(X_tr, label=y_tr, weight=w)', valid]],
    ['is changed before the training', ['dtrain = lgb.Dataset(X_tr, label=y_tr)', 'X_tr = None', valid]],
    ['is not made right before the training', ['dtrain = make(X_tr, y_tr)', valid]],
  ])('is left where the training data set %s', async (reason, lines) => {
    const repair = await repairLeak(script('w = None', ...lines), training);
    expect(repair.ok ? repair.replacement : repair.reason).toContain(reason);
  });
});

describe('a training whose record of the watched rows is read', () => {
  const script = (fit: string, ...lines: string[]): string =>
    [
      'import lightgbm as lgb',
      'import matplotlib.pyplot as plt',
      'import pandas as pd',
      'from lightgbm import LGBMRegressor, early_stopping',
      'from sklearn.model_selection import GridSearchCV, train_test_split',
      'from tensorflow import keras',
      'from tensorflow.keras.callbacks import EarlyStopping',
      'df = pd.read_csv("rents.csv")',
      'X_tr, X_va, y_tr, y_va = train_test_split(df.drop(columns="rent"), df["rent"], random_state=0)',
      'model = keras.Sequential([keras.layers.Dense(1)])',
      'model.compile(loss="mse", metrics=["mae"])',
      'scores = []',
      fit,
      ...lines,
      'print("Final Validation Performance:", model.evaluate(X_va, y_va))',
      '',
    ].join('\n');
  const network =
    'history = model.fit(X_tr, y_tr, validation_data=(X_va, y_va), epochs=90, callbacks=[EarlyStopping(patience=5)])';
  const trees =
    'trees = LGBMRegressor(n_estimators=900).fit(X_tr, y_tr, eval_set=[(X_va, y_va)], callbacks=[early_stopping(9)])';
  const score = 'print(trees.score(X_va, y_va))';

  it.each([
    ['printed', trees, ['print(trees.best_score_["valid_0"]["l2"])', score]],
    ['collected', trees, ['scores.append(trees.evals_result_["valid_0"]["l2"][-1])', score]],
    [
      'printed under another name',
      trees,
      ['best = trees.best_score_', 'low = best["valid_0"]["l2"]', 'print(f"{low:.3f}")', score],
    ],
    [
      'put in a variable of its own',
      trees.replace('[early', '[lgb.record_evaluation(seen), early'),
      ['print(min(seen["valid_0"]["l2"]))', score],
    ],
    ['printed of a history', network, ['print(min(history.history["val_mae"]))']],
    [
      'printed of a table of a history',
      network,
      ['h = pd.DataFrame(history.history)', 'print(h["val_mae"].min())'],
    ],
  ])('REQ-SF-019: is left where the record is %s', async (_, fit, lines) => {
    const repair = await repairLeak(script(fit, ...lines), fit);
    expect(repair.ok ? repair.replacement : repair.reason).toMatch(
      /is the score on the rows that the training watches/,
    );
  });

  it.each([
    ['drawn', network, ['plt.plot(history.history["val_mae"])']],
    ['drawn from a variable', network, ['curve = history.history["val_mae"]', 'plt.plot(curve)']],
    ['of the training rows', network, ['print(history.history["loss"][-1])']],
    ['searched for the best epoch', network, ['print(len(history.history["val_mae"]))']],
    [
      'that of a search',
      trees,
      [
        score,
        'search = GridSearchCV(LGBMRegressor(), {"num_leaves": [7, 9]}).fit(X_tr, y_tr)',
        'print(search.best_score_)',
      ],
    ],
  ])('is corrected where the record is %s', async (_, fit, lines) => {
    expect((await repairLeak(script(fit, ...lines), fit)).ok).toBe(true);
  });
});

describe('a repair', () => {
  it('REQ-SF-019: moves the fit with its comment and leaves all other lines as they are', async () => {
    const script = [
      'from sklearn.model_selection import train_test_split',
      'from sklearn.preprocessing import StandardScaler',
      'from sklearn.linear_model import Ridge',
      'from data import X, y',
      '',
      'ready = 1   # kept',
      'scaler = StandardScaler()',
      'Z = scaler.fit_transform(X)  # scale',
      "note = 'between'",
      '# Divide.',
      'a, b, ya, yb = train_test_split(',
      '    Z, y,  # both',
      '    random_state=0,',
      ')',
      'print(Ridge().fit(a, ya).score(b, yb))',
      '',
    ];
    const source = script
      .join('\n')
      .replace(
        'from data import X, y',
        'import pandas as pd\nX, y = pd.read_csv("x"), pd.read_csv("x")["t"]',
      );
    const [finding] = (await analyzeLeakage(source)).findings;
    const repair = await repairLeak(source, finding?.codeBlock ?? '');
    expect(repair).toMatchObject({
      ok: true,
      replacement: [
        "note = 'between'",
        '# Divide.',
        'a, b, ya, yb = train_test_split(',
        '    X, y,  # both',
        '    random_state=0,',
        ')',
        'a = scaler.fit_transform(a)  # scale',
        'b = scaler.transform(b)',
      ].join('\n'),
    });
  });
});

describe('a rewrite leaves the script as good as it was', () => {
  async function repairOf(lines: readonly string[]): Promise<string> {
    const script = [...lines, ''].join('\n');
    const [finding] = (await analyzeLeakage(script)).findings;
    const repair = await repairLeak(script, finding?.codeBlock ?? '');
    return repair.ok ? repair.replacement : repair.reason;
  }
  const head = [
    'import numpy as np',
    'import pandas as pd',
    'from sklearn.linear_model import Ridge',
    'from sklearn.model_selection import KFold, train_test_split',
    'from sklearn.preprocessing import OneHotEncoder',
    'train, test = pd.read_csv("train.csv"), pd.read_csv("test.csv")',
    'y = train.pop("fare")',
  ];

  it('REQ-SF-019: a loop over tables goes over both parts in the fold, and the test table starts afresh in each', async () => {
    const moved = (...names: string[]): string[] => [
      `for part in (${names.join(', ')}):`,
      '    if part["km"].dtype == "float":',
      '        part["far"] = part["km"] > 10',
    ];
    const text = await repairOf([
      ...head,
      'middle = train["km"].median()',
      'train["km"] = train["km"].fillna(middle)',
      'test["km"] = test["km"].fillna(middle)',
      ...moved('train', 'test'),
      'scores = []',
      'for tr, va in KFold(5).split(train):',
      '    X_tr, X_va = train.iloc[tr], train.iloc[va]',
      '    model = Ridge().fit(X_tr, y.iloc[tr])',
      '    scores.append(model.score(X_va, y.iloc[va]))',
      '    print(model.predict(test).mean())',
      'print("Final Validation Performance:", np.mean(scores))',
    ]);
    expect(text.split('\n').slice(0, 10)).toEqual([
      'scores = []',
      'test_before = test',
      'for tr, va in KFold(5).split(train):',
      '    X_tr, X_va = train.iloc[tr], train.iloc[va]',
      '    test = test_before.copy()',
      '    middle = X_tr["km"].median()',
      '    X_tr["km"] = X_tr["km"].fillna(middle)',
      '    X_va["km"] = X_va["km"].fillna(middle)',
      '    test["km"] = test["km"].fillna(middle)',
      '    for part in (X_tr, X_va, test):',
    ]);
    expect(text.split('\n').slice(10, 12)).toEqual(
      moved('')
        .slice(1)
        .map((line) => `    ${line}`),
    );
  });

  describe('that holds figures', () => {
    const split = 'X_tr, X_va, y_tr, y_va = train_test_split(X, y, random_state=0)';
    const repairAround = (...lines: string[]): Promise<string> => repairBefore(split, ...lines);
    const repairBefore = (division: string, ...lines: string[]): Promise<string> =>
      repairOf([
        'import matplotlib.pyplot as plt',
        'import seaborn as sns',
        'from sklearn.manifold import TSNE',
        'from sklearn.preprocessing import StandardScaler',
        ...head,
        'X = train[["km", "kg"]]',
        'scaler = StandardScaler()',
        'X = scaler.fit_transform(X)',
        ...lines,
        division,
        'print(Ridge().fit(X_tr, y_tr).score(X_va, y_va))',
      ]);
    const fitted = [split, 'X_tr = scaler.fit_transform(X_tr)', 'X_va = scaler.transform(X_va)'];

    it('moves all that draws on a figure from its beginning on, and draws the training part', async () => {
      const drawn = ['plt.figure()', 'plt.hist(X)', 'plt.title("scaled")', 'plt.show()'];
      expect(await repairAround('y = y * 2', ...drawn)).toBe(
        ['y = y * 2', ...fitted, ...drawn].join('\n').replace('hist(X)', 'hist(X_tr)'),
      );
      const first = ['plt.hist(y)', 'plt.show()'];
      const second = ['fig, ax = plt.subplots()', 'ax.bar([0, 1], scaler.mean_)', 'plt.show()'];
      expect(await repairAround(...first, ...second)).toBe([...first, ...fitted, ...second].join('\n'));
    });

    it('leaves the lines that divide the script into cells where they are, but for a cell without other lines', async () => {
      const [one, other] = ['# %% means', '# %% split'];
      const around = ['plt.bar([0, 1], scaler.mean_)', 'plt.show()', other] as const;
      expect(await repairAround(one, 'y = y * 2', ...around)).toBe(
        [one, 'y = y * 2', other, ...fitted, 'plt.bar([0, 1], scaler.mean_)', 'plt.show()'].join('\n'),
      );
      expect(await repairAround(one, ...around)).toBe(
        [other, ...fitted, 'plt.bar([0, 1], scaler.mean_)', 'plt.show()'].join('\n'),
      );
    });

    it.each([
      [
        'two cells draw without showing',
        ['# %%', 'plt.plot(scaler.mean_)', '# %%', 'plt.plot(scaler.var_)', '# %%'],
        /figure would come in another order/,
      ],
      [
        'a figure that moves shows what changes',
        ['plt.plot(train["age"])', 'train["age"] = train["age"] * 2', 'plt.axhline(scaler.mean_[0])'],
        /a figure shows `train`, which is changed/,
      ],
      [
        'rows that the split does not divide are drawn',
        ['plt.scatter(X[:, 0], train["age"])', 'plt.show()'],
        /`train` is drawn beside a part/,
      ],
      [
        'points have a value each from another table',
        [
          'kinds = pd.read_csv("kinds.csv")["kind"]',
          'sns.scatterplot(x=X[:, 0], y=X[:, 1], hue=kinds.values)',
        ],
        /`kinds.values` has all rows/,
      ],
      [
        'an embedding cannot be applied to other rows',
        ['Z = TSNE(2).fit_transform(X)', 'sns.scatterplot(x=Z[:, 0], y=Z[:, 1])'],
        /`TSNE\(2\)` cannot be applied/,
      ],
    ])('stays where it is if %s', async (_, lines, reason) => {
      expect(await repairAround(...lines)).toContain(['.transform(X)', ...lines, split].join('\n'));
      const unseeded = split.replace(', random_state=0', '');
      expect(await repairBefore(unseeded, ...lines)).toMatch(reason);
    });
  });

  describe('below a comment that stays above it', () => {
    const split = 'X_tr, X_va, y_tr, y_va = train_test_split(X, y)';
    const score = 'print(Ridge().fit(X_tr, y_tr).score(X_va, y_va))';
    const scaled = (...lines: string[]): Promise<string> =>
      repairOf([
        'from sklearn.preprocessing import StandardScaler',
        ...head,
        'X = train[["km"]]',
        ...lines,
        score,
      ]);

    it('says that the lines of the comment were moved', async () => {
      const fit = ['usual = X["km"].mean()', 'X["km"] = X["km"].fillna(usual)'];
      const moved = '# Moved below: this learns from the training part only.';
      expect(await scaled('# fill the gaps', ...fit, 'size = len(X)', split)).toMatch(
        `${moved}\n\nsize = len(X)\n`,
      );
      expect(await scaled('', ...fit, 'size = len(X)', split)).toMatch(/^size = len\(X\)\n/);
    });

    it('says that no longer all rows are learned from', async () => {
      const lines = (comment: string): string[] => [
        split,
        '',
        comment,
        'scaler = StandardScaler()',
        'scaler.fit(np.vstack([X_tr, X_va]))',
        'X_tr, X_va = scaler.transform(X_tr), scaler.transform(X_va)',
      ];
      const corrected = '# Corrected: this learns from the training part only.';
      expect(await scaled(...lines('# fit on everything'))).toMatch(`${corrected}\nscaler.fit(X_tr)`);
      expect(await scaled(...lines('# scale'))).toMatch(/^scaler.fit\(X_tr\)/);
    });
  });

  it('scored rows stay in a concatenation whose positions another line knows', async () => {
    const lines = (...positions: string[]): string[] => [
      'from sklearn.model_selection import GridSearchCV, PredefinedSplit',
      ...head,
      split,
      'all_rows, all_labels = np.vstack([X_tr, X_va]), np.concatenate([y_tr, y_va])',
      ...positions,
      `search = GridSearchCV(Ridge(), {"alpha": [1, 2]}, cv=${positions.length === 0 ? '3' : 'PredefinedSplit(fold)'})`,
      'search.fit(all_rows, all_labels)',
      'print("Final Validation Performance:", search.score(X_va, y_va))',
    ];
    expect(await repairOf(lines())).toMatch(/^all_rows, all_labels = X_tr, y_tr\n/);
    const fold = 'fold = np.r_[np.full(len(X_tr), -1), np.zeros(len(X_va))]';
    expect(await repairOf(lines(fold))).toMatch(/^Not rewritten/);
  });

  it('rows of a group that the training part lacks get the mean of the groups, unless the model takes gaps', async () => {
    const lines = (model: string): string[] => [
      ...head,
      `from lightgbm import LGBMRegressor`,
      'train["fare"] = y',
      'means = train.groupby("zone")["fare"].mean()',
      'train["usual"] = train["zone"].map(means)',
      'part, rest = train_test_split(train)',
      `model = ${model}().fit(part[["usual"]], part["fare"])`,
      'print("Final Validation Performance:", model.score(rest[["usual"]], rest["fare"]))',
    ];
    expect(await repairOf(lines('Ridge'))).toContain(
      'part["usual"] = part["zone"].map(means)\nrest["usual"] = rest["zone"].map(means).fillna(means.mean())',
    );
    const boosted = lines('LGBMRegressor').filter((line) => !line.includes('Ridge'));
    expect(await repairOf(boosted)).toMatch(/rest\["zone"\]\.map\(means\)$/);
  });

  it('a statistic of a column that the split does not divide stays before it', async () => {
    const lines = [
      'train["fare"] = y',
      'order = train.groupby("zone")["fare"].mean().sort_values().index',
      'train["zone"] = train["zone"].map({zone: at for at, zone in enumerate(order)})',
      'X_tr, X_va, y_tr, y_va = train_test_split(train[["zone", "km"]], y)',
    ];
    const score = 'print("Final Validation Performance:", Ridge().fit(X_tr, y_tr).score(X_va, y_va))';
    expect(await repairOf([...head, ...lines, score])).toMatch(
      /^Not rewritten: column `fare` would not be there/,
    );
  });

  const split = 'X_tr, X_va, y_tr, y_va = train_test_split(X, y, random_state=0)';
  const score = [
    'model = Ridge().fit(X_tr, y_tr)',
    'print("Final Validation Performance:", model.score(X_va, y_va))',
  ];

  it('a loop over rows stays where it is', async () => {
    const lines = [
      'X = train.to_numpy()',
      'usual = X.mean(axis=0)',
      'for i in range(len(X)):',
      '    X[i] = X[i] - usual',
    ];
    expect(await repairOf([...head, ...lines, split.replace(', random_state=0', ''), ...score])).toMatch(
      /the fit is in a loop over rows/,
    );
  });

  it('what is made of the rows on the way is made of each part', async () => {
    const lines = ['X = train[["km", "kg"]]', 'shifted = X - X.mean()', 'X["km"] = shifted["km"] / 2'];
    expect(await repairOf([...head, ...lines, split, ...score])).toBe(
      [
        split,
        'train_mean = X_tr.mean()',
        'shifted_train = X_tr - train_mean',
        'shifted_test = X_va - train_mean',
        'X_tr["km"] = shifted_train["km"] / 2',
        'X_va["km"] = shifted_test["km"] / 2',
      ].join('\n'),
    );
  });

  it.each([
    [
      'in the block',
      ['X = OneHotEncoder(max_categories=9).fit_transform(train[["zone"]])'],
      'encoder = OneHotEncoder(max_categories=9, handle_unknown="ignore")',
    ],
    [
      'above it',
      ['encoder = OneHotEncoder(min_frequency=9)', 'X = encoder.fit_transform(train[["zone"]])'],
      'encoder.set_params(handle_unknown="ignore")',
    ],
  ])(
    'an encoder made %s goes on at categories that only the scored rows have',
    async (_, lines, expected) => {
      expect(await repairOf([...head, ...lines, split, ...score])).toContain(expected);
    },
  );
});
