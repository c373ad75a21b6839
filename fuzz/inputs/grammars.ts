import fc from 'fast-check';

const name = fc.constantFrom(
  'a',
  'b',
  'c',
  'df',
  'X',
  'y',
  'train',
  'test',
  'cols',
  'pd',
  'np',
  't',
  'model',
  'é',
);
const literal = fc.constantFrom(
  ...[
    '0',
    '1',
    '2',
    '0.5',
    '1e9',
    '-1',
    'None',
    'True',
    '...',
    '""',
    "'a'",
    '"a b"',
    'f"{a!r:>{b}}"',
    "b'x'",
  ],
  ...['"""x\ny"""', '[1]', '()', '{}', '{"a": 1}', '[*t, *t]', '(1,)', 'range(10**9)', '"x" * 10**9'],
);
const method = fc.constantFrom(
  ...['fit', 'transform', 'fit_transform', 'predict', 'mean', 'median', 'fillna', 'drop', 'copy', 'merge'],
  ...[
    'groupby',
    'iloc',
    'loc',
    'apply',
    'query',
    'assign',
    'append',
    'extend',
    'update',
    'split',
    'format',
    'join',
  ],
  ...['sample', 'sort_values', 'reset_index', 'columns', 'values', 'map', 'agg', 'T', 'str', 'isin', 'items'],
);
const callee = fc.constantFrom(
  ...['train_test_split', 'StandardScaler', 'KFold', 'Pipeline', 'SimpleImputer', 'pd.read_csv', 'pd.concat'],
  ...[
    'np.concatenate',
    'np.where',
    'list',
    'tuple',
    'zip',
    'dict',
    'set',
    'sorted',
    'range',
    'len',
    'map',
    'sum',
  ],
  ...['enumerate', 'TfidfVectorizer', 'GridSearchCV', 'SMOTE', 'cross_val_score', 'f', 'g', 'pd.get_dummies'],
);

const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 4, depthSize: 'small', withCrossShrink: false },
    { arbitrary: name, weight: 4 },
    { arbitrary: literal, weight: 3 },
    {
      weight: 2,
      arbitrary: fc
        .tuple(
          tie('expression'),
          fc.constantFrom('+', '-', '*', '/', '**', '@', '|', '&', '==', '<', 'and', 'or', 'in', 'if a else'),
          tie('expression'),
        )
        .map(([left, operator, right]) => `${left} ${operator} ${right}`),
    },
    {
      weight: 3,
      arbitrary: fc
        .tuple(callee, fc.array(tie('expression'), { maxLength: 3 }))
        .map(([f, args]) => `${f}(${args.join(', ')})`),
    },
    {
      weight: 4,
      arbitrary: fc
        .tuple(tie('expression'), method, fc.array(tie('expression'), { maxLength: 2 }))
        .map(([object, m, args]) => `${object}.${m}(${args.join(', ')})`),
    },
    { weight: 3, arbitrary: fc.tuple(name, tie('expression')).map(([a, index]) => `${a}[${index}]`) },
    { weight: 1, arbitrary: fc.tuple(name, method).map(([a, m]) => `${a}.${m}`) },
    {
      weight: 1,
      arbitrary: fc.tuple(tie('expression'), tie('expression')).map(([a, b]) => `[${a} for x in ${b}]`),
    },
    {
      weight: 1,
      arbitrary: fc.array(tie('expression'), { maxLength: 4 }).map((items) => `[${items.join(', ')}]`),
    },
    {
      weight: 1,
      arbitrary: fc
        .array(tie('expression'), { maxLength: 3 })
        .map((items) => `{"k": ${items.join(', "l": ') || 0}}`),
    },
    { weight: 1, arbitrary: tie('expression').map((body) => `lambda q, *r, **s: ${body}`) },
  ),
}));

const indented = (suite: readonly string[]) =>
  suite
    .join('\n')
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n');

