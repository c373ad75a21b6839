import { ABLATION_TEXTS, CONTAMINATION_TEXTS, PROMPT_FILES, PYTHON_SCRIPTS } from './corpus.js';
import { ablationOutput, agentAnswer, jsonText, knownLines, notebookText, pythonScript } from './grammars.js';
import type { TextKind } from './source.js';

const NONE = () => [];
const PYTHON_WORDS = [
  ...[
    'def ',
    'class ',
    'for ',
    'if ',
    'else:',
    'try:',
    'lambda x: ',
    'import ',
    'return ',
    'async ',
    'match x:\n',
    'yield ',
  ],
  ...[
    '.fit(',
    '.transform(',
    '.query("',
    '.groupby(',
    '.apply(',
    'train_test_split(',
    'pd.concat([',
    '[*t, *t]',
    't = t + t\n',
  ],
  ...[
    '"""',
    "'''",
    '\\\n',
    '# %%',
    '%%time\n',
    '!pip',
    'f"{',
    'in ',
    'not ',
    '**',
    ':=',
    '->',
    '@',
    ';',
    '# TODO',
    '...',
  ],
];

export const PYTHON: TextKind = { corpus: PYTHON_SCRIPTS, grammar: pythonScript, words: PYTHON_WORDS };

export const ABLATION: TextKind = {
  corpus: ABLATION_TEXTS,
  grammar: ablationOutput,
  words: [
    ...[
      'Baseline',
      'Ablation 1',
      'No ',
      'Without ',
      'only ',
      'failed',
      'failed -',
      'RMSE: ',
      'accuracy = ',
      '±',
      '+/-',
      '(std ',
    ],
    ...[
      'Traceback (most recent call last):\n',
      '| ',
      '---',
      '===',
      '{"a": ',
      "{'a': ",
      '[',
      ' -> ',
      '%',
      'nan',
      'fold 1: ',
      '- ',
    ],
  ],
};

export const ANSWER: TextKind = {
  corpus: PYTHON_SCRIPTS,
  grammar: agentAnswer,
  words: [
    '```python\n',
    '```\n',
    '~~~\n',
    '{"answers":[',
    '"code_block":"',
    '# ... rest of the code',
    '# existing code',
    '...',
  ],
};

export const NOTEBOOK: TextKind = {
  corpus: NONE,
  grammar: notebookText,
  words: [
    '"cells":[',
    '"source":',
    '"cell_type":"code"',
    '\\n',
    '\\ud800',
    '%%time\\n',
    '{}',
    '[]',
    'null',
    '1e5',
  ],
};

export const PROMPT: TextKind = {
  corpus: PROMPT_FILES,
  words: [
    '{{ code }}',
    '{{# code }}',
    '{{/ code }}',
    '{{ boundary }}',
    '---\n',
    'agent: x\n',
    'variables: a, b?, c[]\n',
    '{{',
    '}}',
  ],
};

export const CODE_OR_PROSE: TextKind = {
  corpus: CONTAMINATION_TEXTS,
  grammar: pythonScript,
  words: [
    ...[
      'function ',
      '=> ',
      '/*',
      '*/',
      '//',
      '`${',
      '/re/g',
      'for (',
      '#include <',
      'int main() {',
      'SELECT ',
      'let me think',
      'wait, ',
    ],
    ...[
      '```js\n',
      '```\n',
      '"',
      "'",
      ';',
      '{',
      '}',
      'hmm',
      'the answer is',
      'import ',
      '#',
      '\\u0041',
      '0x1f',
      '1n',
    ],
  ],
};

export const JSON_TEXT: TextKind = {
  corpus: NONE,
  grammar: jsonText,
  words: ['{"a":', '[', ']', '}', '"', '\\"', '\\\\', '\\u0000', '"__proto__":', '1e400', 'null', ',', ':'],
};

export const KNOWN_FILE: TextKind = {
  corpus: NONE,
  grammar: knownLines,
  words: ['{"testCaseId":"a","solution":"b"}\n', '\\ud800', '\u2028', '\r', '"hash":"x"', '\n\n'],
};
