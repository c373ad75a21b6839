import { describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { readNotebook } from '../../src/leakage/index.js';
import { checkAndFixLeakage } from '../../src/processors/leakage-check/check-and-fix-leakage.js';

const LEAKY = `import pandas as pd
from sklearn.preprocessing import StandardScaler
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
df = pd.read_csv("train.csv")
X = df.drop(columns=["y"])
y = df["y"]
scaler = StandardScaler()
X = scaler.fit_transform(X)
X_train, X_val, y_train, y_val = train_test_split(X, y, random_state=0)
m = LogisticRegression().fit(X_train, y_train)
print(m.score(X_val, y_val))
`;
const check = (content: string) => checkAndFixLeakage({ content }, createOfflineRunner());

describe('a script that Python reads otherwise than it looks', () => {
  it.each([
    ['utf-7', `# coding: utf-7\n#+AAo-${LEAKY.replaceAll('\n', '+AAo-')}`],
    ['raw_unicode_escape', `# coding: raw_unicode_escape\n#\\u000a${LEAKY.replaceAll('\n', '\\u000a')}`],
    ['unicode-escape', `#!/usr/bin/python\n# vim: set fileencoding=unicode-escape :\n#\\n${LEAKY}`],
    ['UTF_7', `\uFEFF# -*- coding: UTF_7 -*-\r\n${LEAKY}`],
    ['ISO-2022-JP', `\f# coding=ISO-2022-JP\r${LEAKY}`],
    ['cp037', `# coding: cp037\n${LEAKY}`],
  ])('is not checked if it declares %s', async (encoding, content) => {
    await expect(check(content)).rejects.toMatchObject({
      code: 'invalid-payload',
      message: expect.stringContaining(encoding),
    });
  });

  it.each([
    '# coding: utf-8\n',
    '# coding: latin-1\n',
    '# -*- coding: gbk -*-\n',
    '# one-hot encoding: target\n',
    'x = 1\n# coding: utf-7\n',
  ])('is checked if it begins with %j', async (begin) => {
    expect((await check(begin + LEAKY)).status).toBe('corrected');
  });

  it('is not clean if its names have other letters that Python treats as the same', async () => {
    const disguised = LEAKY.replaceAll('fit_transform', 'ﬁt_transform').replaceAll(
      'StandardScaler',
      '𝕊tandardScaler',
    );
    expect((await check(disguised)).status).not.toBe('clean');
  });

  it.each(['memit', 'python', 'python3', 'pypy', 'snakeviz', 'writefile train.py', 'lprun -f f'])(
    'is not left out of a notebook if its cell begins with %%%%%s',
    async (magic) => {
      const cells = [`%%${magic}\n${LEAKY}`, 'print(1)'].map((source) => ({ cell_type: 'code', source }));
      const { source } = readNotebook(JSON.stringify({ cells }));
      expect((await check(source)).status).not.toBe('clean');
    },
  );
});