const { suite } = fc.letrec<{ statement: string; suite: string[] }>((tie) => ({
  statement: fc.oneof(
    { maxDepth: 3, depthSize: 'small', withCrossShrink: false },
    { weight: 6, arbitrary: fc.tuple(name, expression).map(([a, value]) => `${a} = ${value}`) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(name, fc.constantFrom('+=', '-=', '*=', '|='), expression)
        .map((parts) => parts.join(' ')),
    },
    {
      weight: 2,
      arbitrary: fc.tuple(name, expression, expression).map(([a, key, value]) => `${a}[${key}] = ${value}`),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(expression)
        .map(([value]) => `X_train, X_test, y_train, y_test = train_test_split(${value}, y)`),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(name, name, expression).map(([a, b, value]) => `${a}, *${b} = ${value}`),
    },
    { weight: 2, arbitrary: expression },
    {
      weight: 2,
      arbitrary: fc
        .tuple(name, expression, tie('suite'))
        .map(([a, over, body]) => `for ${a} in ${over}:\n${indented(body)}`),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(expression, tie('suite'))
        .map(([test, body]) => `while ${test}:\n${indented(body)}`),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(expression, tie('suite'), tie('suite'))
        .map(([test, yes, no]) => `if ${test}:\n${indented(yes)}\nelse:\n${indented(no)}`),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom('f', 'g'), tie('suite'), expression)
        .map(([f, body, value]) => `def ${f}(a, b=1, *c, **d):\n${indented(body)}\n    return ${value}`),
    },
    {
      weight: 1,
      arbitrary: tie('suite').map((body) => `try:\n${indented(body)}\nexcept Exception as e:\n    pass`),
    },
    { weight: 1, arbitrary: tie('suite').map((body) => `class C(f):\n${indented(body)}`) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(expression, tie('suite'))
        .map(([value, body]) => `with ${value} as a:\n${indented(body)}`),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        'import pandas as pd',
        'from x import *',
        'pass',
        '# comment',
        '%matplotlib inline',
        '!ls',
        'global a',
        'del a',
        'return',
        '@f',
        'x?',
      ),
    },
  ),
  suite: fc.array(tie('statement'), { minLength: 1, maxLength: 5 }),
}));

/** Python from its grammar, with the names and calls that the leakage analysis knows. */
export const pythonScript: fc.Arbitrary<string> = fc
  .array(suite, { minLength: 1, maxLength: 4 })
  .map((suites) => `${suites.flat().join('\n')}\n`);

const label = fc.constantFrom(
  ...[
    'Baseline',
    'baseline',
    'Full model',
    'No scaling',
    'Without PCA',
    'Ablation 1',
    'only Ridge',
    'w/o tfidf',
  ],
  ...[
    'Variant',
    '[A]',
    'remove_scaler',
    'fold 1',
    'mean',
    'delta',
    'failed',
    '***',
    '--- 1 ---',
    'config {"a": 1}',
  ],
);
const metric = fc.constantFrom(
  'RMSE',
  'accuracy',
  'AUC',
  'val_loss',
  'score',
  'F1',
  'Final Validation Performance',
  '',
);
const number = fc.oneof(
  fc.double({ noNaN: true, min: -1e6, max: 1e6 }).map(String),
  fc.constantFrom(
    '0.8123',
    '0.81 ± 0.02',
    '0.8 (+/- 0.1)',
    'nan',
    '-inf',
    '1,234.5',
    '81.2%',
    '+0.01',
    '−0.5',
    '1e-5',
    'FAILED',
    'None',
    '',
  ),
);
const separator = fc.constantFrom(': ', ' = ', '\t', ' | ', '  ', ' -> ', ', ', ' => ', '...', ' ');
const outputLine = fc.oneof(
  fc.tuple(label, separator, metric, separator, number).map((parts) => parts.join('')),
  fc.tuple(label, number, number).map(([a, b, c]) => `| ${a} | ${b} | ${c} |`),
  fc.tuple(label, number).map(([a, b]) => `{"${a}": ${b || 0}}`),
  fc.tuple(label, metric, number).map(([a, m, b]) => `{'name': '${a}', '${m}': ${b || 0}}`),
  fc
    .tuple(fc.constantFrom('=', '-', '+', '*', '|---'), fc.integer({ min: 1, max: 60 }))
    .map(([c, n]) => c.repeat(n)),
  fc.constantFrom(
    'Traceback (most recent call last):',
    '  File "a.py", line 3',
    'ValueError: x',
    'Killed',
    '',
    '[LightGBM] [Info] x',
  ),
);

/** Outputs of ablation scripts: lines, tables, literals, failures. */
export const ablationOutput: fc.Arbitrary<string> = fc
  .array(outputLine, { maxLength: 25 })
  .chain((lines) => fc.constantFrom('\n', '\r\n').map((ending) => lines.join(ending)));

const anyText = fc.string({ unit: 'binary', maxLength: 30 });
/** JSON values with any keys and texts, lone surrogates included. */
export const jsonText: fc.Arbitrary<string> = fc.json({ maxDepth: 4, stringUnit: 'binary' });

/** The outputs of agents, right and almost right. */
export const agentAnswer: fc.Arbitrary<string> = fc.oneof(
  fc
    .array(
      fc.record({
        leakage_status: fc.constantFrom('Yes Data Leakage', 'No Data Leakage', 'yes'),
        code_block: fc.oneof(anyText, pythonScript),
      }),
      { maxLength: 3 },
    )
    .map((answers) => JSON.stringify({ answers })),
  fc
    .array(fc.record({ code_block: fc.oneof(anyText, pythonScript), plan: anyText }), { maxLength: 3 })
    .map((plans) => JSON.stringify({ plans })),
  fc
    .tuple(
      fc.constantFrom('```', '```python', '~~~', '````', '  ```py', '> ```'),
      pythonScript,
      fc.constantFrom('```', '~~~', '', '````'),
    )
    .map(([open, code, close]) => `Here:\n${open}\n${code}${close}\n`),
  jsonText,
);

/** Notebooks, right and almost right. */
export const notebookText: fc.Arbitrary<string> = fc
  .record(
    {
      cells: fc.array(
        fc.record(
          {
            cell_type: fc.constantFrom('code', 'markdown', 'raw', 'x'),
            source: fc.oneof(
              pythonScript,
              pythonScript.map((script) => script.split(/(?<=\n)/)),
              fc.array(anyText, { maxLength: 4 }),
              fc.constant('%%bash\nls'),
              fc.constant(''),
            ),
            metadata: fc.constant({}),
            outputs: fc.array(fc.dictionary(anyText, anyText, { maxKeys: 2 }), { maxLength: 2 }),
          },
          { requiredKeys: ['cell_type', 'source'] },
        ),
        { maxLength: 6 },
      ),
      metadata: fc.dictionary(anyText, anyText, { maxKeys: 2 }),
      nbformat: fc.constantFrom(3, 4, '4'),
    },
    { requiredKeys: ['cells'] },
  )
  .chain((notebook) =>
    fc.constantFrom(0, 1, 2, '\t').map((indent) => `${JSON.stringify(notebook, null, indent)}\n`),
  );

/** Lines of a file of known solutions. */
export const knownLines: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc
        .record(
          {
            testCaseId: fc.oneof(anyText, fc.constant('task-1')),
            solution: fc.oneof(anyText, pythonScript),
            language: fc.oneof(anyText, fc.constant('python')),
            addedToTraining: fc.oneof(anyText, fc.constant('2024-01-01T00:00:00Z')),
            extra: anyText,
          },
          { requiredKeys: ['testCaseId', 'solution'] },
        )
        .map((row) => JSON.stringify(row)),
      jsonText,
      anyText,
    ),
    { maxLength: 8 },
  )
  .chain((lines) => fc.constantFrom('\n', '\r\n', '\r', '\u2028').map((ending) => lines.join(ending)));
